"""One SLURM for all tests here; they are skipped where none can be brought up, unless DEVQA_CLUSTER=required."""

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.slurm import Cluster, missing
from workflow.conftest import endpoint, fresh  # noqa: F401

PLUGIN = "snakemake_executor_plugin_slurm"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these are slow and need the one cluster that a machine can have."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.xdist_group("cluster"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    reason = missing() or ("" if importlib.util.find_spec(PLUGIN) else f"{PLUGIN} is not installed: make slurm")
    if reason and os.environ.get("DEVQA_CLUSTER") == "required":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    # Not pytest's folder: the paths of sockets are short.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    with Cluster(folder) as there:
        yield there
    shutil.rmtree(folder)
