"""The Batch API: the same answers as online, whatever becomes of a batch."""

import threading

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.llm.batches import sending, service
from devqa.llm.batches.results import result
from devqa.llm.batches.rows import portions, request_line
from devqa.llm.chat import Request
from patience import until
from scripted import Reply
from scripted_batch import Plan, ScriptedBatches, tickets

KEY = "sk-secret-0123456789"
GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}},
    "required": ["grade"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(service, "_WAIT_INITIAL_S", 0.01)


def ask(text="hello", **more):
    return Request(({"role": "user", "content": str(text)},), **more)


def text_of(body):
    return body["messages"][-1]["content"]


def echo(body):
    return f"re: {text_of(body)}"


def in_turn(*plans):
    """The first batches end as `plans` say, all later ones well."""
    return lambda number: plans[number] if number < len(plans) else Plan()


REPLIES = {
    "text": (Reply("fine"), None),
    "data": (Reply({"grade": "A"}), GRADE),
    "fenced data": (Reply('```json\n{"grade": "B"}\n```'), GRADE),
    "off schema twice": (Reply({"grade": "Z"}), GRADE),
    "thoughts": (Reply("fine", reasoning="hm"), None),
    "a lone surrogate": (Reply("half a \ud83d pair"), None),
    "a separator of lines": (Reply("one\u2028two\x85three\nfour"), None),
    "refusal": (Reply("", refusal="no"), None),
    "truncated": (Reply("fine, but", finish_reason="length"), None),
    "empty": (Reply(None), None),
    "a tool": (Reply(tool_call=True), None),
    "no usage": (Reply("fine", usage=None), None),
    "a refused request": (Reply(status=400, error="bad request"), None),
    "a filtered request": (Reply(status=400, error={"message": "no", "code": "content_filter"}), None),
    "too long": (Reply(status=400, error={"message": "no", "code": "context_length_exceeded"}), None),
}


@pytest.mark.parametrize("case", REPLIES)
def test_the_answer_is_the_same_as_online(case, tmp_path):
    reply, schema = REPLIES[case]
    with ScriptedBatches(lambda body: reply) as server:
        with server.chat(tmp_path / "online") as chat:
            online = chat.ask([ask(schema=schema)])
        with server.batching(tmp_path / "batch") as chat:
            assert chat.ask([ask(schema=schema)]) == online
    assert not tickets(tmp_path)


def test_what_is_too_much_for_one_batch_goes_in_several_that_run_together(tmp_path):
    with ScriptedBatches(echo) as server:
        server.running.clear()
        asking = threading.Thread(target=lambda: until(lambda: len(server.batches) == 4) or server.running.set())
        asking.start()
        with server.batching(tmp_path, requests=3) as chat:
            answers = chat.ask([ask(number) for number in range(10)])
        asking.join()
        assert [answer.text for answer in answers] == [f"re: {number}" for number in range(10)]
        assert [entry["request_counts"]["total"] for entry in server.batches.values()] == [3, 3, 3, 1]
        assert set(server.executed.values()) == {1}
        with server.batching(tmp_path, requests=3) as chat:
            assert all(answer.cached for answer in chat.ask([ask(number) for number in range(10)]))
        assert len(server.batches) == 4


@given(st.lists(st.integers(1, 50)), st.integers(1, 5), st.integers(1, 100))
def test_portions_hold_the_limits_and_lose_nothing(sizes, most_rows, most_bytes):
    keyed = [(str(number), size) for number, size in enumerate(sizes)]
    cut = list(portions(keyed, most_rows, most_bytes))
    assert [key for portion in cut for key in portion] == [key for key, _ in keyed]
    for portion in cut:
        assert 1 <= len(portion) <= most_rows
        assert len(portion) == 1 or sum(sizes[int(key)] for key in portion) <= most_bytes


def test_a_file_is_never_larger_than_the_api_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "MOST_BYTES", 1000)
    with ScriptedBatches(echo) as server, server.batching(tmp_path) as chat:
        chat.ask([ask("x" * 300 + str(number)) for number in range(5)])
        assert len(server.batches) == 3
        assert max(len(server.files[entry["input_file_id"]]) for entry in server.batches.values()) <= 1000


