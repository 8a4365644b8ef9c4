"""A benchmark from elsewhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.config.imports import AnswerColumns, BenchmarkColumns
from devqa.errors import UserError
from devqa.imports import benchmark as module
from devqa.imports.reading import Record


def imported(tmp_path, *rows, **columns):
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    section = BenchmarkColumns(**columns)
    return module.benchmark([str(path)], section.model_dump(), section.named())


def refusal(tmp_path, *rows, **columns):
    with pytest.raises(UserError) as caught:
        imported(tmp_path, *rows, **columns)
    return str(caught.value)


def test_a_row_with_everything(tmp_path):
    given_row = {
        "id": 7,
        "question": "Что делает git rebase?",
        "answer": "x",
        "language": "Russian",
        "difficulty": " Hard ",
    }
    given_row |= {"domain": "git", "source": "site", "dialogue_id": 12}
    (row,) = rows = imported(tmp_path, given_row)
    assert {key: value for key, value in row.items() if value != []} == {
        **given_row,
        "reviewed": "",
        "id": "7",
        "language": "ru",
        "difficulty": "hard",
        "dialogue_id": "12",
    }
    tables.write(rows, "benchmark", tmp_path / "benchmark.parquet")
    assert tables.read(tmp_path / "benchmark.parquet", "benchmark") == rows


def test_question_and_answer_are_enough(tmp_path):
    (row,) = imported(
        tmp_path, {"problem": "How do I undo the last commit?", "gold": None}, question="problem", answer="gold"
    )
    assert (row["answer"], row["language"], row["difficulty"], row["domain"]) == ("", "en", None, None)
    assert len(row["id"]) == 16


@pytest.mark.parametrize(
    ("said", "code"), [("Chinese", "zh"), ("zh-CN", "zh"), ("en", "en"), ("?", "ru"), (None, "ru")]
)
def test_languages_are_codes_and_those_unknown_are_detected(tmp_path, said, code):
    (row,) = imported(tmp_path, {"question": "Почему это не работает?", "answer": "", "language": said})
    assert row["language"] == code


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", None])), min_size=1, max_size=12))
def test_made_ids_are_unique_and_those_of_a_row_stay_when_rows_are_added(pairs):
    def ids(pairs):
        given_rows = [
            Record("f", number, {"question": question, "answer": answer})
            for number, (question, answer) in enumerate(pairs)
        ]
        return module._made(given_rows)

    found = ids(pairs)
    assert len(set(found)) == len(pairs)
    assert ids([("new", "x"), *pairs, ("a", "new")])[1:-1] == found


def test_text_that_moves_between_question_and_answer_makes_another_id(tmp_path):
    one, other = imported(tmp_path, {"question": "ab", "answer": "c"}, {"question": "a", "answer": "bc"})
    assert one["id"] != other["id"]


def test_rows_stay_in_their_order(tmp_path):
    rows = imported(tmp_path, *({"id": each, "question": each, "answer": ""} for each in "cab"))
    assert [row["id"] for row in rows] == ["c", "a", "b"]


def test_rows_that_cannot_be_asked_are_named(tmp_path):
    good = {"id": "1", "question": "x", "answer": "y"}
    assert "2 of 3 rows of evaluation.benchmark have no question: " in refusal(
        tmp_path, good, {**good, "id": "2", "question": " "}, {"id": "3", "answer": "y"}
    )
    assert "bench.jsonl, row 2; " in refusal(tmp_path, good, good | {"question": ""}, good | {"question": None})
    assert "2 of 3 rows of evaluation.benchmark have an id that comes twice" in refusal(
        tmp_path, good, good, good | {"id": "2"}
    )
    assert "1 of 2 rows of evaluation.benchmark have no id: " in refusal(
        tmp_path, good, {"question": "x", "answer": "y"}
    )
    message = refusal(tmp_path, good | {"difficulty": "medium"})
    assert "a difficulty that is not easy or hard" in message
    assert "null for none" in message
    many = refusal(tmp_path, *([{"question": "", "answer": ""}] * 12))
    assert many.count("row ") == 10
    assert "and 2 more" in many


def test_a_column_can_be_left_out(tmp_path):
    row = {"id": "1", "question": "x", "answer": "y", "difficulty": "7 of 10"}
    rows = imported(tmp_path, row, row, id=None, difficulty=None)
    assert [each["difficulty"] for each in rows] == [None, None]
    assert rows[1]["id"] == f"{rows[0]['id']}-2"


def test_columns_that_are_named_must_be_there(tmp_path):
    row = {"question": "x", "answer": "y"}
    assert "no column 'lang' for language" in refusal(tmp_path, row, language="lang")
    assert "no column 'answer' for answer" in refusal(tmp_path, {"question": "x"})
    with pytest.raises(ValueError, match="'x' is named for two things"):
        BenchmarkColumns(question="x", answer="x")


def test_columns_mean_the_same_once_they_were_written_out():
    columns = AnswerColumns(prediction="answer", grade="g", id=None)
    again = AnswerColumns(**columns.model_dump())
    assert columns.named() == again.named() == ["grade", "prediction"]
