"""Agents that are commands: each run is paid for once, whatever becomes of results/, unless somebody forces it."""

import shutil
import sys

import pytest

from devqa import tables
from merging import PULLS, repository, section
from replies import reply
from workflow.conftest import Project, configuration, copy_of_the_project

PREDICTIONS = "results/pull_requests/predictions/command/slow/1.parquet"
# The first time that it is run at all it takes too long.
AGENT = """
import pathlib, sys, time
log = pathlib.Path(sys.argv[1])
began = log.read_text() if log.exists() else ""
log.write_text(began + "ran\\n")
if not began:
    time.sleep(600)
print("Meals are", sys.argv[2])
"""


@pytest.fixture
def project(endpoint, tmp_path):
    """A project with five questions and an agent, in which nothing has run yet."""
    folder = copy_of_the_project(tmp_path / "project")
    repository(folder / "zoo")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    command = f"{sys.executable} {tmp_path / 'agent.py'} {tmp_path / 'log'} {{question}}"
    asked = section("zoo")
    asked["evaluation"] |= {"models": [], "settings": [], "commands": {"slow": {"command": command, "timeout_s": 6}}}
    endpoint.clear()
    endpoint.reply = reply
    return Project(folder, endpoint, configuration(endpoint, pull_requests=asked))


def predicted(project, *arguments):
    """Make the predictions; their statuses, and how often the agent was run until now."""
    run = project.run(*arguments, "--", PREDICTIONS)
    assert run.code == 0, run.output
    rows = tables.read(project.folder / PREDICTIONS, "predictions")
    ran = (project.folder.parent / "log").read_text().count("ran")
    return sorted(row["status"] for row in rows), ran, run


def test_a_final_failure_is_run_again_by_force_alone(project):
    failed, well = ["failed", *["ok"] * (PULLS - 1)], ["ok"] * PULLS
    assert predicted(project)[:2] == (failed, PULLS)
    before = (project.folder / PREDICTIONS).read_bytes()
    _, _, run = predicted(project)
    assert not run.rules
    shutil.rmtree(project.folder / "results")
    # Of a start by force that somebody has thought better of.
    mark = project.folder / ".snakemake/devqa/forced/pr_command/slow/mark"
    mark.parent.mkdir(parents=True)
    mark.touch()
    _, ran, run = predicted(project)
    assert (run.rules["pr_command"], ran) == (1, PULLS)
    assert (project.folder / PREDICTIONS).read_bytes() == before
    # The one that failed, and no other.
    assert predicted(project, "--forcerun", "pr_command")[:2] == (well, PULLS + 1)
    assert not mark.exists()