@given(
    st.binary()
    | st.recursive(
        st.none() | st.integers(-1, 600) | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["custom_id", "response", "error", "status_code", "body"]), inner)
        ),
    ).map(orjson.dumps)
)
def test_any_line_is_a_result_or_none(line):
    found = result(line)
    assert found is None or isinstance(found.key, str)


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_a_batch_did_not_come_to_is_sent_again(end, tmp_path):
    with ScriptedBatches(
        echo, plan=in_turn(Plan(end, executed=3), Plan(end, executed=0), Plan(end, executed=4))
    ) as server:
        with server.batching(tmp_path) as chat:
            answers = chat.ask([ask(number) for number in range(10)])
        assert [answer.text for answer in answers] == [f"re: {number}" for number in range(10)]
        assert len(server.batches) == 4
        assert set(server.executed.values()) == {1}
    assert not tickets(tmp_path)


def test_rounds_come_to_an_end(tmp_path):
    with ScriptedBatches(echo, plan=lambda number: Plan("expired", executed=0)) as server:
        with server.batching(tmp_path, limits={"retries": 2}) as chat:
            (answer,) = chat.ask([ask()])
            assert chat.unanswered == 1
        assert len(server.batches) == 3
    assert answer.outcome == "error"
    assert answer.reason == "given up after 3 attempts: This request could not be executed before the batch ended."
    assert not tickets(tmp_path)


def spoilt(lines):
    """Six results, of which two are lost; among them what no output file should hold."""
    return [
        b"",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"custom_id": 7}',
        b'{"custom_id": "nobody", "response": {"status_code": 200, "body": {}}, "error": null}',
        lines[0][: len(lines[0]) // 2],
        lines[0].replace(b'"response"', b'"something"'),
        *lines[2:],
        lines[2].replace(b"re: ", b"twice: "),
    ]


def test_broken_unknown_double_and_missing_lines_lose_no_row(tmp_path):
    with ScriptedBatches(echo, plan=in_turn(Plan(spoil=spoilt))) as server, server.batching(tmp_path) as chat:
        answers = chat.ask([ask(number) for number in range(6)])
        assert [answer.text for answer in answers] == [f"re: {number}" for number in range(6)]
        assert [entry["request_counts"]["total"] for entry in server.batches.values()] == [6, 2]


def once(fault, *texts):
    """A reply function that gives `fault` to the first request with each of `texts`."""
    left = set(texts)

    def reply(body):
        if text_of(body) not in left:
            return echo(body)
        left.remove(text_of(body))
        return fault

    return reply


@pytest.mark.parametrize("fault", [Reply(status=429), Reply(status=500), Reply(choices=False), Reply(fault="close")])
def test_a_row_with_a_passing_fault_goes_into_the_next_round_alone(fault, tmp_path):
    with ScriptedBatches(once(fault, "1", "3")) as server, server.batching(tmp_path) as chat:
        answers = chat.ask([ask(number) for number in range(5)])
        assert [answer.text for answer in answers] == [f"re: {number}" for number in range(5)]
        assert [entry["request_counts"]["total"] for entry in server.batches.values()] == [5, 2]


def test_a_row_that_is_refused_fails_alone(tmp_path):
    with ScriptedBatches(once(Reply(status=400, error="too odd"), "1")) as server, server.batching(tmp_path) as chat:
        answers = chat.ask([ask(number) for number in range(3)])
        assert [answer.outcome for answer in answers] == ["ok", "error", "ok"]
        assert "answered 400: too odd" in answers[1].reason
        assert len(server.batches) == 1
        # Another run asks for it again, and for nothing else.
        assert [answer.text for answer in chat.ask([ask(number) for number in range(3)])] == ["re: 0", "re: 1", "re: 2"]
    assert sorted(server.executed.values()) == [1, 1, 2]


STOPPING = {
    "quota": (Reply(status=429, error={"message": "no", "code": "insufficient_quota"}), "models.scripted.api_key_env"),
    "model": (Reply(status=404, error="no such model"), "models.scripted.model"),
    "schema": (Reply(status=400, error="response_format is not supported"), "models.scripted.structured"),
    "parameter": (Reply(status=400, error="Unsupported parameter: 'temperature'"), "omit: [temperature]"),
}


