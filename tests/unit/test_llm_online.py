"""Sending: how many at a time, in which order, how fast, how it ends, and what it takes from the budget."""

import asyncio
import itertools
import threading
from collections import Counter

import pytest

from devqa.config.models import Model, asked_with
from devqa.errors import UserError
from devqa.llm import health, online
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.cache import Cache
from devqa.llm.channel import Channel
from devqa.llm.chat import Chat, Request
from devqa.llm.spend import Accounts
from faults import GRADE
from patience import at_most
from scripted import Reply, ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture(autouse=True)
def _no_deadlock():
    with at_most(60):
        yield


def ask(text="hello", schema=None):
    return Request(({"role": "user", "content": str(text)},), schema)


def text_of(body):
    return body["messages"][0]["content"]


def outcomes(answers):
    return Counter(answer.outcome for answer in answers)


def test_never_more_requests_at_once_than_the_limit(tmp_path):
    with ScriptedEndpoint(delay_s=0.01) as server, server.chat(tmp_path, limits={"concurrency": 7}) as chat:
        chat.ask([ask(n) for n in range(100)])
    assert server.peak == 7
    assert server.count == 100


def test_a_request_that_waits_for_its_retry_leaves_its_slot_to_others(tmp_path):
    first = [Reply(status=503, headers={"Retry-After": "0.5"})]
    with (
        ScriptedEndpoint(lambda body: first.pop() if first else "ok") as server,
        server.chat(tmp_path, limits={"concurrency": 1}) as chat,
    ):
        answers = chat.ask([ask("a"), ask("b"), ask("c")])
    assert outcomes(answers) == {"ok": 3}
    assert [text_of(body) for body in server.requests] == ["a", "b", "c", "a"]


def test_after_a_rate_limit_nobody_is_sent_before_the_time(tmp_path):
    """The next request waits too, though it has met no limit itself."""
    first = [Reply(status=429, headers={"Retry-After": "0.3"})]
    came = []

    def reply(body):
        came.append(asyncio.get_running_loop().time())
        return first.pop() if first else "ok"

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, limits={"concurrency": 1}) as chat:
        assert outcomes(chat.ask([ask("a"), ask("b")])) == {"ok": 2}
    assert server.count == 3
    # As long as the server has asked for, at least.
    assert came[1] - came[0] >= 0.3


@pytest.mark.parametrize(
    "header",
    [
        {"Retry-After": "0.01"},
        {"retry-after-ms": "10"},
        {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
        {"Retry-After": "never", "retry-after-ms": "5"},
    ],
)
def test_retry_after_replaces_the_back_off(header, tmp_path, monkeypatch):
    # With the back-off's own hour this test would not end.
    monkeypatch.setattr(online, "WAIT_INITIAL_S", 3600.0)
    monkeypatch.setattr(online, "WAIT_LONGEST_S", 3600.0)
    replies = [Reply(status=429, headers=header)]
    with ScriptedEndpoint(lambda body: replies.pop() if replies else "ok") as server, server.chat(tmp_path) as chat:
        assert chat.ask([ask()])[0].outcome == "ok"
    assert server.count == 2


def test_the_back_off_grows_to_its_bound_and_no_number_is_too_large(monkeypatch):
    monkeypatch.setattr(online, "WAIT_INITIAL_S", 1.0)
    monkeypatch.setattr(online, "WAIT_LONGEST_S", 60.0)
    monkeypatch.setattr(online, "WAIT_JITTER_S", 0.0)
    assert [online._back_off_s(times) for times in (1, 2, 3, 6, 7, 5000)] == [1, 2, 4, 32, 60, 60]


def test_a_tight_limit_by_the_minute_costs_no_row(tmp_path):
    """The endpoint lets 3 requests through in each tenth of a second and says 429 to the rest; 40 want to go."""
    window = {"began": -1.0, "left": 0}

    def reply(body):
        now = asyncio.get_running_loop().time()
        if now - window["began"] >= 0.1:
            window.update(began=now, left=3)
        window["left"] -= 1
        return "ok" if window["left"] >= 0 else Reply(status=429)

    with (
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, limits={"concurrency": 40, "retries": 2}) as chat,
    ):
        answers = chat.ask([ask(n) for n in range(60)])
    assert outcomes(answers) == {"ok": 60}


