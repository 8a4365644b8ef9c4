"""Grades that people gave on the page of review, as people's grades of the evaluation."""

import pytest

from devqa import tables
from devqa.config.imports import HumanGrades
from devqa.errors import UserError
from devqa.review.grades import people_grades
from devqa.tables import SCHEMAS


def decided(number, person, grade, role="annotator", **more):
    key = {"id": f"r{number}", "setting": "plain", "model": "m", "repeat": 2}
    labels = {"annotator": person, "role": role, "grade": grade, "decided_at": "2026-11-01T00:00:00Z"}
    return dict.fromkeys(SCHEMAS["grade_decisions"].names) | key | labels | more


def grades_of(tmp_path, rows, annotators=2):
    file = str(tmp_path / "grades.parquet")
    tables.write(rows, "grade_decisions", file)
    section = {**HumanGrades(path=file).model_dump(), "annotators": annotators}
    return people_grades([file], section), people_grades([file], HumanGrades(path=file).model_dump())


def test_an_answer_has_the_grade_that_is_settled(tmp_path):
    rows = [decided(0, "ann", "CORRECT"), decided(0, "bob", "CORRECT")]
    rows += [
        decided(1, "ann", "CORRECT"),
        decided(1, "bob", "INCORRECT"),
        decided(1, "eve", "INCORRECT", "adjudicator"),
    ]
    # Disputed, and begun.
    rows += [decided(2, "ann", "CORRECT"), decided(2, "bob", "INCORRECT"), decided(3, "ann", "NOT_ATTEMPTED")]
    held, each = grades_of(tmp_path, rows)
    assert [(row["id"], row["grade"]) for row in held] == [
        ("r0", "CORRECT"),
        ("r1", "INCORRECT"),
        ("r3", "NOT_ATTEMPTED"),
    ]
    assert held[0].keys() == each[0].keys()
    assert (held[0]["model"], held[0]["setting"], held[0]["repeat"]) == ("m", "plain", 2)
    # A file that the configuration names is taken as it is: each person's grade.
    assert len(each) == len(rows)


def test_one_answer_in_two_repeats_is_two_answers(tmp_path):
    rows = [decided(0, "ann", "CORRECT", repeat=1), decided(0, "ann", "INCORRECT", repeat=2)]
    held, _ = grades_of(tmp_path, rows, annotators=1)
    assert [(row["repeat"], row["grade"]) for row in held] == [(1, "CORRECT"), (2, "INCORRECT")]


def test_a_grade_that_is_none_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"grades\.parquet.*r0.*ann"):
        grades_of(tmp_path, [decided(0, "ann", "GOOD")])
