"""benchmark → answers → grades."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.evaluation.grading import GRADES
from devqa.steps.answer import answer
from devqa.steps.grade import grade
from devqa.steps.questions import asked
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable


def question(name, text=None, target="1m", difficulty="easy"):
    return {"id": name, "question": text or f"What of {name}?", "answer": target, "difficulty": difficulty}


def given_answer(name, text="one megabyte", status="ok", repeat=1):
    return {"id": name, "setting": "plain", "model": "m", "repeat": repeat, "answer": text, "status": status}


def answers_of(chat, *questions, repeat=1):
    rows = answer(questions, chat, prompt("answer/plain"), "plain", repeat)
    assert_sound(rows, "answers")
    return rows


def grades_of(judge, questions, answers):
    rows = grade(questions, answers, judge, prompt("judge"))
    assert_sound(rows, "grades")
    return rows


def test_every_question_is_asked_as_it_stands_and_its_tokens_are_kept(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = answers_of(chat, question("b"), question("a"))
    assert [(row["id"], row["model"], row["setting"], row["repeat"]) for row in rows] == [
        ("b", "scripted", "plain", 1),
        ("a", "scripted", "plain", 1),
    ]
    assert {body["messages"][-1]["content"] for body in endpoint.requests} == {"What of a?", "What of b?"}
    for row in rows:
        assert (row["input_tokens"], row["output_tokens"]) == (
            row["usage"][0]["input_tokens"],
            row["usage"][0]["output_tokens"],
        )
        assert row["input_tokens"] > 0


def test_thoughts_are_counted_and_where_nobody_counted_there_are_no_tokens():
    thinking, uncounted = (replace(answered(), **more) for more in ({"reasoning_tokens": 7}, {"counted": False}))
    uncounted = replace(uncounted, input_tokens=0, output_tokens=0)
    rows = answers_of(Model.saying([thinking, uncounted]), question("a"), question("b"))
    tokens = [tuple(row[key] for key in ("input_tokens", "output_tokens", "reasoning_tokens")) for row in rows]
    assert tokens == [(100, 10, 7), (None, None, None)]
    assert [row["usage"][0]["uncounted"] for row in rows] == [0, 1]


def test_each_repeat_is_a_draw_of_its_own_and_the_same_repeat_is_not_paid_again(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        for repeat in (1, 2, 1):
            answers_of(chat, question("a"), repeat=repeat)
    assert endpoint.count == 2


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("A", finish_reason="length"), "truncated"),
        (Reply(" "), "empty"),
        (Reply("<think>hm</think>"), "empty"),
        (Reply(status=400), "error"),
    ],
)
def test_an_answer_that_can_t_be_used_is_kept_as_what_it_is_and_never_graded(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    judge = Model.saying([])
    with endpoint.chat(tmp_path) as chat:
        (row,) = answers_of(chat, question("a"))
    assert (row["outcome"], row["status"]) == (outcome, "failed")
    (graded,) = grades_of(judge, [question("a")], [row])
    assert (graded["grade"], graded["status"], graded["reason"]) == (None, "failed", "there is no answer to grade")
    assert (graded["usage"], graded.get("outcome")) == ([], None)


@pytest.mark.parametrize(
    ("said", "grade", "outcome"),
    [
        ("A", "CORRECT", "ok"),
        ("<think>A…</think>B", "INCORRECT", "ok"),
        ("Not attempted.", "NOT_ATTEMPTED", "ok"),
        ("What a question!", None, "ok"),
        ("A or B", None, "ok"),
        (Reply(None, refusal="I can't judge that"), None, "refused"),
        (Reply("A", finish_reason="content_filter"), None, "refused"),
        (Reply("A", finish_reason="length"), None, "truncated"),
        (Reply("\n"), None, "empty"),
        (Reply(status=400), None, "error"),
    ],
)
def test_a_grade_is_what_the_judge_said_in_full_or_none(endpoint, tmp_path, said, grade, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as judge:
        (row,) = grades_of(judge, [question("a")], [given_answer("a")])
    assert (row["grade"], row["outcome"]) == (grade, outcome)
    assert row["status"] == ("ok" if grade else "failed")
    assert row["usage"][0]["calls"] == 1


def test_the_judge_sees_question_true_answer_and_answer_and_the_same_is_judged_once(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = lambda body: "A"
    answers = [given_answer("a", "x<y", repeat=1), given_answer("a", "x<y", repeat=2), given_answer("b", "x<y")]
    with endpoint.chat(tmp_path) as judge:
        rows = grades_of(judge, [question("a"), question("b")], answers)
    assert [(row["id"], row["repeat"]) for row in rows] == [("a", 1), ("a", 2), ("b", 1)]
    assert endpoint.count == 2
    last = endpoint.requests[0]["messages"][-1]["content"]
    assert "<true_answer>1m</true_answer>" in last
    assert "<answer>x<y</answer>" in last


def test_no_questions_no_requests():
    assert answers_of(Model.saying([])) == []
    assert grades_of(Model.saying([]), [], []) == []


def test_variables_that_no_step_gives_are_named(tmp_path):
    broken = broken_prompt(tmp_path)
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        answer([question("a")], Model.saying([]), broken, "plain", 1)
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        grade([question("a")], [given_answer("a")], Model.saying([]), broken)


def test_only_the_difficulties_that_are_wanted_are_asked():
    rows = [question("a"), question("b", difficulty="hard"), question("c")]
    assert [row["id"] for row in asked(rows, ["easy"])] == ["a", "c"]
    assert asked(rows, ["easy", "hard"]) == rows


SAID = st.sampled_from(["A", "B", "C", "CORRECT", "hm", "A or B"]).map(lambda text: answered(text=text))


@given(st.lists(st.tuples(st.one_of(unusable(), SAID), st.one_of(unusable(), SAID)), max_size=6))
def test_rows_in_are_rows_out_whatever_models_and_judge_say(said):
    questions = [question(f"q{number}") for number in range(len(said))]
    answers = answers_of(Model.saying([first for first, _ in said]), *questions)
    # Only usable answers come before the judge.
    verdicts = [second for first, second in said if first.outcome == "ok"]
    judge = Model.saying(verdicts)
    grades = grades_of(judge, questions, answers)
    assert [row["id"] for row in answers] == [row["id"] for row in grades] == [row["id"] for row in questions]
    assert len(judge.requests) == len(verdicts)
    for answer_row, grade_row in zip(answers, grades, strict=True):
        assert (grade_row["status"] == "ok") == (grade_row["grade"] in GRADES)
        assert grade_row["grade"] is None or answer_row["status"] == "ok"
