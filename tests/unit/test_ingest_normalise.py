import hashlib
import json
import math

import pytest

from devqa import tables
from devqa.ingest.normalise import kind, normalise
from devqa.ingest.record import Record

LIMITS = {"max_message_characters": 100, "max_dialogue_characters": 250}
QUESTION = "How do I undo the last commit in git?"


def row_of(value, problem=""):
    row = normalise(Record(7, value, problem), "a.jsonl", "web", LIMITS)
    assert set(row) == set(tables.SCHEMAS["dialogues"].names)
    assert (row["source"], row["origin"]) == ("web", "a.jsonl:7")
    return row


def rejected(value):
    row = row_of(value)
    assert (row["status"], row["messages"]) == ("rejected", [])
    return row


def dialogue(*contents, **fields):
    roles = ["user", "assistant"] * len(contents)
    return {"conversation": [{"role": r, "content": c} for r, c in zip(roles, contents, strict=False)], **fields}


def test_wildchat():
    header = {"accept-language": "en-US", "user-agent": "Mozilla/5.0"}
    value = {
        "conversation_hash": "cfe1f1",
        "model": "gpt-4-0314",
        "timestamp": "2023-04-09T00:02:53+00:00",
        "conversation": [
            {"role": "user", "content": QUESTION, "language": "English", "toxic": True, "header": header, "turn": 1},
            {"role": "assistant", "content": "git reset HEAD~1", "timestamp": None, "redacted": False},
        ],
        "turn": 9,  # not the number of turns: in real data it need not be
        "language": "English",
        "openai_moderation": [{"categories": {"hate": False}}],
        "toxic": True,
        "redacted": True,
    }
    assert row_of(value) == {
        "dialogue_id": "cfe1f1",
        "source": "web",
        "language": "en",
        "model": "gpt-4-0314",
        "origin": "a.jsonl:7",
        "messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "git reset HEAD~1"}],
        "status": "ok",
        "reason": "",
    }


def test_sharegpt():
    names = ["system", "human", "gpt", "user", "chatgpt", "Human", "bard", "observation"]
    row = row_of({"id": "QWJhYvA_0", "conversations": [{"from": name, "value": f"{name} says"} for name in names]})
    expected = ["system", "user", "assistant", "user", "assistant", "user", "assistant", "tool"]
    assert [message["role"] for message in row["messages"]] == expected
    assert [message["content"] for message in row["messages"]] == [f"{name} says" for name in names]
    assert row["dialogue_id"] == "QWJhYvA_0"


def test_messages_with_parts_and_tool_calls():
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:x"}},
        {"type": "text", "text": "And why?"},
    ]
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "42"},
    ]
    assert row_of({"messages": messages})["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?\nAnd why?"},
        {"role": "tool", "content": "42"},
    ]


def test_names_of_one_form_in_a_field_of_another():
    assert row_of({"conversations": [{"role": "user", "content": QUESTION}]})["status"] == "ok"
    assert row_of({"messages": [{"from": "human", "value": QUESTION}]})["status"] == "ok"


def test_null_fields_of_a_parquet_row_do_not_hide_those_that_are_filled():
    turn = {"role": None, "content": None, "from": "human", "value": QUESTION}
    value = {"conversation": None, "conversations": [turn], "conversation_hash": None, "id": 12, "model": None}
    row = row_of(value)
    assert (row["status"], row["dialogue_id"], row["model"]) == ("ok", "12", "")


def test_without_an_id_the_messages_decide_it():
    first, again = row_of(dialogue(QUESTION, language="English")), row_of(dialogue(QUESTION, id="", model="other"))
    assert first["dialogue_id"] == again["dialogue_id"]
    assert first["dialogue_id"] != row_of(dialogue(QUESTION + " "))["dialogue_id"]
    text = f'[{{"content":"{QUESTION}","role":"user"}}]'
    assert first["dialogue_id"] == hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    ("stated", "content", "expected"),
    [
        ("Russian", QUESTION, "ru"),
        ("zh-CN", QUESTION, "zh"),
        (None, QUESTION, "en"),
        (math.nan, "Почему это не работает?", "ru"),
        ("Nolang", "这段代码有什么问题？", "zh"),
        ("Klingon", "x = 1", ""),
    ],
)
def test_the_language_is_the_stated_one_or_that_of_the_user(stated, content, expected):
    assert row_of(dialogue(content, "Das ist eine Antwort auf Deutsch.", language=stated))["language"] == expected


