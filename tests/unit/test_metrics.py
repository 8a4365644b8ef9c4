"""Metrics: definitions, undefined values, what can't be graded, and the published figures."""

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.evaluation import metrics, statistics

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "simpledevqa"
LETTERS = {"A": "CORRECT", "B": "INCORRECT", "C": "NOT_ATTEMPTED"}
FATES = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", "ungraded", "refused", "truncated", "empty", "error", "missing"]


def bench(number, language="en", difficulty="hard"):
    return {"id": f"q{number:04}", "language": language, "difficulty": difficulty}


def run(fates, repeat=1, setting="plain", tokens=(10, 5)):
    """Answers and grades of one repeat in which row i has the i-th of `fates`."""
    answers, grades = [], []
    for number, fate in enumerate(fates):
        key = {"id": f"q{number:04}", "setting": setting, "model": "m", "repeat": repeat}
        usable = fate in FATES[:4]
        outcome = {
            "status": "ok" if usable else "failed",
            "outcome": "ok" if usable else fate,
            "answer": "x" if usable else None,
        }
        if fate != "missing":
            counted = {"input_tokens": tokens[0], "output_tokens": tokens[1], "reasoning_tokens": 2}
            answers.append({**key, **outcome, **counted})
        if usable:
            grades.append({**key, "grade": fate if fate != "ungraded" else None})
    return answers, grades


def scored(benchmark, *runs):
    """{(setting, slice, value, metric): row} of the runs' scores."""
    rows = metrics.scores(benchmark, *([row for part in parts for row in part] for parts in zip(*runs, strict=True)))
    return {(row["setting"], row["slice"], row["value"], row["metric"]): row for row in rows}


def overall(benchmark, *runs):
    return {key[3]: row["mean"] for key, row in scored(benchmark, *runs).items() if key[:3] == ("plain", "all", "")}


def test_shares_and_their_combinations():
    fates = ["CORRECT"] * 5 + ["INCORRECT"] * 3 + ["NOT_ATTEMPTED"] * 2
    got = overall([bench(n) for n in range(10)], run(fates))
    assert (got["co"], got["in"], got["na"]) == (0.5, 0.3, 0.2)
    assert got["cga"] == pytest.approx(5 / 8)
    assert got["f_score"] == pytest.approx(2 * 0.5 * 0.625 / 1.125)
    assert [got[name] for name in metrics.TOKENS] == [10, 5, 2, 15]


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=40).filter(lambda fates: set(fates) != {"missing"}))
def test_every_row_is_counted_once_and_what_has_no_grade_moves_no_share(fates):
    got = overall([bench(n) for n in range(len(fates))], run(fates))
    counts = Counter(fates)
    assert got["rows"] == len(fates) == sum(got[name] for name in metrics.COUNTS[1:])
    assert {name: got[name] for name in FATES[3:]} == {name: counts[name] for name in FATES[3:]}
    graded = [fate for fate in fates if fate in FATES[:3]]
    if graded:
        alone = overall([bench(n) for n in range(len(graded))], run(graded))
        assert [got[name] for name in metrics.SHARES] == [alone[name] for name in metrics.SHARES]
        assert math.isclose(got["co"] + got["in"] + got["na"], 1)
    else:
        assert [got[name] for name in metrics.SHARES] == [None] * 5


@pytest.mark.parametrize(
    ("fates", "co", "cga", "f_score"),
    [
        (["ungraded"], None, None, None),
        (["NOT_ATTEMPTED"], 0, None, None),
        (["INCORRECT"], 0, 0, 0),
        (["CORRECT"], 1, 1, 1),
        (["CORRECT", "NOT_ATTEMPTED"], 0.5, 1, pytest.approx(2 / 3)),
    ],
)
def test_undefined_is_null_and_zero_is_zero(fates, co, cga, f_score):
    got = overall([bench(n) for n in range(len(fates))], run(fates))
    assert (got["co"], got["cga"], got["f_score"]) == (co, cga, f_score)


