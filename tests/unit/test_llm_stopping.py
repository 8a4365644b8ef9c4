"""How sending ends before its time: endpoints that are down, and those that only seem to be; what a stop keeps."""

import threading

import pytest

from asking import ask, outcomes, text_of
from devqa.errors import UserError
from devqa.llm import health, online
from scripted import Reply, ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting", "no_deadlock")


def bad_among_good(fault):
    return lambda body: "ok" if text_of(body).startswith("good") else fault


FAULTS = {
    "500": Reply(status=500),
    "reset": Reply(fault="close"),
    "hang": Reply(fault="hang"),
    "empty choices": Reply(choices=False),
}


@pytest.mark.parametrize("where", ["first", "last", "in the middle"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_few_requests_that_always_fail_stop_no_job(fault, where, tmp_path):
    """All slots meet them at once, and they fail for longer than an endpoint may be silent."""
    good, bad = [f"good {n}" for n in range(100)], [f"bad {n}" for n in range(8)]
    texts = {"first": bad + good, "last": good + bad, "in the middle": good[:50] + bad + good[50:]}[where]
    limits = {"concurrency": 4, "retries": 1, "timeout_s": 0.5, "down_after_s": 0.2}
    with (
        ScriptedEndpoint(bad_among_good(fault), delay_s=0.005) as server,
        server.chat(tmp_path, limits=limits) as chat,
    ):
        answers = dict(zip(texts, chat.ask([ask(text) for text in texts]), strict=True))
    assert outcomes(answers[text] for text in good) == {"ok": 100}
    assert outcomes(answers[text] for text in bad) == {"error": 8}
    assert chat.unanswered == 8


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_job_of_such_requests_alone_stops_once_and_never_again(fault, tmp_path):
    """Nobody can tell it from an outage the first time. Then they have failed before, and are given up."""
    limits = {"retries": 1, "timeout_s": 0.3, "down_after_s": 0.2}
    with ScriptedEndpoint(lambda body: fault) as server:
        with server.chat(tmp_path, limits=limits) as chat, pytest.raises(UserError, match="no request succeeds at"):
            chat.ask([ask("bad"), ask("also bad")])
        for _ in range(2):
            with server.chat(tmp_path, limits=limits) as chat:
                answers = chat.ask([ask("bad"), ask("also bad")])
            assert outcomes(answers) == {"error": 2}
            assert chat.unanswered == 2
            assert all(answer.reason.startswith("given up after 2 attempts") for answer in answers)
        # Beside a request that is new they could be an outage again.
        with server.chat(tmp_path, limits=limits) as chat, pytest.raises(UserError, match="no request succeeds at"):
            chat.ask([ask("bad"), ask("also bad"), ask("new")])


def test_a_server_that_dies_in_the_middle_stops_the_job_and_keeps_what_was_answered(tmp_path):
    def reply(body):
        return "ok" if server.count <= 60 else Reply(fault="hang")

    with ScriptedEndpoint(reply, delay_s=0.002) as server:
        limits = {"concurrency": 4, "down_after_s": 0.4}
        with server.chat(tmp_path, limits=limits) as chat, pytest.raises(UserError, match="nothing answers at"):
            server.models = Reply(fault="hang")
            chat.ask([ask(n) for n in range(200)])
        server.reply, server.models = (lambda body: "ok"), None
        server.clear()
        with server.chat(tmp_path, limits=limits) as chat:
            assert outcomes(chat.ask([ask(n) for n in range(200)])) == {"ok": 200}
        assert server.count == 140


def test_an_outage_that_passes_costs_no_row(tmp_path):
    down = threading.Event()

    def reply(body):
        if server.count == 30:
            down.set()
            threading.Timer(0.3, down.clear).start()
        return Reply(status=503) if down.is_set() else "ok"

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, limits={"concurrency": 4, "retries": 4}) as chat:
        assert outcomes(chat.ask([ask(n) for n in range(200)])) == {"ok": 200}


def test_a_slow_server_is_not_taken_for_dead(tmp_path):
    limits = {"down_after_s": 0.2, "concurrency": 4}
    with ScriptedEndpoint(delay_s=1.0) as server, server.chat(tmp_path, limits=limits) as chat:
        assert outcomes(chat.ask([ask(n) for n in range(4)])) == {"ok": 4}
    assert server.looks > 1


def test_a_slow_server_with_requests_that_fail_at_once_is_not_taken_for_dead(tmp_path):
    limits = {"down_after_s": 0.2, "concurrency": 4}
    with (
        ScriptedEndpoint(lambda body: Reply(status=500) if text_of(body) == "0" else Reply(delay_s=1.0)) as server,
        server.chat(tmp_path, limits=limits) as chat,
    ):
        assert outcomes(chat.ask([ask(n) for n in range(5)])) == {"ok": 4, "error": 1}


def test_a_stop_waits_for_what_is_under_way_and_keeps_it(tmp_path):
    """They are paid for: the bad one comes last and fails first."""

    def reply(body):
        return Reply(status=401) if text_of(body) == "bad" else Reply("ok", delay_s=0.5)

    with ScriptedEndpoint(reply) as server:
        limits = {"concurrency": 4}
        with server.chat(tmp_path, limits=limits) as chat, pytest.raises(UserError, match="api_key_env"):
            chat.ask([ask("a"), ask("b"), ask("c"), ask("bad"), ask("d"), ask("e")])
        assert server.count == 4
        with server.chat(tmp_path, limits=limits) as chat:
            assert all(answer.cached for answer in chat.ask([ask("a"), ask("b"), ask("c")]))


def test_a_stop_ends_while_others_wait_for_their_turn(tmp_path):
    """In the gate, for their minute, and for their next attempt."""

    def reply(body):
        return {"limited": Reply(status=429, headers={"Retry-After": "200"}), "again": Reply(status=503)}.get(
            text_of(body), Reply(status=401, delay_s=0.2)
        )

    limits = {"concurrency": 8, "requests_per_minute": 1200}
    with (
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, limits=limits) as chat,
        pytest.raises(UserError, match="api_key_env"),
    ):
        chat.ask([ask("again"), ask("bad"), ask("limited"), *(ask(n) for n in range(50))])
    assert server.count < 20


def test_a_full_disk_stops_the_job(tmp_path, monkeypatch):
    from devqa.llm.cache import Writer

    written = []

    def write(self, key, record):
        written.append(key)
        if len(written) > 10:
            raise UserError("the disk is full")

    monkeypatch.setattr(Writer, "write", write)
    with (
        ScriptedEndpoint() as server,
        server.chat(tmp_path, limits={"concurrency": 2}) as chat,
        pytest.raises(UserError, match="the disk is full"),
    ):
        chat.ask([ask(n) for n in range(100)])
    assert server.count < 20


def test_a_bug_of_ours_is_no_quiet_end(tmp_path, monkeypatch):
    def broken(*given):
        raise ZeroDivisionError

    monkeypatch.setattr(online.outcomes, "read", broken)
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat, pytest.raises(ExceptionGroup) as error:
        chat.ask([ask(n) for n in range(100)])
    assert error.group_contains(ZeroDivisionError)
    assert server.count < 20


def test_health_is_watched_with_the_job_s_own_patience(tmp_path, monkeypatch):
    seen = []

    class Watched(health.Health):
        def __init__(self, *arguments):
            seen.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(online, "Health", Watched)
    with ScriptedEndpoint() as server, server.chat(tmp_path, limits={"down_after_s": 7}) as chat:
        chat.ask([ask()])
    assert seen[0][2] == 7