def test_empty_turns_are_left_out_and_the_rest_stays_as_it_is():
    row = row_of(dialogue(" a\n", "", "\t\n", "b", None, "", "c \ufffd"))
    expected = [("user", " a\n"), ("assistant", "b"), ("user", "c \ufffd")]
    assert [(message["role"], message["content"]) for message in row["messages"]] == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not an object: null"),
        ([dialogue(QUESTION)], "not an object: a list"),
        ("text", "not an object: text"),
        (1, "not an object: a number"),
        (True, "not an object: true or false"),
        ({}, "no conversation: none of the fields conversation, conversations, messages"),
        ({"id": "1", "prompt": "x"}, "no conversation: none of the fields conversation, conversations, messages"),
        ({"conversation": []}, "no user turn"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "no user turn"),
        (dialogue("", "x", " \n"), "empty user turns"),
        (dialogue([]), "empty user turns"),
        ({"conversation": "[]"}, "wrong type: 'conversation' is text, not a list"),
        ({"conversations": {"from": "human"}}, "wrong type: 'conversations' is an object, not a list"),
        ({"messages": ["hi"]}, "wrong type: turn 1 is text, not an object"),
        ({"messages": [None]}, "wrong type: turn 1 is null, not an object"),
        ({"messages": [{"content": "x"}]}, "wrong type: role of turn 1 is null, not text"),
        ({"messages": [{"role": 1, "content": "x"}]}, "wrong type: role of turn 1 is a number, not text"),
        ({"messages": [{"role": "narrator\ud800", "content": "x"}]}, "unknown role: 'narrator\\ud800' in turn 1"),
        (dialogue("x", 5), "wrong type: content of turn 2 is a number, not text"),
        (dialogue({"text": "x"}), "wrong type: content of turn 1 is an object, not text"),
        (dialogue([{"type": "text", "text": ["x"]}]), "wrong type: a part of turn 1 is a list, not text"),
        (dialogue([None]), "wrong type: a part of turn 1 is null, not text"),
        (dialogue(QUESTION, id=1.5), "wrong type: 'id' is a number, not text"),
        (dialogue(QUESTION, id=True), "wrong type: 'id' is true or false, not text"),
        (dialogue(QUESTION, language=["en"]), "wrong type: 'language' is a list, not text"),
        (dialogue(QUESTION, model={"name": "x"}), "wrong type: 'model' is an object, not text"),
        (dialogue(QUESTION, model="m" * 201), "field too long: 'model' has more than 200 characters"),
        (dialogue("half a smile \ud83d"), "lone surrogate: half a character in turn 1"),
        (dialogue(QUESTION, model="\udc00"), "lone surrogate: half a character in 'model'"),
        (dialogue(QUESTION, "a\0b"), "NUL character: in turn 2"),
        (dialogue("x" * 101), "message too long: more than 100 characters"),
        (dialogue("x" * 100, "y" * 100, "z" * 51), "dialogue too long: more than 250 characters"),
    ],
)
def test_what_is_no_usable_dialogue_is_rejected_with_its_reason(value, reason):
    row = rejected(value)
    assert row["reason"] == reason
    json.dumps(row, ensure_ascii=False).encode("utf-8")


def test_messages_at_the_limits_are_taken():
    assert row_of(dialogue("x" * 100, "y" * 100, "z" * 50))["status"] == "ok"


def test_a_rejected_row_keeps_its_id_where_it_has_a_usable_one():
    assert rejected(dialogue("", id="abc"))["dialogue_id"] == "abc"
    assert rejected(dialogue("", id="a\ud800"))["dialogue_id"] == "a.jsonl:7"
    assert rejected(dialogue(QUESTION, id="a" * 201))["dialogue_id"] == "a.jsonl:7"
    assert rejected(dialogue(""))["dialogue_id"] == "a.jsonl:7"


def test_a_record_that_could_not_be_read_says_why():
    row = row_of(None, "broken JSON: Expecting value at character 1")
    assert (row["status"], row["dialogue_id"]) == ("rejected", "a.jsonl:7")
    assert kind(row["reason"]) == "broken JSON"
    assert kind("no user turn") == "no user turn"
