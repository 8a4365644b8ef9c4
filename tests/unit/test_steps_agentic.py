"""benchmark → answers, in the setting `agentic`: the conversation."""

import json
import re

import pytest

from conversing import SEARCH, SIGNED, calling, eager, opening, results, script
from scripted import Reply


def test_a_model_searches_opens_a_page_and_answers(desk):
    (row,) = desk.rows(script(SEARCH, opening("http://e/a"), "Seven."))
    assert (row["answer"], row["setting"], row["model"], row["repeat"]) == ("Seven.", "agentic", "scripted", 1)
    assert [(call["round"], call["tool"], call["outcome"]) for call in row["tool_calls"]] == [
        (1, "search", "ok"),
        (2, "open", "ok"),
    ]
    assert json.loads(row["tool_calls"][1]["arguments"]) == {"url": "http://e/a"}
    assert "1. Title of http://e/a\n   http://e/a\n" in row["tool_calls"][0]["result"]
    (passage,) = row["passages"]
    assert (passage["url"], passage["score"]) == ("http://e/a", None)
    assert passage["text"] in row["tool_calls"][1]["result"]
    assert 'part="1 of 1"' in row["tool_calls"][1]["result"]
    assert desk.web.asked == ["zebra", "http://e/a"]


def test_the_conversation_is_one_that_endpoints_take(desk):
    desk.rows(script(SEARCH, calling(("open", {"url": "http://e/a"}), ("search", {"query": "zebra"})), "Seven."))
    messages = desk.server.requests[-1]["messages"]
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
    ]
    for number, message in enumerate(messages):
        ids = [call["id"] for call in message.get("tool_calls", [])]
        assert [each["tool_call_id"] for each in messages[number + 1 : number + 1 + len(ids)]] == ids
    names = [tool["function"]["name"] for tool in desk.server.requests[0]["tools"]]
    assert names == ["search", "open"]
    assert all("tool_choice" not in body for body in desk.server.requests)


def exacting(*replies):
    """An endpoint that refuses a conversation unless it gets back, where it was, all that it attached to its calls."""
    said = script(*replies)

    def reply(body):
        before = [message for message in body["messages"] if message["role"] == "assistant"]
        for message, sent in zip(before, replies, strict=False):
            in_calls = sent.in_calls or [{}] * len(sent.tool_calls)
            calls = [{"id": "", "type": "", "function": {}, **more} for more in in_calls]
            if not _same(message, {"role": "", "content": "", "tool_calls": [], **sent.beside}):
                return Reply(status=400, error="the message's reasoning must be passed back")
            if not all(map(_same, message["tool_calls"], calls)):
                return Reply(status=400, error="Function call is missing a thought_signature")
        return said(body)

    return reply


def _same(got, wanted):
    """Are the fields the same, and the values of those that were attached?"""
    ours = ("role", "content", "tool_calls", "id", "type", "function")
    return got.keys() == wanted.keys() and all(got[name] == wanted[name] for name in wanted if name not in ours)


@pytest.mark.parametrize(
    "attached",
    [
        {},
        {"in_calls": [SIGNED, {}]},
        {"in_calls": [{"provider_specific_fields": {"thought_signature": "c2ln"}}, SIGNED]},
        {"beside": {"reasoning_content": "I had better look."}},
        {"beside": {"reasoning_content": ""}},
        {"beside": {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "ZW5j"}]}},
        {"beside": {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]}},
    ],
)
def test_an_endpoint_gets_back_what_it_attached_to_its_calls_and_nothing_else(desk, attached):
    first = calling(("search", {"query": "zebra"}), ("search", {"query": "horse"}), **attached)
    said = exacting(first, opening("http://e/a"), Reply("Seven.", reasoning="Now I know."))
    (row,) = rows = desk.rows(said)
    assert (row["answer"], row["status"], desk.server.count) == ("Seven.", "ok", 3)
    assert len(row["tool_calls"]) == 3
    # And from the cache: the second round's request is the one that was sent.
    desk.server.clear()
    assert desk.rows(said) == rows
    assert desk.server.count == 0


def test_a_signature_that_is_too_long_is_not_cut(desk, caplog):
    signed = {"extra_content": {"google": {"thought_signature": "c2ln" * (1 << 19)}}}
    said = script(calling(("search", {"query": "zebra"}), in_calls=[signed]), "Seven.")
    (row,) = desk.rows(said)
    assert row["answer"] == "Seven."
    (echo,) = desk.server.requests[-1]["messages"][2]["tool_calls"]
    assert echo.keys() == {"id", "type", "function"}
    assert "the extra_content of a message with calls of tools is not kept" in caplog.text


def test_usage_and_tokens_are_those_of_all_rounds(desk):
    (row,) = desk.rows(script(SEARCH, opening("http://e/a"), Reply("Seven.", reasoning="x" * 40)))
    (usage,) = row["usage"]
    assert (usage["model"], usage["calls"], usage["reasoning_tokens"]) == ("scripted", 3, 10)
    for name in ("input_tokens", "output_tokens", "reasoning_tokens"):
        assert row[name] == usage[name] > 0