@pytest.mark.parametrize("case", STOPPING)
def test_a_row_that_says_that_none_will_be_answered_stops_the_job_and_the_others_are_kept(case, tmp_path):
    fault, says = STOPPING[case]
    with ScriptedBatches(once(fault, "1")) as server, server.batching(tmp_path, requests=3) as chat:
        with pytest.raises(UserError, match="models.scripted") as caught:
            chat.ask([ask(number) for number in range(5)])
        assert says in str(caught.value)
        assert not tickets(tmp_path)
        answers = chat.ask([ask(number) for number in range(5)])
    assert [answer.text for answer in answers] == [f"re: {number}" for number in range(5)]
    assert [answer.cached for answer in answers] == [True, False, True, True, True]


def test_a_batch_that_is_refused_stops_with_its_errors_and_can_be_sent_again(tmp_path):
    errors = ({"code": "model_not_found", "message": "no batches for this model", "line": 1, "param": None},)
    with (
        ScriptedBatches(echo, plan=in_turn(Plan("failed", errors=errors))) as server,
        server.batching(tmp_path) as chat,
    ):
        with pytest.raises(
            UserError, match="models.scripted.mode: batch: .*model_not_found: no batches for this model"
        ):
            chat.ask([ask()])
        assert not tickets(tmp_path)
        assert chat.ask([ask()])[0].outcome == "ok"
    assert set(server.executed.values()) == {1}


FULL = Plan("failed", errors=({"code": "token_limit_exceeded", "message": "Enqueued token limit reached"},))


def test_a_full_queue_is_waited_for(tmp_path):
    with ScriptedBatches(echo, plan=in_turn(FULL, Plan(), FULL)) as server:
        with server.batching(tmp_path, requests=2) as chat:
            answers = chat.ask([ask(number) for number in range(4)])
        assert [answer.outcome for answer in answers] == ["ok"] * 4
        assert set(server.executed.values()) == {1}
        assert len(server.batches) == 4


def test_a_queue_that_stays_full_stops_the_job(tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "_QUEUE_S", 0.1)
    says = "models.scripted.batch.requests: .*Enqueued token limit reached"
    with (
        ScriptedBatches(plan=lambda number: FULL) as server,
        server.batching(tmp_path) as chat,
        pytest.raises(UserError, match=says),
    ):
        chat.ask([ask()])
    assert not tickets(tmp_path)


def test_an_answer_off_its_schema_is_asked_about_once_and_both_count(tmp_path):
    def reply(body):
        if text_of(body).startswith("This answer can't be used"):
            return {"grade": "A"}
        return {"grade": "Z"} if text_of(body) == "hard" else {"grade": "B"}

    with ScriptedBatches(reply) as server, server.batching(tmp_path) as chat:
        easy, hard = chat.ask([ask("easy", schema=GRADE), ask("hard", schema=GRADE)])
        assert (easy.data, hard.data) == ({"grade": "B"}, {"grade": "A"})
        assert [entry["request_counts"]["total"] for entry in server.batches.values()] == [2, 1]
        assert hard.input_tokens > 2 * easy.input_tokens
        assert hard.output_tokens == 2 * easy.output_tokens
        assert {body["response_format"]["type"] for body in server.requests} == {"json_schema"}
    assert not tickets(tmp_path)


def test_json_is_asked_for_as_the_model_is_known_to_take_it(tmp_path):
    with ScriptedBatches(lambda body: {"grade": "A"}) as server:
        with server.batching(tmp_path) as chat:
            chat.ask([ask(1, schema=GRADE)])
            next(tmp_path.glob("*/")).joinpath("structured").write_text("json_object")
            chat.ask([ask(2, schema=GRADE)])
        with server.batching(tmp_path, structured="prompt") as chat:
            chat.ask([ask(3, schema=GRADE)])
    asked = [body.get("response_format", {}).get("type") for body in server.requests]
    assert asked == ["json_schema", "json_object", None]


def test_a_line_names_its_request_in_as_many_characters_as_endpoints_take():
    line = orjson.loads(request_line("f" * 64, {"model": "m"}))
    assert line == {"custom_id": "f" * 64, "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}
