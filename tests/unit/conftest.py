"""What the unit tests share."""

import pytest

from patience import at_most
from scripted import ScriptedEndpoint


@pytest.fixture(scope="module")
def endpoint():
    with ScriptedEndpoint() as server:
        yield server


@pytest.fixture
def no_waiting(monkeypatch):
    """Requests that have failed are tried again almost at once."""
    from devqa.llm import online

    monkeypatch.setattr(online, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(online, "WAIT_LONGEST_S", 0.02)
    monkeypatch.setattr(online, "WAIT_JITTER_S", 0.001)


@pytest.fixture
def no_deadlock():
    """A test that hangs fails after a minute."""
    with at_most(60):
        yield
