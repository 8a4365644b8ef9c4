"""Answers from elsewhere: which row of the benchmark each belongs to, and what becomes of it."""

import csv
import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.config.imports import AnswerColumns, BenchmarkColumns
from devqa.errors import UserError
from devqa.evaluation.metrics import fate, figures
from devqa.imports.answers import MISSING, UNMATCHED, imported
from devqa.imports.benchmark import benchmark
from devqa.imports.matching import match
from devqa.imports.reading import Record
from devqa.steps.questions import asked

PUBLISHED = Path(__file__).parents[3] / "shared/data/simpledevqa"
BOTH = ["easy", "hard"]


def bench(*rows):
    """Rows of a benchmark from (question, gold answer, difficulty)."""
    return [
        {"id": f"b{number}", "question": question, "answer": answer, "difficulty": (*more, None)[0]}
        for number, (question, answer, *more) in enumerate(rows)
    ]


def matched(rows, given_rows, asked_ids=None):
    """{id: number of the row}, and {number: reason} of those that match nothing."""
    given_records = [Record("f.csv", number, values) for number, values in enumerate(given_rows)]
    found = match(given_records, rows, {row["id"] for row in rows} if asked_ids is None else asked_ids)
    by_id = {row: record.number for row, record in found.by_id.items()}
    return by_id, {record.number: reason for record, reason in found.unmatched}


def test_by_question_whatever_the_order():
    rows = bench(("a", "1"), ("b", "2"))
    by_id, unmatched = matched(rows, [{"question": "b"}, {"question": "a"}, {"question": "c"}])
    assert by_id == {"b1": 0, "b0": 1}
    assert unmatched == {2: "the benchmark has no such question"}


def test_white_space_line_ends_and_composed_letters_make_no_difference_unless_they_do():
    rows = bench(("one\ntwo", "1"), ("café", "2"), (" x", "3"), ("x", "4"))
    given_rows = [{"question": text} for text in ("one\r\ntwo ", "cafe\u0301", "x", " x", "Café")]
    assert matched(rows, given_rows) == (
        {"b0": 0, "b1": 1, "b3": 2, "b2": 3},
        {4: "the benchmark has no such question"},
    )


def test_by_id_unless_it_is_of_another_question():
    rows = bench(("a", "1"), ("b", "2"), ("c", "3"))
    # An index of the file's own may look like ids of the benchmark.
    by_id, unmatched = matched(rows, [{"id": "b1", "question": "a"}, {"id": "b0", "question": "b"}])
    assert (by_id, unmatched) == ({"b0": 0, "b1": 1}, {})
    by_id, unmatched = matched(
        rows, [{"id": "b2"}, {"id": "b9"}, {"id": "b1", "question": "z"}, {"id": None, "question": "a"}, {"id": ""}]
    )
    assert by_id == {"b2": 0, "b0": 3}
    assert unmatched == {
        1: "the benchmark has no such id",
        2: "the benchmark's row with this id has another question",
        4: "there is neither id nor question",
    }


def test_an_id_decides_before_a_question_takes_the_row():
    rows = bench(("a", "1"), ("a", "1"))
    assert matched(rows, [{"question": "a"}, {"id": "b0", "question": "a"}]) == ({"b0": 1, "b1": 0}, {})


def test_the_gold_answer_tells_equal_questions_apart_then_their_order():
    rows = bench(("a", "1"), ("a", ""), ("a", "1"))
    given_rows = [{"question": "a", "answer": gold} for gold in (None, "1", " 1 ", "1")]
    by_id, unmatched = matched(rows, given_rows)
    assert by_id == {"b1": 0, "b0": 1, "b2": 2}
    assert unmatched == {3: "given twice: f.csv, row 2 answers the same row"}
    assert matched(rows, [{"question": "a"}] * 3) == ({"b0": 0, "b1": 1, "b2": 2}, {})