def test_mean_and_spread_over_repeats():
    benchmark = [bench(n) for n in range(4)]
    runs = [run(["CORRECT"] * n + ["INCORRECT"] * (4 - n), repeat=n) for n in (1, 2, 3)]
    co = scored(benchmark, *runs)["plain", "all", "", "co"]
    assert (co["mean"], co["spread"], co["repeats"], co["rows"]) == (0.5, 0.25, 3, 4)
    assert scored(benchmark, runs[0])["plain", "all", "", "co"]["spread"] is None


def test_a_repeat_without_grades_is_left_out_of_the_mean_and_that_is_seen():
    benchmark = [bench(0), bench(1)]
    co = scored(benchmark, run(["CORRECT", "INCORRECT"], 1), run(["empty", "ungraded"], 2))["plain", "all", "", "co"]
    assert (co["mean"], co["repeats"]) == (0.5, 1)


def test_slices_settings_and_order():
    benchmark = [bench(0, "zh", "hard"), bench(1, "en", "easy"), bench(2, "zh", "easy")]
    both = [run(["CORRECT", "INCORRECT", "CORRECT"], setting=name) for name in ("rag", "plain")]
    rows = scored(benchmark, *both)
    assert rows["plain", "language", "zh", "co"]["mean"] == 1
    assert rows["rag", "difficulty", "easy", "co"]["mean"] == 0.5
    assert rows["plain", "language", "zh", "co"]["rows"] == 2
    groups = [key[:3] for key, _ in itertools.groupby(rows, key=lambda key: key[:3])]
    slices = [("all", ""), ("language", "en"), ("language", "zh"), ("difficulty", "easy"), ("difficulty", "hard")]
    assert groups == [(setting, *slice_) for setting in ("plain", "rag") for slice_ in slices]


def test_slices_are_by_every_value_and_left_out_where_none_is_known():
    benchmark = [bench(0, None) | {"domain": "web", "source": "a"}, bench(1) | {"domain": None}, bench(2, None, None)]
    for row in benchmark:
        row["difficulty"] = None
    keys = [key[1:3] for key in scored(benchmark, run(["CORRECT"] * 3))]
    assert list(dict.fromkeys(keys)) == [
        ("all", ""),
        ("language", "en"),
        ("language", "unknown"),
        ("domain", "unknown"),
        ("domain", "web"),
        ("source", "a"),
        ("source", "unknown"),
    ]


def dialogues(rows=90):
    """Rows of three to a dialogue in two languages that share dialogues, and three repeats of a run on them."""
    benchmark = [bench(n, "zh" if n % 2 else "en") | {"dialogue_id": f"d{n // 3}"} for n in range(rows)]
    generator = np.random.default_rng(1)
    return benchmark, [run(generator.choice(FATES, size=rows), repeat=repeat) for repeat in (1, 2, 3)]


def test_intervals_and_bounds_are_those_of_the_slice_clustered_by_dialogue():
    benchmark, runs = dialogues()
    got = scored(benchmark, *runs)
    fates = [{row["id"]: metrics.fate(row, None) for row in answers} for answers, _ in runs]
    for by_id, (_, grades) in zip(fates, runs, strict=True):
        by_id |= {row["id"]: row["grade"] for row in grades}
    codes = np.stack([statistics.encode(each, [row["id"] for row in benchmark]) for each in fates])[None]
    for slice_, value, places in (("all", "", slice(None)), ("language", "zh", slice(1, None, 2))):
        clusters = np.arange(90)[places] // 3
        intervals = statistics.share_intervals(codes[..., places], clusters)[0]
        limits = statistics.bounds(codes[..., places])[0]
        for metric in metrics.METRICS:
            row = got["plain", slice_, value, metric]
            if metric in metrics.SHARES:
                assert (row["mean"], row["low"], row["high"]) == pytest.approx(tuple(intervals[metric]))
            else:
                assert (row["low"], row["high"]) == (None, None)
            assert (row["worst"], row["best"]) == limits.get(metric, (None, None))
    alone = scored([{**row, "dialogue_id": None} for row in benchmark], *runs)
    assert alone["plain", "all", "", "co"]["low"] != got["plain", "all", "", "co"]["low"]


