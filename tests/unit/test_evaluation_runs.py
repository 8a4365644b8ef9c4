"""Answers and grades as arrays: what is read, whose grades count, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.evaluation import metrics, runs
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import UNRESOLVED, encode
from graded import FATES, answers, grades, question


def written(rows, name, path):
    tables.write(rows, name, path)
    return str(path)


def test_questions_are_those_that_were_asked_in_a_fixed_order(tmp_path):
    rows = [{"id": each, "difficulty": level, "domain": "own"} for each, level in ("ce", "ah", "be", "dh", "eh")]
    rows = [{**row, "difficulty": {"e": "easy", "h": "hard"}[row["difficulty"]]} for row in rows]
    path = written(rows, "benchmark", tmp_path / "benchmark.parquet")
    assert [row["id"] for row in runs.questions(path, [], ["hard"])] == ["a", "d", "e"]
    assert [row["domain"] for row in runs.questions(path, [], ["hard"])] == ["own"] * 3
    domains = written(
        [{"id": "a", "domain": "web", "status": "ok"}, {"id": "d", "domain": None, "status": "failed"}],
        "domains",
        tmp_path / "domains.parquet",
    )
    for given_path in (domains, [domains]):
        # Not the benchmark's own for the others: two classifications are not mixed.
        assert [row["domain"] for row in runs.questions(path, given_path, ["hard"])] == ["web", None, None]


def test_files_of_several_models_are_read_by_model_and_repeat(tmp_path):
    files = {"answers": [], "grades": [], "panel/k": []}
    fates = {("a", 1): ["CORRECT", "refused"], ("a", 2): ["INCORRECT", "ungraded"], ("b", 1): ["missing", "CORRECT"]}
    for (model, repeat), each in fates.items():
        for name, rows in (
            ("answers", answers(each, model, repeat=repeat)),
            ("grades", grades(each, model, repeat=repeat)),
            ("panel/k", grades(each[::-1], model, repeat=repeat, judge="k")),
        ):
            path = tmp_path / f"{name}/plain/{model}/{repeat}.parquet"
            files[name].append(written(rows, "answers" if name == "answers" else "grades", path))
    found = runs.read_runs(["b", "a"], [question(0), question(1)], *files.values(), "judge")
    assert list(found) == ["b", "a"]
    (one,) = found["a"]
    assert (one.model, one.setting, one.repeats, one.verdict, list(one.judges)) == (
        "a",
        "plain",
        (1, 2),
        "j",
        ["j", "k"],
    )
    assert one.codes.tolist() == [[0, UNRESOLVED], [1, UNRESOLVED]]
    assert one.by("k").tolist() == [[UNRESOLVED, UNRESOLVED], [UNRESOLVED, 1]]
    assert found["b"][0].codes.tolist() == [[UNRESOLVED, 0]]


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=30))
def test_codes_are_the_fates_that_the_metrics_count(fates):
    benchmark = [question(number) for number in range(len(fates))]
    found = runs.runs(benchmark, answers(fates), grades(fates))
    if set(fates) == {"missing"}:
        assert found == []
        return
    expected = encode(dict(zip((row["id"] for row in benchmark), fates, strict=True)), [row["id"] for row in benchmark])
    assert np.array_equal(found[0].codes, [expected])
    scored = {row["metric"]: row["mean"] for row in metrics.scores(benchmark, answers(fates), grades(fates))[:18]}
    assert scored["graded"] == (found[0].codes >= 0).sum()


def test_a_grade_of_an_answer_that_cannot_be_used_is_none():
    said = grades(["CORRECT", "CORRECT"])
    found = runs.runs([question(0), question(1)], answers(["refused", "CORRECT"]), said, [{**said[0], "judge": "k"}])
    assert found[0].codes.tolist() == [[UNRESOLVED, 0]]
    assert found[0].by("k").tolist() == [[UNRESOLVED, UNRESOLVED]]


def test_confidence_is_a_number_or_unreadable():
    rows = answers(["CORRECT", "CORRECT", "missing"])
    rows[0]["confidence"] = 80.0
    found = runs.runs([question(number) for number in range(3)], rows, [])
    assert np.array_equal(found[0].confidence, [[80, np.nan, np.nan]], equal_nan=True)


def test_settings_keep_their_order_and_have_repeats_of_their_own():
    both = [("rag", 1), ("plain", 1), ("plain", 3)]
    rows = [row for setting, repeat in both for row in answers(["CORRECT"], setting=setting, repeat=repeat)]
    found = runs.runs([question(0)], rows, [])
    assert [(each.setting, each.repeats, each.codes.shape) for each in found] == [
        ("rag", (1,), (1, 1)),
        ("plain", (1, 3), (2, 1)),
    ]


def test_grades_that_came_with_the_answers_are_called_imported():
    said = grades(["CORRECT"], judge=None)
    (found,) = runs.runs([question(0)], answers(["CORRECT"]), said, grades(["INCORRECT"], judge="k"))
    assert (found.verdict, found.graders) == ("imported", ("imported", "k", "majority"))
    (alone,) = runs.runs([question(0)], answers(["CORRECT"]), said)
    assert alone.graders == ("imported",)


VOTES = st.lists(st.tuples(*[st.sampled_from([*GRADES, "ungraded"])] * 3), min_size=1, max_size=20)


@given(VOTES)
def test_a_majority_of_judge_and_panel_decides_everywhere_alike(votes):
    benchmark = [question(number) for number in range(len(votes))]
    judge, *panel = (grades(said, judge=label) for said, label in zip(zip(*votes, strict=True), "jkl", strict=True))
    panel = [row for rows in panel for row in rows]
    rows = runs.verdicts(judge, panel, "majority")
    for row, said in zip(rows, votes, strict=True):
        most = max(GRADES, key=said.count)
        assert row["grade"] == (most if said.count(most) >= 2 else None)
        assert row["judge"] == "majority"
    given_answers = answers(["CORRECT"] * len(votes))
    (found,) = runs.runs(benchmark, given_answers, judge, panel, "majority")
    assert found.verdict == "majority"
    assert np.array_equal(found.codes, runs.runs(benchmark, given_answers, rows)[0].codes)
    assert runs.verdicts(judge, panel, "judge") == judge


def test_a_judge_without_a_row_is_one_without_a_grade():
    judge, panel = grades(["CORRECT", "CORRECT"]), grades(["CORRECT"], judge="k") + grades(["CORRECT"], judge="l")
    assert [row["grade"] for row in runs.verdicts(judge, panel, "majority")] == ["CORRECT", None]


@pytest.mark.parametrize(
    ("given_answers", "said", "panel", "message"),
    [
        (answers(["CORRECT"] * 2), [], [], "q0001"),
        (answers(["CORRECT"]), grades(["CORRECT"] * 2), [], "q0001"),
        (answers(["CORRECT"]), [], grades(["CORRECT"] * 3, judge="k"), "q0001"),
        (answers(["CORRECT"]) * 2, [], [], "answers have row q0000 twice in setting plain, repeat 1"),
        (answers(["CORRECT"]), [], grades(["CORRECT"], judge="k") * 2, "grades by k have row q0000 twice"),
        (answers(["CORRECT"]), grades(["CORRECT"], model="n"), [], "one model, not of m, n"),
    ],
)
def test_rows_that_belong_nowhere_are_refused(given_answers, said, panel, message):
    with pytest.raises(UserError, match=message):
        runs.runs([question(0)], given_answers, said, panel)
