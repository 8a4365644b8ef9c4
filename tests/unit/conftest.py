"""What the unit tests share."""

import pytest

from conversing import Desk
from patience import at_most
from scripted import ScriptedEndpoint


@pytest.fixture(scope="module")
def endpoint():
    with ScriptedEndpoint() as server:
        yield server


@pytest.fixture
def desk(tmp_path, endpoint):
    """Asks a scripted model that may search a made-up web."""
    endpoint.clear()
    yield Desk(tmp_path, endpoint)
    endpoint.reply = lambda body: "ok"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Puts questions about a repository to an agent, with a cache that outlives each run; it leaves no copy behind."""
    from commanded import Bench

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    yield Bench(tmp_path)
    assert not list((tmp_path / "temporary").iterdir())


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