def test_without_ungraded_rows_worst_and_best_are_the_figure():
    got = scored([bench(n) for n in range(3)], run(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]))
    for metric in ("co", "cga", "f_score"):
        row = got["plain", "all", "", metric]
        assert row["worst"] == row["best"] == pytest.approx(row["mean"])


def test_the_order_of_rows_changes_nothing():
    benchmark, runs = dialogues(30)
    turned = [tuple(part[::-1] for part in each) for each in runs[::-1]]
    assert scored(benchmark, *runs) == scored(benchmark[::-1], *turned)


def test_the_order_of_rows_of_one_repeat_changes_nothing():
    benchmark = [bench(n, "zh" if n % 2 else "en") for n in range(6)]
    answers, grades = run(["CORRECT", "INCORRECT", "refused", "CORRECT", "NOT_ATTEMPTED", "ungraded"])
    assert metrics.scores(benchmark, answers, grades) == metrics.scores(benchmark[::-1], answers[::-1], grades[::-1])


def test_scores_fit_their_table(tmp_path):
    rows = metrics.scores([bench(0)], *run(["ungraded"]))
    tables.write(rows, "scores", tmp_path / "scores.parquet")
    assert tables.read(tmp_path / "scores.parquet", "scores") == rows


def test_unknown_tokens_are_left_out_of_averages():
    answers, grades = run(["CORRECT", "CORRECT", "error", "CORRECT"])
    answers[0] |= {"input_tokens": 30, "output_tokens": 0, "reasoning_tokens": 0}
    for row in answers[2:]:
        row |= dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"))
    got = overall([bench(n) for n in range(4)], (answers, grades))
    assert [got[name] for name in metrics.TOKENS] == [20, 2.5, 1, 22.5]


def test_a_count_that_is_not_known_is_not_0():
    answers, grades = run(["CORRECT", "CORRECT"])
    answers[0] |= {"output_tokens": None, "reasoning_tokens": None}
    got = overall([bench(0), bench(1)], (answers, grades))
    assert [got[name] for name in metrics.TOKENS] == [10, 5, 2, 15]
    answers[1] |= {"input_tokens": None}
    got = overall([bench(0), bench(1)], (answers, grades))
    assert [got[name] for name in metrics.TOKENS] == [10, 5, 2, None]


def test_a_grade_of_an_unusable_answer_does_not_count():
    answers, _ = run(["refused"])
    got = overall([bench(0)], (answers, run(["NOT_ATTEMPTED"])[1]))
    assert (got["graded"], got["refused"], got["na"]) == (0, 1, None)


def test_nothing_was_asked():
    assert metrics.scores([], [], []) == []


def test_rows_that_cannot_be_scored_are_refused():
    answers, grades = run(["CORRECT", "CORRECT"])
    with pytest.raises(UserError, match="q0001"):
        metrics.scores([bench(0)], answers, grades)
    with pytest.raises(UserError, match="twice"):
        metrics.scores([bench(0), bench(1)], answers + answers[:1], grades)
    with pytest.raises(UserError, match="one model"):
        metrics.scores([bench(0), bench(1)], answers, [{**row, "model": "n"} for row in grades])


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published grades are not on this machine")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Llama-3.1-8b", (0.449, 0.535, 0.016, 0.456, 0.453)),
        ("gpt-3.5-turbo", (0.677, 0.307, 0.016, 0.688, 0.682)),
        ("o3-mini", (0.718, 0.278, 0.004, 0.721, 0.719)),
        ("claude-3-5-haiku", (0.536, 0.324, 0.140, 0.623, 0.576)),
    ],
)
def test_published_figures(model, expected):
    import pyarrow.parquet as pq

    rows = pq.read_table(PUBLISHED / "graded" / f"{model}.parquet", columns=["grade_letter", "language"]).to_pylist()
    benchmark = [bench(number, row["language"]) for number, row in enumerate(rows)]
    got = overall(benchmark, run([LETTERS[row["grade_letter"]] for row in rows]))
    assert tuple(round(got[name], 3) for name in metrics.SHARES) == expected
    assert (got["rows"], got["graded"]) == (2740, 2740)