def test_an_unknown_gold_answer_gets_what_is_left_over():
    rows = bench(("a", "1"), ("a", "2"))
    given_rows = [{"question": "a", "answer": gold} for gold in ("other", "1")]
    assert matched(rows, given_rows) == ({"b0": 1, "b1": 0}, {})
    # A question that is there once needs no gold answer to agree.
    assert matched(rows[:1], given_rows[:1]) == ({"b0": 0}, {})


def test_rows_that_are_not_asked_are_told():
    rows = bench(("a", "1", "easy"), ("b", "2", "hard"), ("c", "3"))
    by_id, unmatched = matched(rows, [{"question": text} for text in "abc"], {"b1", "b2"})
    assert (by_id, unmatched) == ({"b1": 1, "b2": 2}, {0: "not asked: its difficulty is easy"})


def test_a_question_that_was_reworded_is_recognised_by_its_gold_answer_and_only_then():
    new = "Which command of Git shows the last commits of a branch?"
    old = "Which command of Git shows the latest commits of a branch?"
    rows = bench((new, "git log"), ("Which command of Git moves a branch?", "git reset"))
    assert matched(rows, [{"question": old, "answer": "git log"}]) == ({"b0": 0}, {})
    for stranger in (
        {"question": old, "answer": "git show"},
        {"question": old},
        {"question": "What prints them?", "answer": "git log"},
    ):
        assert matched(rows, [stranger]) == ({}, {0: "the benchmark has no such question"})
    # Taken by its own question, or claimed by two.
    taken = [{"question": old, "answer": "git log"}, {"question": new, "answer": "git log"}]
    assert matched(rows, taken) == ({"b0": 1}, {0: "the benchmark has no such question"})
    assert matched(rows, [taken[0], {**taken[0], "question": f"{old}!"}])[0] == {}


QUESTIONS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", ""])), min_size=1, max_size=12)


@given(QUESTIONS, st.randoms(), st.integers(0, 4))
def test_each_row_is_taken_once_by_a_row_that_says_the_same_and_none_is_lost(pairs, random_order, left_out):
    rows = bench(*pairs)
    said = random_order.sample(pairs, max(0, len(pairs) - left_out)) + [("d", "1"), pairs[0]]
    by_id, unmatched = matched(rows, [{"question": question, "answer": gold} for question, gold in said])
    assert len(by_id) + len(unmatched) == len(said)
    assert sorted([*by_id.values(), *unmatched]) == list(range(len(said)))
    for row in rows:
        if row["id"] in by_id:
            assert said[by_id[row["id"]]] == (row["question"], row["answer"])
    there, wanted = Counter(said), Counter(pairs)
    assert len(by_id) == sum((there & wanted).values())


def options(files, difficulties=BOTH, grades=None, **columns):
    section = AnswerColumns(**columns)
    return {
        "model": "m",
        "setting": "plain",
        "columns": section.model_dump(),
        "named": section.named(),
        "grades_decided": section.grades_decided(),
        "grades": grades or {},
        "files": [[str(file)] for file in files],
        "difficulties": difficulties,
    }