def test_where_little_is_left_the_headers_slow_requests_down(tmp_path):
    """Of 10 in a second one is left after the first: the others wait until theirs are back."""
    came = []

    def reply(body):
        came.append(asyncio.get_running_loop().time())
        limits = {"limit": "10", "remaining": "0", "reset": "1s"}
        return Reply(headers={f"x-ratelimit-{name}-requests": value for name, value in limits.items()})

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, limits={"concurrency": 1}) as chat:
        chat.ask([ask(n) for n in range(4)])
    assert server.count == 4
    assert all(after - before >= 0.1 for before, after in itertools.pairwise(came))


def test_requests_per_minute_space_them_out(tmp_path):
    came = []

    def reply(body):
        came.append(asyncio.get_running_loop().time())
        return "ok"

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, limits={"requests_per_minute": 600}) as chat:
        chat.ask([ask(n) for n in range(5)])
    assert server.count == 5
    assert came[-1] - came[0] >= 0.35


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
    def broken(completion, schema):
        raise ZeroDivisionError

    monkeypatch.setattr(online.outcomes, "read", broken)
    with ScriptedEndpoint() as server, server.chat(tmp_path) as chat, pytest.raises(ExceptionGroup) as error:
        chat.ask([ask(n) for n in range(100)])
    assert error.group_contains(ZeroDivisionError)
    assert server.count < 20


def refuses_schemas(body):
    if "response_format" in body:
        return Reply(status=400, error="response_format is not supported")
    return Reply({"grade": "A"}, delay_s=0.05)


def test_the_best_way_to_ask_for_json_is_found_out_once(tmp_path):
    """By one request at a time; then all go at once."""
    requests = [ask(n, GRADE) for n in range(40)]
    with ScriptedEndpoint(refuses_schemas) as server:
        with server.chat(tmp_path, limits={"concurrency": 8}) as chat:
            assert outcomes(chat.ask(requests)) == {"ok": 40}
        formats = [body.get("response_format", {"type": None})["type"] for body in server.requests]
        assert formats == ["json_schema", "json_object", *[None] * 40]
        assert server.peak == 8
        with server.chat(tmp_path) as chat:
            assert outcomes(chat.ask([ask("more", GRADE)])) == {"ok": 1}
    assert server.count == 43


def test_those_that_waited_for_that_go_all_at_once(tmp_path):
    with (
        ScriptedEndpoint(lambda body: {"grade": "A"}, delay_s=0.2) as server,
        server.chat(tmp_path, limits={"concurrency": 8}) as chat,
    ):
        chat.ask([ask(n, GRADE) for n in range(8)])
    assert server.peak == 7


def test_requests_for_text_do_not_wait_for_that(tmp_path):
    def reply(body):
        return Reply({"grade": "A"}, delay_s=0.3 if "response_format" in body else 0.0)

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, limits={"concurrency": 4}) as chat:
        chat.ask([ask("a", GRADE), ask("b", GRADE), *(ask(n) for n in range(20))])
    assert [text_of(body) for body in server.requests].index("b") > 5


def test_a_way_that_was_set_and_is_refused_stops_the_job(tmp_path):
    with (
        ScriptedEndpoint(refuses_schemas) as server,
        server.chat(tmp_path, structured="json_object") as chat,
        pytest.raises(UserError, match=r"models\.scripted\.structured: .*not supported.*auto"),
    ):
        chat.ask([ask(n, GRADE) for n in range(50)])
    assert server.count < 20


