"""unique → filtered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.study.filtering import OFF_TOPIC, SCHEMA, about_development
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable


def dialogue(name, text="How do I undo a commit?"):
    return {
        "dialogue_id": name,
        "source": "mine",
        "language": "en",
        "model": "gpt-4",
        "origin": f"a.jsonl:{name}",
        "turns": 2,
        "characters": 100,
        "topic_score": 0.9,
        "text": text,
        "scrubbed": ["email"],
        "status": "ok",
        "reason": "",
    }


def filtered(chat, *dialogues, tokens=600):
    rows = about_development(dialogues, chat, prompt("study/filter"), tokens)
    assert_sound(rows, "filtered")
    return rows


def test_what_the_model_takes_for_something_else_is_rejected(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = filtered(chat, dialogue("b", "Wish me a happy birthday"), dialogue("a"))
    assert [(row["dialogue_id"], row["status"], row["reason"]) for row in rows] == [
        ("a", "ok", ""),
        ("b", "rejected", OFF_TOPIC),
    ]
    assert all(row["text"] and row["origin"] and row["usage"][0]["calls"] == 1 for row in rows)
    assert endpoint.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_the_model_sees_the_text_alone_and_not_too_much_of_it(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        filtered(chat, dialogue("secret-id", "word " * 2_000), tokens=100)
    said = str(endpoint.requests[0]["messages"][-1]["content"])
    assert "<said_by_user>\nword word" in said
    assert said.count("word") < 100
    assert "secret-id" not in str(endpoint.requests[0]["messages"])


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"about_development": "perhaps", "reason": ""}, "error"),
        (Reply(None, refusal="no"), "refused"),
        (Reply({"reason": "", "about_development": False}, finish_reason="length"), "truncated"),
        (Reply(" "), "empty"),
    ],
)
def test_an_answer_that_can_t_be_used_neither_passes_nor_rejects(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as chat:
        (row,) = filtered(chat, dialogue("a"))
    assert (row["status"], row["outcome"]) == ("failed", outcome)
    assert row["reason"].startswith(f"{outcome}: ")


def test_variables_that_no_step_gives_are_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        about_development([dialogue("a")], Model.saying([]), broken_prompt(tmp_path), 600)


SAID = st.booleans().map(lambda about: answered({"reason": "", "about_development": about}))


@given(st.lists(st.one_of(unusable(), SAID), max_size=6))
def test_no_row_is_lost_or_doubled(said):
    rows = filtered(Model.saying(said), *(dialogue(str(number)) for number in reversed(range(len(said)))))
    assert [row["dialogue_id"] for row in rows] == [str(number) for number in range(len(said))]
    for row, answer in zip(rows, said, strict=True):
        expected = "failed" if answer.outcome != "ok" else "ok" if answer.data["about_development"] else "rejected"
        assert row["status"] == expected
