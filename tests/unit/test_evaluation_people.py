"""People's grades and the answers that they are of."""

import numpy as np
import pytest

from devqa.evaluation import agreement, correction, people
from devqa.evaluation.statistics import UNRESOLVED
from graded import question, run


def human(row, grade="CORRECT", **columns):
    known = {
        "row": row,
        "id": f"q{row:04}",
        "model": "m",
        "setting": None,
        "repeat": None,
        "grade": grade,
        "reason": "",
    }
    return known | columns


def judged(rows=60, repeats=2, seed=1):
    """Codes (repeats, rows) by two judges, the second of whom errs now and then."""
    generator = np.random.default_rng(seed)
    one = generator.choice(3, size=(repeats, rows)).astype(np.int8)
    return one, np.where(generator.random(one.shape) < 0.2, generator.choice(3, size=one.shape), one).astype(np.int8)


BENCHMARK = [question(number, dialogue_id=f"d{number // 2}") for number in range(60)]
CLUSTERS = np.arange(60) // 2


def test_a_grade_without_setting_or_repeat_is_of_the_first_ones():
    codes, _ = judged()
    rag, plain = run(codes, setting="rag"), run(codes, setting="plain")
    given = [human(3), human(4, setting="plain", repeat=2, grade="INCORRECT"), human(5, repeat=1)]
    found, unmatched = people.matched(BENCHMARK, {"m": [rag, plain]}, given)
    assert unmatched == []
    assert [(each.run.setting, each.repeat, each.row, each.code) for each in found] == [
        ("rag", 0, 3, 0),
        ("plain", 1, 4, 1),
        ("rag", 0, 5, 0),
    ]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"model": "n"}, "no model n is evaluated"),
        ({"model": ""}, "no model is named"),
        ({"id": "q9999"}, "no row of this id was asked"),
        ({"setting": "rag"}, "m has no setting rag"),
        ({"repeat": 3}, "m has no repeat 3 in setting plain"),
        ({"grade": None, "reason": "the grade is 'D'"}, "the grade is 'D'"),
        ({"grade": None}, "the grade can't be read"),
    ],
)
def test_a_grade_of_no_answer_is_listed_with_its_reason(columns, reason):
    given = human(7, **columns)
    found, unmatched = people.matched(BENCHMARK, {"m": [run(judged()[0])]}, [given, human(1)])
    assert len(found) == 1
    assert unmatched == [{"row": 7, "id": given["id"], "model": given["model"], "reason": reason}]


def test_no_grade_disappears():
    codes, other = judged()
    given = [human(row) for row in range(60)] + [human(1000 + row) for row in range(150)]
    found = people.comparison_with_people(BENCHMARK, {"m": [run(codes, k=other)]}, given, "people.csv")
    assert found["path"] == "people.csv"
    assert found["unmatched_rows"] == 150 and len(found["unmatched"]) == 100
    assert [each["rows"] for each in found["judges"][:2]] == [60, 60]
    majority = found["judges"][2]
    assert majority["judge"] == "majority"
    assert (majority["rows"], majority["ungraded"]) == ((codes[0] == other[0]).sum(), (codes[0] != other[0]).sum())


def test_a_judge_is_held_against_people_on_the_very_answers_that_they_graded():
    codes, other = judged()
    other[1, 4] = UNRESOLVED
    own = run(codes, k=other)
    given = [human(row, grade="INCORRECT", repeat=2) for row in range(40)]
    grades, _ = people.matched(BENCHMARK, {"m": [own]}, given)
    found = people.judge_against_people(grades, "k", CLUSTERS)
    expected = agreement.against_people(np.ones(40, int), other[1, :40], CLUSTERS[:40])
    assert found == {"judge": "k", **vars(expected)}
    assert found["ungraded"] == 1
    assert people.judge_against_people(grades, "l", CLUSTERS) is None


def test_answers_of_several_models_count_together_and_by_judge():
    codes, other = judged()
    runs = {"m": [run(codes)], "n": [run(codes, "n", k=other)]}
    given = [human(row, model=model) for row in range(30) for model in "mn"]
    found = people.comparison_with_people(BENCHMARK, runs, given, "")["judges"]
    assert [(each["judge"], each["rows"]) for each in found[:2]] == [("j", 60), ("k", 30)]
    # The two answers to one question are no independent rows.
    assert found[0]["accuracy"].low == pytest.approx(found_alone(codes).accuracy.low, abs=0.02)


def found_alone(codes):
    return agreement.against_people(np.zeros(30, int), codes[0, :30], CLUSTERS[:30])


def test_an_answer_that_two_people_graded_counts_twice():
    grades, _ = people.matched(BENCHMARK, {"m": [run(judged()[0])]}, [human(1), human(1, grade="INCORRECT")])
    assert people.judge_against_people(grades, "j", CLUSTERS)["rows"] == 2


def test_shares_are_corrected_by_the_run_s_own_sample():
    truth, judge = judged(repeats=1)
    own, elsewhere = run(judge), run(judge, setting="rag")
    names = np.array(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"])
    given = [human(row, grade=names[truth[0, row]]) for row in range(50)]
    grades, _ = people.matched(BENCHMARK, {"m": [own, elsewhere]}, given)
    found = people.corrected_shares(grades, own, CLUSTERS)
    expected = correction.corrected(truth[0, :50], judge[0, :50], CLUSTERS[:50], judge, CLUSTERS)
    assert found == {"figures": expected.figures, "reason": ""}
    assert people.corrected_shares(grades, elsewhere, CLUSTERS) is None
    few, _ = people.matched(BENCHMARK, {"m": [own]}, given[:3])
    refused = people.corrected_shares(few, own, CLUSTERS)
    assert refused["figures"] == {} and "people graded" in refused["reason"]
