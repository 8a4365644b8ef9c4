"""Sending: how many at a time, in which order, how fast, and in which form."""

import asyncio
import itertools

import pytest

from asking import ask, outcomes, text_of
from devqa.config.models import Model, asked_with
from devqa.errors import UserError
from devqa.llm import online
from devqa.llm.cache import Cache
from devqa.llm.channel import Channel
from faults import GRADE
from scripted import Reply, ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting", "no_deadlock")


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


def test_a_job_that_waits_says_what_for(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(online, "_SILENCE_S", 0.3)
    replies = iter([Reply(status=503, error="busy"), Reply(text="at last", delay_s=3.0)])
    with (
        ScriptedEndpoint(lambda body: next(replies)) as server,
        server.chat(tmp_path, limits={"concurrency": 1}) as chat,
    ):
        assert chat.ask([ask()])[0].text == "at last"
    said = [record.getMessage() for record in caplog.records if " waits: " in record.getMessage()]
    assert said
    assert "test with scripted waits: nothing came for " in said[0]
    assert "busy" in said[-1]


def test_a_request_larger_than_a_minute_s_tokens_waits_no_longer_than_a_minute(tmp_path, monkeypatch):
    monkeypatch.setattr("devqa.llm.pacing._MINUTE_S", 0.05)
    with ScriptedEndpoint() as server, server.chat(tmp_path, limits={"tokens_per_minute": 1}) as chat:
        assert [answer.outcome for answer in chat.ask([ask(number) for number in range(3)])] == ["ok"] * 3
