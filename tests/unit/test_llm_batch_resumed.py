"""Batches survive their jobs: what was sent is never sent again."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import orjson
import pytest

from devqa.errors import UserError
from devqa.llm.batches import desk, service, state
from devqa.llm.batches.state import Ticket, Tickets, abandoned, at_work
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.chat import Request
from devqa.llm.spend import Accounts
from patience import until
from scripted import Reply
from scripted_batch import Plan, ScriptedBatches

HANG = Reply(fault="hang")
GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}},
    "required": ["grade"],
    "additionalProperties": False,
}
# A job of its own, which can be killed: the server's address, the cache, how many requests, how many in a batch.
JOB = """
import sys
from devqa.config.models import Model, asked_with
from devqa.llm.batches import service, state
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request

service._WAIT_INITIAL_S = 0.01
state._SETTLING_S = 0.3
address, cache, count, requests = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
model = Model(base_url=address, mode="batch", batch={"poll_s": 0.02, "requests": requests})
schema = %r
with Chat(asked_with("scripted", model), model.model_dump(), Cache(cache), "test") as chat:
    chat.ask([Request(({"role": "user", "content": str(number)},), schema) for number in range(count)])
""" % (GRADE,)  # noqa: UP031 -- braces


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(service, "_WAIT_INITIAL_S", 0.01)
    monkeypatch.setattr(state, "_SETTLING_S", 0.3)


def asks(numbers):
    return [Request(({"role": "user", "content": str(number)},), GRADE) for number in numbers]


def text_of(body):
    return body["messages"][-1]["content"]


def grade(body):
    """Every seventh answer is off its schema at first."""
    if text_of(body).startswith("This answer can't be used"):
        return {"grade": "A"}
    return {"grade": "Z"} if int(text_of(body)) % 7 == 0 else {"grade": "B"}


def expected(numbers):
    return [{"grade": "A" if number % 7 == 0 else "B"} for number in numbers]


def job(server, folder, count, requests=50_000):
    arguments = [sys.executable, "-c", JOB, server.base_url, str(folder), str(count), str(requests)]
    path = os.pathsep.join(part for part in sys.path if part)
    return subprocess.Popen(arguments, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def on_disk(folder):
    return [orjson.loads(path.read_bytes()) for path in folder.glob("*/batches/*.json")]


def hanging(server, moment, deed, turn=0):
    """Make a `deed`, the first or a later one, hang before or after it is done, and say when it does."""
    hangs = threading.Event()
    turns = itertools.count()

    def hook(asked):
        if asked != deed or next(turns) != turn:
            return None
        hangs.set()
        return HANG

    setattr(server, moment, hook)
    return hangs


MOMENTS = {
    "before the upload is done": ("before", "upload", "uploading"),
    "before the batch is created": ("before", "create", "creating"),
    "before the batch's id is known": ("after", "create", "creating"),
    "while the batch is under way": ("before", "retrieve", "created"),
    "before the results are read": ("before", "content", "created"),
}


@pytest.mark.parametrize("case", MOMENTS)
def test_after_a_kill_the_batch_is_picked_up_and_nothing_is_executed_twice(case, tmp_path):
    moment, deed, stage = MOMENTS[case]
    with ScriptedBatches(grade) as server:
        hangs = hanging(server, moment, deed)
        process = job(server, tmp_path, 10)
        assert hangs.wait(60)
        kill(process)
        assert [ticket["stage"] for ticket in on_disk(tmp_path)] == [stage]
        with server.batching(tmp_path) as chat:
            answers = chat.ask(asks(range(10)))
        assert [answer.data for answer in answers] == expected(range(10))
        assert set(server.executed.values()) == {1}
        # The batch, and the one in which answers are mended.
        assert len(server.batches) == 2
    assert not on_disk(tmp_path)


def test_a_batch_whose_id_was_lost_is_found_by_its_mark_on_any_page(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_PAGE", 3)
    with ScriptedBatches(grade) as server:
        server.running.clear()
        process = job(server, tmp_path, 5)
        until(lambda: server.deeds["retrieve"])
        kill(process)
        (path,) = tmp_path.glob("*/batches/*.json")
        path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), "batch": "", "stage": "creating"}))
        server.batches |= {f"other_{number}": {"id": f"other_{number}", "status": "completed"} for number in range(8)}
        server.running.set()
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
        assert set(server.executed.values()) == {1}
        assert server.deeds["list"] == 3
    assert not on_disk(tmp_path)


def test_what_is_no_list_of_batches_does_not_pass_for_an_empty_one(tmp_path):
    with ScriptedBatches(grade) as server:
        hangs = hanging(server, "after", "create")
        process = job(server, tmp_path, 5)
        assert hangs.wait(60)
        kill(process)
        bodies = [b"<html>", b'{"data": ', b"[]", b'{"status": "please wait"}', b'{"data": [1, null]}']
        left = [Reply(body=body) for body in bodies]
        server.before = lambda deed: left.pop() if deed == "list" and left else None
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
        assert set(server.executed.values()) == {1}
        assert not left


@pytest.mark.parametrize(("moment", "deed"), [("before", "upload"), ("before", "create"), ("after", "create")])
def test_a_kill_between_the_answer_and_the_question_that_mends_it_loses_neither(moment, deed, tmp_path):
    with ScriptedBatches(grade) as server:
        hangs = hanging(server, moment, deed, turn=1)
        process = job(server, tmp_path, 10)
        assert hangs.wait(60)
        kill(process)
        with server.batching(tmp_path) as chat:
            answers = chat.ask(asks(range(10)))
        assert [answer.data for answer in answers] == expected(range(10))
        assert set(server.executed.values()) == {1}
        assert answers[7].input_tokens > 2 * answers[8].input_tokens
    assert not on_disk(tmp_path)


def test_kills_at_random_moments_lose_nothing_and_send_nothing_twice(tmp_path):
    rng = random.Random(7)
    with ScriptedBatches(
        grade, plan=lambda number: Plan("expired", executed=9) if number % 3 == 0 else Plan()
    ) as server:
        for _ in range(8):
            deeds = server.deeds.total() + rng.randrange(1, 12)
            process = job(server, tmp_path, 60, requests=12)
            until(lambda deeds=deeds, process=process: server.deeds.total() >= deeds or process.poll() is not None)
            time.sleep(rng.random() * 0.02)
            kill(process)
        with server.batching(tmp_path, requests=12) as chat:
            answers = chat.ask(asks(range(60)))
        assert [answer.data for answer in answers] == expected(range(60))
        assert set(server.executed.values()) == {1}
        assert len(server.executed) == 60 + len(range(0, 60, 7))
        # A job that was killed between its last record and the removal of the ticket leaves that to the next batch.
        with server.batching(tmp_path) as chat:
            chat.ask(asks([1001]))
    assert not on_disk(tmp_path)


def test_two_jobs_at_once_share_a_batch(tmp_path):
    with ScriptedBatches(grade) as server:
        server.running.clear()
        answers = {}

        def ask(name, numbers):
            with server.batching(tmp_path) as chat:
                answers[name] = [answer.data for answer in chat.ask(asks(numbers))]

        first = threading.Thread(target=ask, args=("first", range(20)))
        first.start()
        until(lambda: server.batches)
        second = threading.Thread(target=ask, args=("second", range(10, 30)))
        second.start()
        until(lambda: len(server.batches) == 2)
        server.running.set()
        first.join()
        second.join()
        assert answers == {"first": expected(range(20)), "second": expected(range(10, 30))}
        assert [entry["request_counts"]["total"] for entry in server.batches.values()][:2] == [20, 10]
        assert sum(body["messages"][-1]["content"].isdigit() for body in server.requests) == 30
        # What both took off one ticket at the same moment may stay on it: that is left to the next batch.
        with server.batching(tmp_path) as chat:
            chat.ask(asks([1001]))
    assert not on_disk(tmp_path)


def test_what_is_not_asked_for_any_longer_stays_on_its_ticket(tmp_path):
    """Someone may ask for it again, and it is paid for."""
    with ScriptedBatches(grade) as server:
        server.running.clear()
        process = job(server, tmp_path, 10)
        until(lambda: server.deeds["retrieve"])
        kill(process)
        server.running.set()
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5, 15)))] == expected(range(5, 15))
        (ticket,) = on_disk(tmp_path)
        assert len(ticket["rows"]) == 5
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(10)))] == expected(range(10))
        assert set(server.executed.values()) == {1}
    assert not on_disk(tmp_path)


def test_a_batch_that_the_endpoint_has_forgotten_is_sent_again(tmp_path):
    with ScriptedBatches(grade) as server:
        server.running.clear()
        process = job(server, tmp_path, 5)
        until(lambda: server.deeds["retrieve"])
        kill(process)
        server.batches.clear()
        server.running.set()
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
    assert not on_disk(tmp_path)


QUOTA = Reply(status=429, error={"message": "no", "code": "insufficient_quota"})
MENDED = {
    "the batch was refused": (Plan("failed", errors=({"code": "billing_hard_limit_reached", "message": "no"},)), "ok"),
    "a row says that the quota is used up": (Plan(), QUOTA),
}


@pytest.mark.parametrize("case", MENDED)
def test_what_stopped_an_earlier_batch_is_tried_again_because_it_may_be_mended(case, tmp_path):
    plan, fault = MENDED[case]
    with ScriptedBatches(grade, plan=lambda number: Plan() if number else plan) as server:
        faults = [fault] if fault != "ok" else []
        server.reply = lambda body: faults.pop() if faults and text_of(body) == "3" else grade(body)
        hangs = hanging(server, "before", "retrieve")
        process = job(server, tmp_path, 5)
        assert hangs.wait(60)
        kill(process)
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
        assert len(server.executed) == 6
        assert server.executed.total() == 6 + (fault != "ok")
    assert not on_disk(tmp_path)


def test_an_endpoint_out_of_reach_leaves_the_batch_to_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setattr(desk, "PATIENCE_S", 0.1)
    with ScriptedBatches(grade) as server, server.batching(tmp_path) as chat:
        server.before = lambda deed: Reply(status=503) if deed == "retrieve" else None
        with pytest.raises(UserError, match="Batches that were sent go on there.* give the same command again"):
            chat.ask(asks(range(5)))
        server.before = lambda deed: None
        assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
        assert set(server.executed.values()) == {1}


def test_ctrl_c_leaves_the_batch_running(tmp_path):
    with ScriptedBatches(grade) as server:
        server.running.clear()
        process = job(server, tmp_path, 5)
        until(lambda: server.deeds["retrieve"])
        process.send_signal(signal.SIGINT)
        assert process.wait() != 0
        server.running.set()
        with server.batching(tmp_path) as chat:
            assert [answer.data for answer in chat.ask(asks(range(5)))] == expected(range(5))
        assert set(server.executed.values()) == {1}
        # The batch, and the one in which an answer is mended.
        assert len(server.batches) == 2


def test_a_problem_with_one_batch_lets_those_under_way_end(tmp_path):
    with ScriptedBatches(lambda body: {"grade": "B"}) as server:
        server.running.clear()
        uploads = itertools.count()
        refusal = Reply(status=400, error="the file is odd")
        server.before = lambda deed: refusal if deed == "upload" and next(uploads) == 1 else None

        def release():
            until(lambda: server.deeds["upload"] == 2)
            server.running.set()

        releasing = threading.Thread(target=release)
        releasing.start()
        with server.batching(tmp_path, requests=4) as chat:
            with pytest.raises(UserError, match="refuses the batch: .*the file is odd"):
                chat.ask(asks(range(12)))
            releasing.join()
            assert len(server.batches) == 1
            answers = chat.ask(asks(range(12)))
        assert [answer.cached for answer in answers] == [True] * 4 + [False] * 8
        assert set(server.executed.values()) == {1}


PRICE = {"input": 1000.0, "output": 1000.0, "batch": 1.0}


def test_the_budget_is_never_exceeded_and_what_fits_is_sent(tmp_path):
    model = {"price": PRICE, "sampling": {"max_tokens": 20}}
    with ScriptedBatches(lambda body: "B") as server, server.batching(tmp_path / "cache", **model) as chat:
        requests = [Request(({"role": "user", "content": str(number)},)) for number in range(30)]
        chat._budget = Budget(Accounts(tmp_path / "spend"), 0.15)
        with pytest.raises(BudgetReached):
            chat.ask(requests)
        # Seven tokens of the prompt and one of the answer cost 0.008 USD, and at most 0.07 were to be feared.
        sent = len(server.executed)
        assert 0.15 - 0.07 < sent * 0.008 <= 0.15
        assert not on_disk(tmp_path / "cache")
        chat._budget = Budget(Accounts(tmp_path / "spend2"), 10.0)
        answers = chat.ask(requests)
        assert sum(answer.cached for answer in answers) == sent
        assert set(server.executed.values()) == {1}
        assert len(server.executed) == 30


def ticket(**more):
    return Ticket(**{"name": "t", "step": "test", "rows": {"a" * 64: None}, **more})


def test_a_ticket_is_abandoned_when_its_process_is_gone():
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    assert not abandoned(ticket())
    assert abandoned(ticket(pid=process.pid))
    assert not abandoned(ticket(pid=process.pid, stage="creating"))
    assert abandoned(ticket(pid=process.pid, stage="creating", written=time.time() - 10))
    assert not abandoned(ticket(host="elsewhere", pid=process.pid, written=time.time() - 10))
    assert abandoned(ticket(host="elsewhere", written=time.time() - 3600))


def test_a_batch_is_accounted_for_by_the_job_that_sent_it_while_that_is_at_work():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert at_work(ticket(pid=process.pid))
        assert not at_work(ticket(pid=process.pid, host="elsewhere"))
        process.communicate(b"\n")
    assert not at_work(ticket(pid=process.pid))
    assert not at_work(ticket())


def test_damaged_and_outlived_tickets_are_passed_over(tmp_path, caplog):
    tickets = Tickets(tmp_path)
    kept = tickets.new("test", {"a" * 64: None})
    old = tickets.new("test", {"b" * 64: {"outcome": "error"}})
    tickets._put(Ticket(**{**orjson.loads(tickets._path(old.name).read_bytes()), "written": time.time() - 31 * 86_400}))
    (tmp_path / "batches/broken.json").write_bytes(b'{"name": "bro')
    (tmp_path / "batches/foreign.json").write_bytes(b'{"something": "else"}')
    assert tickets.all() == [kept]
    assert not tickets._path(old.name).exists()
    assert "broken.json is damaged" in caplog.text


def test_of_several_who_remove_a_ticket_one_has(tmp_path):
    tickets = Tickets(tmp_path)
    made = tickets.new("test", {"a" * 64: None})
    assert [tickets.remove(made), tickets.remove(made)] == [True, False]
