"""The setting `agentic` within the model's context, whatever the model calls, and when nothing may be sent."""

import dataclasses
import itertools
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversing import CLEANING, SEARCH, SIGNED, Desk, calling, eager, opening, script
from devqa.errors import UserError
from devqa.llm.toolcalls import ToolCall
from devqa.prompts import Prompt
from devqa.steps.agentic import agentic
from devqa.tokens import estimate
from devqa.web.engines.searxng import SearxngEngine
from devqa.web.fetching.fetch import WebFetcher
from devqa.web.store import Store
from devqa.web.tools import Open, Order, Tools
from fetching import OPTIONS
from standins import PROMPTS, Model, answered, assert_sound, prompt


def prompt_tokens(body):
    """About what a model gets to read, by a chat template such as Qwen's; marks between messages are one token each."""
    lines = [json.dumps(body["tools"])]
    for message in body["messages"]:
        calls = [json.dumps(call["function"]) for call in message.get("tool_calls", [])]
        lines += [message["role"], message["content"] or "", message.get("reasoning_content", ""), *calls]
    return estimate("\n".join(lines)) + 2 * len(lines)


@pytest.mark.parametrize("context", [1_800, 2_500, 4_000, 6_000])
def test_a_conversation_stays_within_the_models_context(desk, context):
    wide = calling(
        *[("open", {"url": "http://e/b", "page": page}) for page in (1, 2, 3)], ("search", {"query": "zebra"})
    )

    def reply(body):
        if body.get("tool_choice") == "none":
            return "Enough."
        return script(SEARCH, wide)(body)

    (row,) = desk.rows(reply, context=context, rounds=20, calls=4, page_tokens=500)
    assert (row["answer"], row["status"]) == ("Enough.", "ok")
    assert all(prompt_tokens(body) <= context - 500 for body in desk.server.requests)
    assert len(desk.server.requests) < 21
    assert "answer the question now" in row["tool_calls"][-1]["result"]
    assert any("cut off here" in call["result"] for call in row["tool_calls"])
    # What was cut off has not been shown.
    assert all(passage["text"] in call["result"] for passage, call in _pages(row))


def _pages(row):
    shown = [
        call for call in row["tool_calls"] if call["result"].startswith("<page") and ">\n\n[cut" not in call["result"]
    ]
    return zip(row["passages"], shown, strict=True)


@pytest.mark.parametrize("context", [3_000, 4_000, 5_000, 6_000, 8_000])
@pytest.mark.parametrize("call", [SEARCH, opening("http://e/b")])
@pytest.mark.parametrize("length", [60, 200])
def test_thoughts_that_go_back_count_in_the_models_context(desk, context, call, length):
    thinking = dataclasses.replace(call, beside={"reasoning_content": "Zebras have stripes, they say. " * length})

    def reply(body):
        return "Enough." if body.get("tool_choice") == "none" else thinking

    (row,) = desk.rows(reply, context=context, rounds=20, page_tokens=500)
    assert (row["answer"], row["status"]) == ("Enough.", "ok")
    assert len(row["tool_calls"]) >= 1
    # Nobody knows how long the first ones will be.
    assert all(prompt_tokens(body) <= context - 500 for body in desk.server.requests[2:])


def test_a_question_that_fills_the_context_is_asked_without_tools(desk):
    (row,) = desk.rows(script("Seven."), context=700)
    assert (row["answer"], desk.server.requests[0]["tool_choice"]) == ("Seven.", "none")


def test_without_a_limit_on_answers_a_part_of_the_context_is_theirs(desk):
    (row,) = desk.rows(eager, context=3_000, rounds=20, sampling={})
    assert row["answer"] == "Enough."
    assert all(prompt_tokens(body) <= 3_000 * 3 / 4 for body in desk.server.requests)


def test_all_conversations_are_asked_in_each_round_at_once(desk):
    model = Model(lambda request: answered(text="Seven."))
    sizes = []
    ask = model.ask
    model.ask = lambda requests: sizes.append(len(requests)) or ask(requests)
    questions = [{"id": str(number), "question": f"{number}?", "language": None} for number in range(5)]
    rows = agentic(questions, model, prompt("answer/agentic"), desk.tools(), [1], rounds=3, calls=2)
    assert [row["answer"] for row in rows] == ["Seven."] * 5
    # Every round is there, for a bill to count.
    assert sizes == [5, 0, 0, 0]


