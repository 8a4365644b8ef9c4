"""What is kept when sending is told to stop, and when there is no room for answers."""

import signal
import threading

import pytest

from asking import ask, outcomes
from devqa import stopping
from devqa.errors import UserError
from devqa.llm.batches import desk, state
from devqa.llm.cache import Writer
from scripted import Reply, ScriptedEndpoint
from scripted_batch import ScriptedBatches

pytestmark = pytest.mark.usefixtures("no_deadlock")


@pytest.fixture
def tell(monkeypatch):
    """Tells what is sending to stop, as a signal would; it may come from another thread."""
    monkeypatch.setattr(stopping._state, "first", None)

    def told(hurry=False):
        stopping._state.first = signal.SIGTERM
        stopping._state.callbacks[-1](hurry)

    return told


@pytest.mark.parametrize(("late_s", "kept"), [(0.3, 4), (None, 0)])
def test_nothing_more_is_sent_and_what_comes_soon_is_kept(tmp_path, monkeypatch, tell, late_s, kept):
    monkeypatch.setattr(stopping, "GRACE_S", 0.1 if late_s is None else 60.0)

    def reply(body):
        if server.count <= 8:
            return "ok"
        if server.count == 12:
            tell()
        return Reply(fault="hang") if late_s is None else Reply(delay_s=late_s)

    with ScriptedEndpoint(reply) as server:
        with server.chat(tmp_path, limits={"concurrency": 4}) as chat, pytest.raises(stopping.Stopped):
            chat.ask([ask(n) for n in range(30)])
        assert server.count == 12
        stopping._state.first = None
        server.clear()
        server.reply = lambda body: "ok"
        with server.chat(tmp_path) as chat:
            assert outcomes(chat.ask([ask(n) for n in range(30)])) == {"ok": 30}
        assert server.count == 30 - 8 - kept


def test_a_second_ctrl_c_waits_for_no_answer(tmp_path, monkeypatch, tell):
    monkeypatch.setattr(stopping, "GRACE_S", 3600.0)

    def reply(body):
        tell()
        threading.Timer(0.2, tell, [True]).start()
        return Reply(fault="hang")

    with (
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, limits={"concurrency": 1}) as chat,
        pytest.raises(stopping.Stopped),
    ):
        chat.ask([ask("never answered")])


def test_batches_are_left_and_taken_up_by_the_next_run(tmp_path, monkeypatch, tell):
    monkeypatch.setattr(state, "_SETTLING_S", 0.3)

    def hook(deed):
        if deed == "retrieve" and stopping._state.first is None:
            tell()

    batch = {"mode": "batch", "batch": {"poll_s": 0.1, "requests": 5}}
    with ScriptedBatches(lambda body: "ok") as server:
        server.before = hook
        with server.chat(tmp_path, **batch) as chat, pytest.raises(stopping.Stopped):
            chat.ask([ask(n) for n in range(12)])
        server.before = lambda deed: None
        stopping._state.first = None
        # The next run is another process; this one, which has sent them, is still there.
        monkeypatch.setattr(desk, "abandoned", lambda ticket: True)
        with server.chat(tmp_path, **batch) as chat:
            assert outcomes(chat.ask([ask(n) for n in range(12)])) == {"ok": 12}
        assert len(server.executed) == 12
        assert set(server.executed.values()) == {1}


@pytest.mark.parametrize("room_comes", [True, False])
def test_answers_for_which_there_is_no_room_are_tried_once_more_and_then_counted(tmp_path, monkeypatch, room_comes):
    write, refused = Writer.write, []

    def writing(self, key, record):
        if server.count > 8 and (len(refused) < 4 or not room_comes):
            refused.append(key)
            raise UserError("the disk is full")
        write(self, key, record)

    monkeypatch.setattr(Writer, "write", writing)
    with ScriptedEndpoint(lambda body: Reply(delay_s=0.1 * (server.count > 8))) as server:
        with server.chat(tmp_path, limits={"concurrency": 4}) as chat, pytest.raises(UserError) as caught:
            chat.ask([ask(n) for n in range(30)])
        lost = len(set(refused))
        sent = server.count
        said = f"the disk is full. {lost} answers that came then are lost: they will be asked for again"
        assert str(caught.value) == ("the disk is full" if room_comes else said)
        monkeypatch.setattr(Writer, "write", write)
        server.clear()
        with server.chat(tmp_path) as chat:
            assert outcomes(chat.ask([ask(n) for n in range(30)])) == {"ok": 30}
        assert server.count == 30 - sent + (0 if room_comes else lost)
