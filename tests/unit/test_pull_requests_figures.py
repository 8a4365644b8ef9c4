"""Fact recall of agents: means, bounds, segments, comparisons, and what has no grade."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.evaluation.as_json import as_json
from devqa.pull_requests.figures import statistics as figures
from devqa.pull_requests.figures.runs import read_questions, read_runs, runs
from recalled import AGENTS, answered, benchmark, prediction, question, recall, score, unanswered, written


def one(rows, predictions, recalled):
    """The figures of the only run."""
    (found,) = score(rows, predictions, recalled)["runs"]
    return found


def graded(row, found, repeat=1, **columns):
    """A prediction and its facts."""
    given = prediction(row, repeat=repeat, **columns)
    return given, recall(row, found, given)


def whole(*pairs):
    predictions, recalled = zip(*pairs, strict=True)
    return list(predictions), list(recalled)


def test_recall_is_a_question_s_mean_over_repeats_then_the_mean_over_questions():
    rows = [question(0, ["vital", "okay"]), question(1, ["vital"] * 4)]
    found = one(
        rows,
        *whole(
            graded(rows[0], [True, False], 1),
            graded(rows[0], [True, True], 2),
            graded(rows[1], [True, False, False, False], 1),
            graded(rows[1], [False] * 4, 2),
        ),
    )
    assert found["recall"]["value"] == pytest.approx((0.75 + 0.125) / 2)
    assert found["vital_recall"]["value"] == pytest.approx((1 + 0.125) / 2)
    # The repeats' means are 0.375 and 0.5.
    assert found["recall"]["spread"] == pytest.approx(0.125 / 2**0.5)
    assert found["recall"]["worst"] == found["recall"]["best"] == found["recall"]["value"]
    assert found["facts"] == {
        "all": {"found": 4, "of": 12},
        "vital": {"found": 3, "of": 10},
        "okay": {"found": 1, "of": 2},
    }
    assert found["answers"] == {"answers": 4, "graded": 4, "ungraded": 0, "failed": 0, "missing": 0}
    assert found["reasons"] == []


def test_what_has_no_grade_is_no_zero_and_bounds_say_what_it_could_be():
    rows = [question(number, ["vital"] * 4) for number in range(4)]
    failed = prediction(rows[2], status="failed", outcome="error", reason="error: HTTP 500: try later", answer=None)
    found = one(
        rows,
        *whole(
            graded(rows[0], [True, True, False, False]),
            # Two of the judge's batches were readable.
            graded(rows[1], [True, False, None, None]),
            (failed, unanswered(failed)),
        ),
    )
    assert found["recall"]["value"] == 0.5
    assert found["recall"]["worst"] == pytest.approx((0.5 + 0.25 + 0 + 0) / 4)
    assert found["recall"]["best"] == pytest.approx((0.5 + 0.75 + 1 + 1) / 4)
    assert found["facts"]["all"] == {"found": 2, "of": 4}
    assert found["answers"] == {"answers": 4, "graded": 1, "ungraded": 1, "failed": 1, "missing": 1}
    assert {(each["fate"], each["reason"], each["answers"]) for each in found["reasons"]} == {
        ("failed", "error: HTTP 500", 1),
        ("missing", "it was not asked", 1),
        ("ungraded", "the judge", 1),
    }


def test_a_judge_that_answers_gibberish_grades_nothing():
    rows = [question(number) for number in range(12)]
    found = one(rows, *whole(*(graded(row, [None, None]) for row in rows)))
    assert (found["recall"]["value"], found["recall"]["worst"], found["recall"]["best"]) == (None, 0.0, 1.0)
    assert found["answers"]["ungraded"] == 12
    assert found["rank"] is None


def test_a_question_graded_in_one_repeat_counts_with_that_one():
    rows = [question(0)]
    found = one(rows, *whole(graded(rows[0], [True, True], 1), graded(rows[0], [None, None], 2)))
    assert found["recall"]["value"] == 1.0
    assert found["recall"]["spread"] is None
    assert found["recall"]["worst"] == 0.5


def test_questions_without_a_vital_fact_are_in_no_vital_recall():
    rows = [question(0, ["okay"]), question(1, ["vital"])]
    found = one(rows, *whole(graded(rows[0], [True]), graded(rows[1], [False])))
    assert found["recall"]["value"] == 0.5
    assert found["vital_recall"]["value"] == 0.0


def test_time_tokens_and_cost_are_of_the_answers_that_have_them():
    rows = [question(number) for number in range(3)]
    uncounted = {"input_tokens": None, "output_tokens": None, "reasoning_tokens": None, "usage": []}
    found = one(
        rows,
        *whole(
            graded(rows[0], [True, True], seconds=1.0, usd=0.25),
            graded(rows[1], [True, True], seconds=3.0, **uncounted),
            graded(rows[2], [True, True], seconds=None, input_tokens=3_000),
        ),
    )
    assert found["seconds"] == {"known": 2, "mean": 2.0, "median": 2.0, "p95": pytest.approx(2.9)}
    assert found["tokens"] == {"counted": 2, "input": 2_000, "output": 100, "reasoning": 0}
    assert found["usd"] == {"known": 1, "own": 0.25}
    assert found["usage"]["calls"] == 2
    nothing = one(rows, [prediction(row, seconds=None, **uncounted) for row in rows], [])
    assert nothing["seconds"] == {"known": 0, "mean": None, "median": None, "p95": None}
    assert nothing["tokens"]["input"] is None
    assert nothing["usd"] == {"known": 0, "own": None}


@given(st.integers(0, 60))
def test_sizes_are_in_one_segment_each(count):
    names = {"1": range(2), "2": [2], "3–5": range(3, 6), "6–10": range(6, 11), "11+": range(11, 61)}
    assert [name for name, counts in names.items() if count in counts] == [figures.size(count)]
    assert figures.size(None) == "unknown"


def test_every_question_is_in_one_value_of_each_segment():
    rows = [*benchmark(40), question(99, core=None, difficulty=None, searchable=None, scope=None)]
    found = figures.segments(rows)
    for segment in figures.SEGMENTS:
        places = [place for name, _, own in found if name == segment for place in own]
        assert sorted(places) == list(range(41))
    values = {segment: [value for name, value, _ in found if name == segment] for segment in figures.SEGMENTS}
    assert values["scope"] == ["deep", "broad", "unknown"]
    assert values["core"] == ["yes", "no", "unknown"]
    assert values["difficulty"] == ["easy", "moderate", "hard", "unknown"]
    assert values["repository"] == ["cli", "parser", "server"]
    assert values["blocks"] == [name for name in ("1", "2", "3–5", "6–10", "11+") if name in values["blocks"]]


def test_segments_have_their_own_recall():
    rows = [question(number, scope=("deep", "broad")[number % 2]) for number in range(24)]
    found = one(rows, *whole(*(graded(row, [True, row["scope"] == "deep"]) for row in rows)))
    scope = {each["value"]: each for each in found["segments"] if each["segment"] == "scope"}
    assert {value: each["recall"]["value"] for value, each in scope.items()} == {"deep": 1.0, "broad": 0.5}
    assert {each["questions"] for each in scope.values()} == {each["graded"] for each in scope.values()} == {12}
    # One repository in a segment of several is drawn from alone.
    assert [each["value"] for each in found["segments"] if each["segment"] == "repository"] == ["cli"]


@pytest.fixture(scope="module")
def everything():
    rows = benchmark(90)
    return rows, *answered(rows, AGENTS)


def test_agents_are_compared_and_ranked_but_not_the_true_answers(everything):
    found = score(*everything)
    assert [(run["setting"], run["agent"]) for run in found["runs"]] == list(AGENTS)
    ranks = {(run["setting"], run["agent"]): run["rank"] for run in found["runs"]}
    assert ranks["ground_truth", "ground_truth"] is None
    assert ranks["full_context", "large"] == 1
    assert max(rank for rank in ranks.values() if rank) == ranks["no_context", "small"]
    assert len(found["comparisons"]) == 8 * 7 // 2
    named = {(each["first"]["setting"], each["first"]["agent"]) for each in found["comparisons"]}
    assert ("ground_truth", "ground_truth") not in named
    (pair,) = [
        each
        for each in found["comparisons"]
        if (each["first"]["setting"], each["second"]["setting"]) == ("full_context", "no_context")
        and each["first"]["agent"] == each["second"]["agent"] == "small"
    ]
    assert pair["better"] == "first"
    assert pair["difference"]["low"] > 0
    assert found["resolution"]["comparisons"] == 28
    assert found["clusters"] == {
        "levels": ["repository", "pull_request"],
        "repositories": 3,
        "pull_requests": 90,
    }
    assert found["facts"] == sum(len(row["facts"]) for row in everything[0])


@pytest.mark.parametrize(("repositories", "told"), [(1, True), (2, False), (4, False), (5, True)])
def test_how_small_a_difference_is_found_can_be_told_of_one_repository_or_of_several(repositories, told):
    rows = benchmark(60, [f"r{place}" for place in range(repositories)])
    some = dict(list(AGENTS.items())[:3])
    found = score(rows, *answered(rows, some))["resolution"]
    assert found["comparisons"] == 1
    assert [found[name] is not None for name in ("median", "largest", "corrected")] == [told] * 3


def test_why_a_judge_has_not_graded_is_told():
    rows = [question(0), question(1)]
    reasons = ["the judge's answer is error: given up after 7 attempts: HTTP 503: busy", "the judge's answer is empty"]
    pairs = [
        (given, found | {"status": "failed", "reason": reason})
        for (given, found), reason in zip([graded(row, [None, None]) for row in rows], reasons, strict=True)
    ]
    assert [each["reason"] for each in one(rows, *whole(*pairs))["reasons"]] == [
        "the judge's answer is empty",
        "the judge's answer is error: given up after N attempts",
    ]


def test_each_setting_stands_between_no_and_full_context(everything):
    found = score(*everything)
    gaps = {(gap["setting"], gap["agent"]): gap for gap in found["gaps"]}
    # Commands have neither end, and small has both settings between.
    assert gaps.keys() == {("retrieval", "small"), ("agentic", "small"), ("agentic", "large")}
    for gap in gaps.values():
        share = (gap["value"] - gap["lower"]) / (gap["upper"] - gap["lower"])
        assert gap["share"]["value"] == pytest.approx(share)
        assert gap["share"]["low"] < share < gap["share"]["high"]


def test_true_answers_that_lack_facts_are_named(everything):
    found = score(*everything)["ground_truth"]
    assert found["low"] is False
    rows = [question(number) for number in range(20)]
    pairs = [(prediction(row, "ground_truth", "ground_truth"), row) for row in rows]
    recalled = [recall(row, [True, row["id"] != "q0007"], given) for given, row in pairs]
    found = score(rows, [given for given, _ in pairs], recalled)["ground_truth"]
    assert found["recall"]["value"] == 0.975
    assert (found["low"], found["below"]) == (False, ["q0007"])
    faithful = score(rows, [given for given, _ in pairs], [recall(row, [True, True], given) for given, row in pairs])
    assert faithful["ground_truth"]["recall"]["value"] == 1.0
    poor = [recall(row, [True, number % 5 > 0], given) for number, (given, row) in enumerate(pairs)]
    assert score(rows, [given for given, _ in pairs], poor)["ground_truth"]["low"] is True
    gibberish = [recall(row, [None, None], given) for given, row in pairs]
    unknown = score(rows, [given for given, _ in pairs], gibberish)["ground_truth"]
    assert (unknown["low"], unknown["recall"]["value"], unknown["answers"], unknown["graded"]) == (False, None, 20, 0)
    partly = score(rows, [given for given, _ in pairs], [*poor[:5], *gibberish[5:]])["ground_truth"]
    assert (partly["answers"], partly["graded"]) == (20, 5)
    assert score(*everything[:1], [], [])["ground_truth"] is None


def test_the_figures_are_json_and_the_order_of_rows_changes_nothing(everything):
    rows, predictions, recalled = everything
    counted = [{**row, "n_facts": len(row["facts"])} for row in rows]
    named = list(AGENTS)
    first = as_json(figures.statistics(counted, runs(named, counted, predictions, recalled)))
    mixed = random.Random(1)
    shuffled = [mixed.sample(each, len(each)) for each in (predictions, recalled)]
    assert as_json(figures.statistics(counted, runs(named, counted, *shuffled))) == first
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_tables_are_read_without_their_long_texts(tmp_path, everything):
    rows, predictions, recalled = everything
    for name in ("repository_questions", "repository_facts"):
        wanted = tables.SCHEMAS[name].names
        tables.write([{key: row[key] for key in wanted} for row in rows], name, tmp_path / name)
    files = written(tmp_path, predictions, recalled)
    questions = read_questions(tmp_path / "repository_questions", tmp_path / "repository_facts")
    assert not {"context", "question", "answer"} & questions[0].keys()
    found = read_runs(list(AGENTS), questions, files["predictions"], files["recalled"])
    assert as_json(figures.statistics(questions, found)) == score(rows, predictions, recalled)


def test_an_empty_benchmark_has_figures_of_nothing():
    found = as_json(figures.statistics([], runs(list(AGENTS), [], [], [])))
    assert found["questions"] == 0
    assert {run["recall"]["value"] for run in found["runs"]} == {None}
    assert {run["recall"]["worst"] for run in found["runs"]} == {None}
    assert {each["difference"]["value"] for each in found["comparisons"]} == {None}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_an_answer_to_a_question_that_is_not_asked_is_refused():
    stranger = prediction(question(7))
    with pytest.raises(UserError, match="small \\(retrieval\\) is to question q0007.*delete"):
        runs([("retrieval", "small")], [question(1)], [stranger], [])