@pytest.mark.parametrize("schema", [None, GRADE], ids=["text", "JSON"])
def test_a_complaint_about_schemas_where_none_was_sent_fails_the_row(schema, tmp_path):
    with (
        ScriptedEndpoint(
            lambda body: Reply(status=400, error="bad grammar") if text_of(body)[0] == "b" else "ok"
        ) as server,
        server.chat(tmp_path, structured="prompt") as chat,
    ):
        good, bad = chat.ask([ask("good"), ask("bad", schema)])
    assert (good.outcome, bad.outcome) == ("ok", "error")
    assert "bad grammar" in bad.reason


def record_of(folder):
    """The keys and records of all that was asked."""
    (shelf,) = Cache(folder).shelves()
    return list(shelf.records())


def test_an_answer_off_the_schema_is_asked_about_once_and_the_objection_is_quoted(tmp_path):
    def reply(body):
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}
        return Reply({"grade": "A" if len(body["messages"]) > 1 else "Z"}, usage=usage)

    with ScriptedEndpoint(reply) as server, server.chat(tmp_path, structured="json_schema") as chat:
        (answer,) = chat.ask([ask("question", GRADE)])
    assert (answer.outcome, answer.data) == ("ok", {"grade": "A"})
    assert (answer.input_tokens, answer.output_tokens, answer.cached_tokens) == (20, 10, 8)
    question, said, objection = server.requests[1]["messages"]
    assert (question["content"], said["role"], said["content"]) == ("question", "assistant", '{"grade": "Z"}')
    assert "is not one of" in objection["content"]
    ((_, record),) = record_of(tmp_path)
    assert record["repaired"]


def test_an_objection_that_gets_no_answer_leaves_the_first_and_its_price(tmp_path):
    def reply(body):
        return (
            Reply(status=500)
            if len(body["messages"]) > 1
            else Reply({"grade": "Z"} if "bad" in text_of(body) else "{}")
        )

    with (
        ScriptedEndpoint(lambda body: {"grade": "A"} if text_of(body) == "good" else reply(body)) as server,
        server.chat(tmp_path, structured="json_schema", limits={"retries": 2, "concurrency": 1}) as chat,
    ):
        bad, good = chat.ask([ask("bad", GRADE), ask("good", GRADE)])
    assert (bad.outcome, good.outcome) == ("error", "ok")
    assert "is not one of" in bad.reason
    assert (bad.raw, bad.input_tokens > 0) == ('{"grade": "Z"}', True)
    # Another time the question may get one.
    assert chat.unanswered == 1
    assert server.count == 5


def test_a_stop_between_an_answer_and_the_objection_keeps_account_of_the_answer(tmp_path):
    def reply(body):
        return Reply(status=401) if len(body["messages"]) > 1 else {"grade": "Z"}

    with (
        ScriptedEndpoint(reply) as server,
        server.chat(tmp_path, structured="json_schema") as chat,
        pytest.raises(UserError, match="api_key_env"),
    ):
        chat.ask([ask("question", GRADE)])
    ((_, record),) = record_of(tmp_path)
    assert (record["outcome"], record["raw"], record["input_tokens"] > 0) == ("error", '{"grade": "Z"}', True)


PRICE = {"input": 1.0, "output": 1.0}
DOLLAR = 1_000_000


def with_budget(server, folder, cap_usd, **more):
    model = Model(**server.model(price=PRICE, sampling={"max_tokens": DOLLAR}, **more))
    budget = Budget(Accounts(folder / "spend"), cap_usd)
    chat = Chat(asked_with("scripted", model), model.model_dump(), Cache(folder / "cache"), "test", budget)
    return chat, budget


def spent(budget):
    return budget._spent / 10**12


def test_a_budget_is_settled_with_what_answers_cost(tmp_path):
    usage = {"prompt_tokens": 0, "completion_tokens": DOLLAR // 10}
    with ScriptedEndpoint(lambda body: Reply(usage=usage)) as server:
        chat, budget = with_budget(server, tmp_path, 5.0)
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(20)])) == {"ok": 20}
    assert spent(budget) == pytest.approx(2.0)
    assert (budget._under_way, budget._broken_off) == (0, 0)