def table(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS = bench(("a", "1"), ("b", "2", "hard"), ("c", "3", "easy"))


def test_answers_and_grades_have_one_row_for_each_row_that_is_asked(tmp_path):
    file = table(
        tmp_path / "f.jsonl",
        {
            "question": "b",
            "prediction": "said",
            "g": "a",
            "input_tokens": 10,
            "output_tokens": "5",
            "confidence": "85%",
        },
        {"question": "z", "prediction": "lost", "g": "A"},
        {"question": "c", "prediction": "not asked", "g": "A"},
    )
    found = imported(ROWS, options([file, file], ["hard"], grade="g"))
    assert len(found.answers) == len(found.grades) == 2
    missing, said = found.answers[1]
    assert (said["id"], said["repeat"], said["answer"], said["confidence"]) == ("b1", 2, "said", 85)
    assert (said["outcome"], said["status"], said["input_tokens"], said["output_tokens"]) == ("ok", "ok", 10, 5)
    assert said["usage"][0]["model"] == "m"
    assert (said["usage"][0]["calls"], said["usage"][0]["input_tokens"], said["usage"][0]["uncounted"]) == (1, 10, 0)
    assert (missing["id"], missing["outcome"], missing["status"], missing["reason"]) == (
        "b0",
        "missing",
        "rejected",
        MISSING,
    )
    assert (missing["input_tokens"], missing["confidence"], missing["usage"]) == (None, None, [])
    assert [row["grade"] for row in found.grades[0]] == [None, "CORRECT"]
    assert [row.get("judge") for row in found.grades[0]] == [None, None]
    assert [row["reason"] for row in found.grades[0]] == [MISSING, ""]
    assert [tuple(row) for row in found.unmatched] == [UNMATCHED] * 4
    assert [(row["repeat"], row["row"], row["question"]) for row in found.unmatched[:2]] == [(1, 2, "z"), (1, 3, "c")]
    for name, rows in (("answers", found.answers[0]), ("grades", found.grades[0])):
        tables.write(rows, name, tmp_path / "t.parquet")
        assert len(tables.read(tmp_path / "t.parquet", name)) == 2


def test_without_a_grade_column_there_are_no_grades(tmp_path):
    file = table(tmp_path / "f.jsonl", {"question": "a", "prediction": "x", "mark": "A"})
    assert imported(ROWS, options([file])).grades == []


def test_what_became_of_answers_with_and_without_text_and_grade(tmp_path):
    file = table(
        tmp_path / "f.jsonl",
        {"question": "a", "prediction": None, "g": "C"},
        {"question": "b", "prediction": " ", "g": ""},
        {"question": "c", "prediction": "x", "g": "good"},
    )
    found = imported(bench(("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")), options([file], grade="g"))
    fates = [fate(*rows) for rows in zip(found.answers[0], found.grades[0], strict=True)]
    assert fates == ["NOT_ATTEMPTED", "empty", "ungraded", "missing"]
    assert [row["reason"] for row in found.grades[0][1:3]] == [
        "there is no grade",
        "unknown grade: 'good'; say what it means under `grades`",
    ]
    # A judge's word about an empty answer does not count.
    assert fate(found.answers[0][0], {**found.grades[0][0], "judge": "gpt"}) == "empty"


@pytest.mark.parametrize(
    ("words", "grades", "expected"),
    [
        (["A", "b", "C"], {}, "CIN"),
        (["CORRECT", "incorrect", "Not_Attempted"], {}, "CIN"),
        (["not attempted", " B ", "correct."], {}, "NIC"),
        ([1, 0, "A"], {"1": "CORRECT", "0": "INCORRECT"}, "CIC"),
        ([True, False, None], {"true": "CORRECT", "false": "INCORRECT"}, "CI-"),
        (["A", "B", "x"], {"a": "INCORRECT", "B": "CORRECT"}, "IC-"),
        (["Right", "WRONG", "1"], {"right": "CORRECT", "wrong": "INCORRECT"}, "CI-"),
    ],
)
def test_words_for_grades(tmp_path, words, grades, expected):
    rows = ({"question": question, "prediction": "x", "g": word} for question, word in zip("abc", words, strict=True))
    found = imported(ROWS, options([table(tmp_path / "f.jsonl", *rows)], grades=grades, grade="g"))
    assert "".join((row["grade"] or "-")[0] for row in found.grades[0]) == expected


def test_words_are_given_in_yaml_as_they_come():
    from devqa.config.imports import ImportedAnswers

    given_words = {1: "CORRECT", False: "INCORRECT", "x": "NOT_ATTEMPTED"}
    entry = ImportedAnswers(model="m", files=["f"], grades=given_words)
    assert entry.grades == {"1": "CORRECT", "false": "INCORRECT", "x": "NOT_ATTEMPTED"}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ([85, "90", "7.5 %"], [85, 90, 7.5]),
        ([101, -1, 100], [None, None, 100]),
        (["high", None, 50], [None, None, 50]),
        ([0.85, "1", 0], [85, 100, 0]),
        ([0.85, 1, "x"], [85, 100, None]),
        ([0.85, 1, 2], [0.85, 1, 2]),
        ([0.85, "0.5%", 1], [0.85, 0.5, 1]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_confidence_is_in_percent_and_from_0_to_1_only_if_all_of_it_is(tmp_path, stated, expected):
    rows = ({"question": q, "prediction": "x", "confidence": each} for q, each in zip("abc", stated, strict=True))
    found = imported(ROWS, options([table(tmp_path / "f.jsonl", *rows)]))
    assert [row["confidence"] for row in found.answers[0]] == expected


def test_all_repeats_decide_together_what_confidence_means(tmp_path):
    one, two = (
        table(tmp_path / f"{each}.jsonl", {"question": "a", "prediction": "x", "confidence": each}) for each in (1, 90)
    )
    found = imported(ROWS[:1], options([one, two]))
    assert [repeat[0]["confidence"] for repeat in found.answers] == [1, 90]


@pytest.mark.parametrize(
    ("given_tokens", "expected"),
    [
        ((7.0, "8"), (7, 8)),
        ((-1, 1.5), (None, None)),
        (("many", 3), (None, 3)),
        ((True, None), (None, None)),
    ],
)
def test_tokens_that_cannot_be_are_unknown_and_cost_nothing(tmp_path, given_tokens, expected):
    tokens = dict(zip(("input_tokens", "output_tokens"), given_tokens, strict=True))
    file = table(tmp_path / "f.jsonl", {"question": "a", "prediction": "x", **tokens})
    (row,) = imported(ROWS[:1], options([file])).answers[0]
    assert (row["input_tokens"], row["output_tokens"]) == expected
    assert len(row["usage"]) == (None not in expected)


def test_mistakes_in_the_configuration_are_refused(tmp_path):
    file = table(
        tmp_path / "f.jsonl", {"question": "z", "said": "x", "g": "+"}, {"question": "y", "said": "x", "g": "-"}
    )
    with pytest.raises(UserError, match="no column 'prediction' for prediction: it has 'question', 'said', 'g'"):
        imported(ROWS, options([file]))
    other = table(tmp_path / "g.jsonl", {"ident": "b0", "prediction": "x"})
    with pytest.raises(
        UserError, match=r"no column 'id' or 'question' for id or question: it has 'ident', 'prediction'"
    ):
        imported(ROWS, options([other]))
    with pytest.raises(UserError, match=r"no column 'idents' for id: did you mean 'ident'\?"):
        imported(ROWS, options([other], id="idents"))
    with pytest.raises(UserError, match=r"none of the 2 rows of .*f.jsonl .*'z'\): the benchmark has no such question"):
        imported(ROWS, options([file], prediction="said"))
    with pytest.raises(
        UserError, match=r"no grade of m in column 'g' can be read: its words are '\+', '-'\. Say under"
    ):
        imported(bench(("z", "1"), ("y", "2")), options([file], prediction="said", grade="g"))
    with pytest.raises(ValueError, match="both left out"):
        AnswerColumns(id=None, question=None)


def test_grades_that_nobody_has_decided_about_are_refused_and_not_paid_for_again(tmp_path):
    file = table(tmp_path / "f.jsonl", {"id": "b0", "prediction": "x", "grade": "A"})
    with pytest.raises(UserError, match=r"f.jsonl has a column 'grade': say under `columns` whether its grades are"):
        imported(ROWS, options([file]))
    assert not imported(ROWS, options([file], grade=None)).grades
    assert imported(ROWS, options([file], grade="grade")).grades[0][0]["grade"] == "CORRECT"


def test_what_can_t_be_read_is_counted_in_the_log(tmp_path, caplog):
    rows = [
        {"id": f"b{n}", "prediction": "x", "mark": mark, "confidence": "high", "input_tokens": "1,234"}
        for n, mark in enumerate("A?")
    ]
    with caplog.at_level("WARNING"):
        imported(ROWS, options([table(tmp_path / "f.jsonl", *rows)], grade="mark"))
    said = [record.getMessage() for record in caplog.records]
    assert "repeat 1: 2 values of confidence can't be read" in said
    assert "repeat 1: 2 values of input_tokens can't be read" in said
    assert "repeat 1: 1 values of grade can't be read" in said


def test_a_row_without_a_difficulty_is_always_asked():
    assert [row["id"] for row in asked(ROWS, ["hard"])] == ["b0", "b1"]


# The published grades: other people's data, in the forms in which such tables come.

COLUMNS = {"question": "problem", "answer": "golden_answer", "prediction": "predict_answer", "grade": "grade_letter"}
FIGURES = {
    "Llama-3.1-8b": (0.449, 0.535, 0.016, 0.456, 0.453),
    "gpt-3.5-turbo": (0.677, 0.307, 0.016, 0.688, 0.682),
    "o3-mini": (0.718, 0.278, 0.004, 0.721, 0.719),
    "claude-3-5-haiku": (0.536, 0.324, 0.140, 0.623, 0.576),
}
published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published grades are not on this machine")


@pytest.fixture(scope="module")
def simple_devqa():
    section = BenchmarkColumns(question="problem", answer="golden_answer")
    return benchmark([str(PUBLISHED / "benchmark.parquet")], section.model_dump(), section.named())


def graded(model):
    return pq.read_table(PUBLISHED / f"graded/{model}.parquet").to_pylist()


def shares(found, rows):
    answers, grades = ({row["id"]: row for row in table_rows[0]} for table_rows in (found.answers, found.grades))
    return figures(rows, answers, grades)


def as_csv(path, rows, delimiter=","):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["", *rows[0]])
        writer.writerows([number, *row.values()] for number, row in enumerate(rows))


@published
@pytest.mark.parametrize("model", FIGURES)
def test_published_figures(simple_devqa, model):
    found = imported(simple_devqa, options([PUBLISHED / f"graded/{model}.parquet"], **COLUMNS))
    got = shares(found, simple_devqa)
    assert tuple(round(got[name], 3) for name in ("co", "in", "na", "cga", "f_score")) == FIGURES[model]
    assert (got["graded"], found.unmatched) == (2740, [])


@pytest.mark.slow
@published
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "semicolons.csv", "t.jsonl.gz"])
@pytest.mark.parametrize("change", ["as it is", "shuffled", "fewer rows", "no gold answer", "more rows"])
def test_published_figures_in_other_forms(simple_devqa, tmp_path, name, change):
    model, columns = "claude-3-5-haiku", dict(COLUMNS)
    rows = graded(model)
    strangers = 0
    if change != "as it is":
        random.Random(1).shuffle(rows)
    if change == "fewer rows":
        rows = rows[100:]
    if change == "no gold answer":
        rows = [{key: value for key, value in row.items() if key != "golden_answer"} for row in rows]
        del columns["answer"]
        strangers = 1  # Its question was reworded, and nothing else tells whose it is.
    if change == "more rows":
        rows[7:7] = [{**rows[0], "problem": f"Another question {number}?"} for number in range(5)] + rows[:3]
        strangers = 8
    path = tmp_path / name
    if ".json" in name:
        path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode()))
    else:
        as_csv(path, rows, {"t.tsv": "\t", "semicolons.csv": ";"}.get(name, ","))
    found = imported(simple_devqa, options([path], **columns))
    got = shares(found, simple_devqa)
    assert len(found.unmatched) == strangers
    assert got["graded"] == len(rows) - strangers
    assert got["missing"] == len(simple_devqa) - got["graded"]
    assert not any(got[each] for each in ("empty", "ungraded", "error"))
    left_out = {(row["file"], row["row"]) for row in found.unmatched}
    letters = Counter(row["grade_letter"] for number, row in enumerate(rows, 1) if (str(path), number) not in left_out)
    total = letters.total()
    assert (got["co"], got["in"], got["na"]) == (letters["A"] / total, letters["B"] / total, letters["C"] / total)
