"""What people are asked to decide: pairs in their order, and a stratified sample of graded answers."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decided import kept, verified
from devqa.allotting import allotted
from devqa.review.tasks import UNSUPPORTED, grades_to_review, pairs_to_review, unsupported
from devqa.steps import verify
from devqa.tables import SCHEMAS

CRITERIA = [{"criterion": "unambiguous", "passed": True, "reason": "so it is"}]


def checked(*pairs):
    return [{"pair_id": pair, "criteria": CRITERIA} for pair in pairs]


def test_the_verdicts_are_those_of_the_step():
    assert UNSUPPORTED == (verify.CONTRADICTED, verify.NOT_ENOUGH)


def test_what_failed_is_not_for_people():
    rows = [verified("a", None), verified("b", "contradicted"), verified("c"), verified("d", "not enough evidence")]
    assert [row["pair_id"] for row in unsupported(rows)] == ["b", "d"]


def test_pairs_that_the_evidence_did_not_support_come_first():
    rows = [
        verified("f"),
        verified("e", "not enough evidence"),
        verified("d", "contradicted"),
        verified("c", None),
        verified("b", "contradicted"),
        verified("a"),
    ]
    merged = kept([rows[0], rows[5]])
    found = pairs_to_review(merged, rows, checked("a", "b", "d", "f"))
    assert [(row["pair_id"], row["verdict"]) for row in found] == [
        ("b", "contradicted"),
        ("d", "contradicted"),
        ("e", "not enough evidence"),
        ("a", "supported"),
        ("f", "supported"),
    ]
    assert [row["criteria"] for row in found] == [CRITERIA, CRITERIA, None, CRITERIA, CRITERIA]
    assert [row.get("difficulty") for row in found] == [None, None, None, "hard", "hard"]
    assert found[3]["passages"] == rows[5]["passages"]
    pa.Table.from_pylist(found, schema=SCHEMAS["review"])


def test_a_pair_that_came_back_stays_where_it_was_with_the_answer_that_was_asked_about():
    rows = [verified("a"), verified("b", "contradicted")]
    back = {**rows[1], "answer": "another answer", "supports": []}
    found = pairs_to_review(kept([rows[0], back]), rows, checked("a", "b"))
    assert found == pairs_to_review(kept(rows[:1]), rows, checked("a", "b"))
    assert found[0]["answer"] == "the answer of b"


def graded(count, models=("gpt", "qwen"), settings=("plain",), repeats=1):
    """Questions, answers and grades; grades cycle through the three, in unequal parts."""
    names = [f"q{number:03}" for number in range(count)]
    questions = [{"id": name, "question": f"Why {name}?", "answer": name, "language": "en"} for name in names]
    runs = [
        {"id": name, "setting": setting, "model": model, "repeat": repeat}
        for name in names
        for model in models
        for setting in settings
        for repeat in range(1, repeats + 1)
    ]
    answers = [{**run, "answer": f"{run['model']} says {run['id']}", "status": "ok"} for run in runs]
    cycle = ["CORRECT"] * 6 + ["INCORRECT"] * 3 + ["NOT_ATTEMPTED"]
    grades = [
        {**run, "judge": "judge", "grade": cycle[int(run["id"][1:]) % 10], "status": "ok", "reason": ""} for run in runs
    ]
    return questions, answers, grades


def test_a_sample_has_each_stratum_in_proportion():
    found = grades_to_review(*graded(100), 40, seed=1)
    assert Counter((row["model"], row["grade"]) for row in found) == {
        (model, grade): count
        for model in ("gpt", "qwen")
        for grade, count in (("CORRECT", 12), ("INCORRECT", 6), ("NOT_ATTEMPTED", 2))
    }
    row = found[0]
    assert row["prediction"] == f"{row['model']} says {row['id']}"
    assert (row["question"], row["answer"], row["language"]) == (f"Why {row['id']}?", row["id"], "en")
    assert row["stratum"] == f"{row['model']} / plain / {row['grade']}"
    keys = [(row["id"], row["setting"], row["model"], row["repeat"]) for row in found]
    assert keys == sorted(keys)
    pa.Table.from_pylist(found, schema=SCHEMAS["review_grades"])


def test_without_a_grade_or_an_answer_there_is_nothing_to_grade():
    questions, answers, grades = graded(10, models=["gpt"])
    grades[0]["grade"] = None
    found = grades_to_review(questions[:8], answers[:6], grades, 100, seed=1)
    assert [row["id"] for row in found] == [f"q{number:03}" for number in range(1, 6)]
    assert grades_to_review(questions, answers, grades, 0, seed=1) == []
    assert grades_to_review([], [], [], 5, seed=1) == []


def test_another_seed_draws_others():
    one, other = (grades_to_review(*graded(100), 40, seed) for seed in (1, 2))
    assert one != other
    assert len(one) == len(other)


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 60), st.integers(1, 40), st.randoms())
def test_more_answers_push_out_no_more_than_they_bring_and_order_makes_no_difference(count, size, random):
    before = grades_to_review(*graded(count), size, seed=3)
    questions, answers, grades = graded(count + 10)
    after = grades_to_review(questions, answers, grades, size, seed=3)
    shuffled = (random.sample(rows, len(rows)) for rows in (questions, answers, grades))
    assert grades_to_review(*shuffled, size, seed=3) == after
    parts = [Counter(row["stratum"] for row in rows) for rows in (before, after)]
    new = {f"q{number:03}" for number in range(count, count + 10)}
    for name in parts[0]:
        drawn = [{(row["id"], row["model"]) for row in rows if row["stratum"] == name} for rows in (before, after)]
        pushed = len(drawn[0] - drawn[1])
        brought = sum(id in new for id, _ in drawn[1])
        assert pushed <= brought + max(0, parts[0][name] - parts[1][name])


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), max_size=8), st.integers(0, 300))
def test_a_sample_is_as_large_as_it_can_be_and_takes_no_more_than_there_is(strata, size):
    parts = allotted(strata, size)
    assert parts.keys() == strata.keys()
    assert sum(parts.values()) == min(size, sum(strata.values()))
    assert all(0 <= parts[name] <= strata[name] for name in strata)
    if size >= len(strata):
        assert all(part >= 1 for part in parts.values())
    assert parts == allotted(dict(reversed(strata.items())), size)


@pytest.mark.parametrize(
    ("strata", "size", "parts"),
    [
        ({"a": 90, "b": 9, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 50, "b": 50}, 11, {"a": 6, "b": 5}),
        ({"a": 9, "b": 9, "c": 2}, 2, {"a": 1, "b": 1, "c": 0}),
    ],
)
def test_how_a_sample_is_allotted(strata, size, parts):
    assert allotted(strata, size) == parts