def test_requests_that_fail_give_their_money_back(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(status=400)) as server:
        chat, budget = with_budget(server, tmp_path, 1.5)
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(20)])) == {"error": 20}
    assert (spent(budget), budget._under_way, budget._broken_off) == (0, 0, 0)


def test_requests_that_wait_for_another_attempt_hold_no_money(tmp_path):
    """Else those that wait for money would wait for them, and they for a slot: for ever."""
    failures = Counter()

    def reply(body):
        failures[text_of(body)] += 1
        return (
            Reply(status=503)
            if failures[text_of(body)] < 4
            else Reply(usage={"prompt_tokens": 0, "completion_tokens": 0})
        )

    with ScriptedEndpoint(reply) as server:
        # One request alone may be under way.
        chat, budget = with_budget(server, tmp_path, 1.5, limits={"concurrency": 4})
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(12)])) == {"ok": 12}
    assert server.peak == 1


def test_what_the_endpoint_did_not_count_costs_as_much_as_it_may_have(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(usage=None)) as server:
        chat, budget = with_budget(server, tmp_path, 3.5)
        with chat, pytest.raises(BudgetReached):
            chat.ask([ask(n) for n in range(20)])
    assert server.count == 3
    assert spent(budget) == pytest.approx(3.0, rel=1e-3)


def test_a_repaired_answer_costs_both(tmp_path):
    def reply(body):
        usage = {"prompt_tokens": 0, "completion_tokens": DOLLAR // 10}
        return Reply({"grade": "A" if len(body["messages"]) > 1 else "Z"}, usage=usage)

    with ScriptedEndpoint(reply) as server:
        chat, budget = with_budget(server, tmp_path, 5.0, structured="json_schema")
        with chat:
            assert outcomes(chat.ask([ask(n, GRADE) for n in range(5)])) == {"ok": 5}
    assert spent(budget) == pytest.approx(1.0)


def test_what_a_stop_leaves_unsent_holds_no_money(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(status=401, delay_s=0.1)) as server:
        chat, budget = with_budget(server, tmp_path, 100.0, limits={"concurrency": 4, "requests_per_minute": 60})
        with chat, pytest.raises(UserError, match="api_key_env"):
            chat.ask([ask(n) for n in range(20)])
    assert (spent(budget), budget._under_way, budget._broken_off) == (0, 0, 0)


def test_what_was_under_way_when_the_endpoint_died_may_have_cost(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(fault="hang"), models=Reply(fault="hang")) as server:
        chat, budget = with_budget(server, tmp_path, 100.0, limits={"concurrency": 4, "down_after_s": 0.3})
        with chat, pytest.raises(UserError, match="nothing answers"):
            chat.ask([ask(n) for n in range(20)])
    assert budget._broken_off / 10**12 == pytest.approx(4.0, rel=1e-3)


def test_sending_keeps_nothing_of_what_was_answered(tmp_path):
    """Memory stays flat: after thousands of requests nothing is left of them in the sender."""
    kept = []

    async def send(server):
        model = Model(**server.model(limits={"concurrency": 16}))
        asks = {f"{n:064x}": ask(n) for n in range(2000)}
        channel = Channel(asked_with("scripted", model), model.model_dump(), server.base_url, tmp_path, "test")
        async with online.Transport("scripted", server.base_url, None, 60) as transport:
            sending = online._Sending(asks, channel, lambda key, record: kept.append(key), transport)
            await sending.run()
        return sending

    with ScriptedEndpoint() as server:
        sending = asyncio.run(send(server))
    assert len(set(kept)) == len(kept) == 2000
    assert not (sending._unsettled or sending._put_off or sending._posting or sending._gate._waiting)


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
