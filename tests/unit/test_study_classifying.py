"""sampled → classified."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.study import TASKS
from devqa.errors import UserError
from devqa.study.classifying import (
    CRITERIA,
    SUITABILITY_SCHEMA,
    UNRELATED,
    UNRELATED_REASON,
    suitability,
    task_schema,
    tasks,
)
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

KNOWLEDGE = "Dev Knowledge QA"


def dialogue(name, text="What does git stash do?"):
    return {
        "dialogue_id": name,
        "source": "mine",
        "language": "en",
        "model": "gpt-4",
        "origin": f"a.jsonl:{name}",
        "turns": 2,
        "characters": 100,
        "text": text,
        "stratum": "en short",
        "weight": 1.5,
        "status": "ok",
        "reason": "",
    }


def sorted_by_task(chat, *dialogues, categories=TASKS, knowledge=KNOWLEDGE):
    rows = tasks(dialogues, chat, prompt("study/tasks"), categories, knowledge, 600)
    assert_sound(rows, "classified")
    return rows


def held(chat, rows):
    rows = suitability(rows, chat, prompt("study/suitability"), KNOWLEDGE, 600)
    assert_sound(rows, "classified")
    return rows


def task(name, code_centred=False):
    return answered({"reason": "because", "task": name, "code_centred": code_centred})


def met(*values):
    return answered({name: {"reason": "because", "met": value} for name, value in zip(CRITERIA, values, strict=True)})


def test_each_dialogue_gets_one_task_and_keeps_its_weight():
    said = [task(KNOWLEDGE, True), task("Code Generation", True), task(UNRELATED)]
    rows = sorted_by_task(Model.saying(said), dialogue("c"), dialogue("a"), dialogue("b"))
    assert [
        (row["dialogue_id"], row["status"], row["reason"], row.get("task"), row.get("code_centred")) for row in rows
    ] == [
        ("a", "ok", "", KNOWLEDGE, True),
        # Only of questions about knowledge it is told whether they centre on code.
        ("b", "ok", "", "Code Generation", None),
        ("c", "rejected", UNRELATED_REASON, None, None),
    ]
    assert {row["weight"] for row in rows} == {1.5}


def test_the_categories_of_the_configuration_are_told_and_no_others(endpoint, tmp_path):
    endpoint.clear()
    categories = {"Asking": "wants to know", "Doing": ""}
    endpoint.reply = lambda body: {"reason": "", "task": "Asking", "code_centred": False}
    with endpoint.chat(tmp_path) as chat:
        (row,) = sorted_by_task(chat, dialogue("a"), categories=categories, knowledge="Asking")
    assert row["task"] == "Asking"
    (body,) = endpoint.requests
    assert body["response_format"]["json_schema"]["schema"] == task_schema(categories)
    told = body["messages"][0]["content"]
    assert "- Asking: wants to know\n- Doing\n- unrelated: " in told
    assert not [name for name in TASKS if name in str(body["messages"])]


def test_only_knowledge_questions_are_held_against_the_criteria():
    said = [task(KNOWLEDGE), task("Code Debugging"), task(KNOWLEDGE), answered(outcome="refused")]
    rows = sorted_by_task(Model.saying(said), *map(dialogue, "abcd"))
    model = Model.saying([met(True, False, True), met(True, True, True)], label="another")
    rows = held(model, rows)
    assert len(model.requests) == 2
    assert model.requests[0].schema == SUITABILITY_SCHEMA
    assert [[row.get(name) for name in CRITERIA] for row in rows] == [
        [True, False, True],
        [None, None, None],
        [True, True, True],
        [None, None, None],
    ]
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "failed"]
    # What both models took is counted apart, and together where it is one.
    assert [[each["model"] for each in row["usage"]] for row in rows][:2] == [["another", "stand-in"], ["stand-in"]]
    once = held(Model.saying([met(True, True, True)]), sorted_by_task(Model.saying([task(KNOWLEDGE)]), dialogue("a")))
    assert once[0]["usage"] == [{"model": "stand-in", **once[0]["usage"][0], "calls": 2}]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("{}"), "error"),
        (Reply({"reason": "", "task": "cooking", "code_centred": True}), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_a_task_that_can_t_be_read_is_none(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as chat:
        (row,) = sorted_by_task(chat, dialogue("a"))
    assert (row["status"], row["outcome"], row.get("task")) == ("failed", outcome, None)


def test_criteria_that_can_t_be_read_leave_the_task():
    rows = sorted_by_task(Model.saying([task(KNOWLEDGE, True)]), dialogue("a"))
    (row,) = held(Model.saying([answered(outcome="truncated")]), rows)
    assert (row["status"], row["task"], row["code_centred"]) == ("failed", KNOWLEDGE, True)
    assert [row.get(name) for name in CRITERIA] == [None] * 3


def test_variables_that_no_step_gives_are_named(tmp_path):
    broken = broken_prompt(tmp_path)
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        tasks([dialogue("a")], Model.saying([]), broken, TASKS, KNOWLEDGE, 600)
    rows = sorted_by_task(Model.saying([task(KNOWLEDGE)]), dialogue("a"))
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        suitability(rows, Model.saying([]), broken, KNOWLEDGE, 600)


TASK = st.builds(task, st.sampled_from([*TASKS, UNRELATED]), st.booleans())
MET = st.builds(met, st.booleans(), st.booleans(), st.booleans())


@given(st.lists(st.tuples(st.one_of(unusable(), TASK), st.one_of(unusable(), MET)), max_size=6))
def test_rows_in_are_rows_out_whatever_the_models_say(said):
    rows = sorted_by_task(Model.saying([first for first, _ in said]), *(dialogue(str(n)) for n in range(len(said))))
    asked = [second for first, second in said if first.outcome == "ok" and first.data["task"] == KNOWLEDGE]
    model = Model.saying(asked)
    rows = held(model, rows)
    assert len(rows) == len(said)
    assert len(model.requests) == len(asked)
    for row, (first, second) in zip(rows, said, strict=True):
        knows = first.outcome == "ok" and first.data["task"] == KNOWLEDGE
        assert (row.get("single_answer") is not None) == (knows and second.outcome == "ok")
        assert (row["status"] == "failed") == (first.outcome != "ok" or (knows and second.outcome != "ok"))