@pytest.mark.parametrize("uncounted", [0, 1, 2])
def test_without_a_count_in_one_round_there_is_none(desk, uncounted):
    said = [SEARCH, opening("http://e/a"), Reply("Seven.")]
    said[uncounted] = Reply(said[uncounted].text, tool_calls=said[uncounted].tool_calls, usage=None)
    (row,) = desk.rows(script(*said))
    assert (row["status"], row["input_tokens"], row["output_tokens"], row["reasoning_tokens"]) == (
        "ok",
        None,
        None,
        None,
    )
    assert (row["usage"][0]["calls"], row["usage"][0]["uncounted"]) == (3, 1)


def test_an_answer_at_once_is_one_request(desk):
    (row,) = desk.rows(script("Seven."))
    assert (row["answer"], row["tool_calls"], row["passages"], desk.server.count) == ("Seven.", [], [], 1)


def test_after_the_last_round_the_model_must_answer(desk):
    (row,) = desk.rows(eager, rounds=2)
    assert (row["answer"], row["status"]) == ("Enough.", "ok")
    assert [call["round"] for call in row["tool_calls"]] == [1, 2]
    assert [body.get("tool_choice") for body in desk.server.requests] == [None, None, "none"]
    assert all(body["tools"] == desk.server.requests[0]["tools"] for body in desk.server.requests)
    assert [("answer the question now" in call["result"]) for call in row["tool_calls"]] == [False, True]


def test_a_model_that_calls_even_then_has_not_answered(desk):
    (row,) = desk.rows(script(SEARCH), rounds=1)
    assert (row["outcome"], row["status"], len(row["tool_calls"]), desk.server.count) == ("error", "failed", 1, 2)
    assert "called a tool instead of answering" in row["reason"]


def test_of_one_message_so_many_calls_are_carried_out(desk):
    many = calling(*[("search", {"query": f"zebra {number}"}) for number in range(5)])
    (row,) = desk.rows(script(many, "Seven."), calls=2)
    assert desk.web.asked == ["zebra 0", "zebra 1"]
    outcomes = [outcome for _, outcome in results(row)]
    assert outcomes[:2] == ["the search found nothing"] * 2
    assert all("at most 2 calls" in outcome for outcome in outcomes[2:])
    assert len(outcomes) == 5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (("search", "{broken"), "no JSON object"),
        (("search", '["zebra"]'), "no JSON object"),
        (("search", ""), "the query is missing"),
        (("search", {}), "the query is missing"),
        (("search", {"query": " \n"}), "the query is missing"),
        (("search", {"query": 7}), "the query is missing"),
        (("search", {"query": "z" * 401}), "longer than 400 characters"),
        (("search", '{"query": "\\ud800"}'), "no JSON object"),
        (("open", {}), "the url is missing"),
        (("open", {"url": None}), "the url is missing"),
        (("open", {"url": "http://e/a", "page": 0}), "page must be a number"),
        (("open", {"url": "http://e/a", "page": True}), "page must be a number"),
        (("open", {"url": "http://e/a", "page": 1.5}), "page must be a number"),
        (("open", {"url": "http://e/a", "page": "two"}), "page must be a number"),
        (("open", {"url": "http://e/a"}), "no search has found this address"),
        (("", {}), "there is no tool ''"),
        (("rm -rf /; " * 50, "{"), "there is no tool 'rm -rf /;"),
    ],
)
def test_a_call_that_can_t_be_carried_out_is_answered_and_costs_nothing_else(desk, call, says):
    (row,) = desk.rows(script(calling(call), "I do not know."))
    assert (row["answer"], row["status"]) == ("I do not know.", "ok")
    assert desk.web.asked == []
    (logged,) = row["tool_calls"]
    assert says in logged["outcome"]
    assert logged["result"] == f"No result: {logged['outcome']}."
    assert logged["tool"] == call[0]
    (echo,) = desk.server.requests[-1]["messages"][2]["tool_calls"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", echo["function"]["name"])
    assert isinstance(json.loads(echo["function"]["arguments"]), dict)


def test_ids_that_are_empty_or_come_twice_are_made_anew(desk):
    twice = calling(*[("search", {"query": "zebra"})] * 4, call_ids=["x", "x", "", "call00001"])
    (row,) = desk.rows(script(twice, twice, "Seven."), calls=4)
    assert row["answer"] == "Seven."
    messages = desk.server.requests[-1]["messages"]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert len(ids) == len(set(ids)) == 8
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids
    assert {"x", "call00001"} <= set(ids)
    assert all(re.fullmatch(r"x|call\d{5}", id) for id in ids)


def test_words_beside_a_call_stay_in_the_conversation_and_are_no_answer(desk):
    (row,) = desk.rows(script(calling(("search", {"query": "zebra"}), text="Let me look."), "Seven."))
    assert row["answer"] == "Seven."
    assert desk.server.requests[-1]["messages"][2]["content"] == "Let me look."