def test_no_questions_no_rows(desk):
    assert desk.rows(script("Seven."), questions=0) == []


CALLS = st.builds(
    ToolCall,
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["search", "open", "", "Search", "other tool"]),
    st.text(max_size=12)
    | st.sampled_from(['{"query": "zebra"}', '{"url": "http://e/a"}', '{"url": "http://e/b", "page": 2}', "{}"])
    | st.dictionaries(st.sampled_from(["query", "url", "page"]), st.none() | st.text(max_size=5) | st.integers()).map(
        json.dumps
    ),
    st.none() | st.just(SIGNED),
)


@given(st.lists(st.lists(CALLS, max_size=4), max_size=4), st.integers(600, 8_000), st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_whatever_a_model_calls_every_call_is_answered_once(tmp_path_factory, turns, context, calls):
    desk = Desk(tmp_path_factory.mktemp("desk"), None)
    given_ = iter(turns)

    def reply(request):
        called = tuple(next(given_, ())) if request.offers_tools else ()
        return answered(text="" if called else "Seven.").__class__(
            "ok", "" if called else "Seven.", None, "", "", 100, 10, False, tool_calls=called
        )

    model = Model(reply, context=context)
    questions = [{"id": "q", "question": "What of zebras?", "language": "en"}]
    (row,) = rows = agentic(questions, model, prompt("answer/agentic"), desk.tools(), [1], rounds=3, calls=calls)
    assert_sound(rows, "answers")
    assert row["answer"] == "Seven."
    messages = model.requests[-1].messages
    for number, message in enumerate(messages):
        if message["role"] == "assistant":
            ids = [call["id"] for call in message["tool_calls"]]
            following = itertools.takewhile(lambda each: each["role"] == "tool", messages[number + 1 :])
            assert [each["tool_call_id"] for each in following] == ids
            assert len(set(ids)) == len(ids)
    assert len(row["tool_calls"]) == sum(message["role"] == "tool" for message in messages)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "prompts/answer/agentic/tools.yaml is missing"),
        ("- {name: search", "tools.yaml is no valid YAML"),
        ("{search: {}}", "must be a list of tools"),
        ("- {name: search, description: x}", "must be a list of tools"),
        ("- {name: search, description: x, parameters: {type: object}}", "must describe the tools search and open"),
    ],
)
def test_a_bad_description_of_the_tools_is_named(desk, tmp_path, text, says):
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    path = tmp_path / "prompts/answer/agentic/tools.yaml"
    before = Prompt(tmp_path / "prompts", "answer/agentic").files()
    path.unlink()
    if text is not None:
        path.write_text(text)
    mine = Prompt(tmp_path / "prompts", "answer/agentic")
    # What the recipe sees.
    assert "answer/agentic/tools.yaml" in before
    assert mine.files() != before
    with pytest.raises(UserError, match=says):
        agentic([], Model(lambda request: answered()), mine, desk.tools(), [1], rounds=1, calls=1)


def test_where_nothing_may_be_sent_only_what_is_kept_is_read(desk, tmp_path):
    lacking = []
    store = Store(tmp_path / "web")
    offline = Tools(
        SearxngEngine("http://127.0.0.1:9", 5, store, offline=True),
        WebFetcher(OPTIONS, store, offline=True),
        store,
        cleaning=CLEANING,
        results=5,
        page_tokens=300,
        lacks=lambda: lacking.append(1),
    )
    desk.server.reply = script(calling(("search", {"query": "a"}), ("search", {"query": "b"})), "Seven.")
    questions = [{"id": "q", "question": "?", "language": "en"}]
    with desk.server.chat(tmp_path / "cache") as chat:
        (row,) = agentic(questions, chat, prompt("answer/agentic"), offline, [1], rounds=3, calls=2)
    assert (row["status"], desk.server.count, lacking) == ("failed", 1, [1])
    assert not (tmp_path / "web").exists()
    assert offline.carry_out([Order(Open("http://e/a"), "x")]) == [None]
