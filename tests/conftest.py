"""Settings of all tests."""

import signal

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("devqa", deadline=None)
settings.load_profile("devqa")

# Processes in the background ignore Ctrl-C and hand that down, but tests send it to their children.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker of `--dist worksteal`: first the tests that share a finished run, then other Snakemake runs, then the
    many small ones.

    A worker begins at the front of its share, and others steal from the end: so what is shared is mostly made once, and
    nothing long is left when the others have ended.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (is_small(item), "finished" not in item.fixturenames))


def is_small(item: pytest.Item) -> bool:
    """Is it a test of the library alone?"""
    return "/unit/" in item.nodeid
