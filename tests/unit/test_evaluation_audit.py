"""Each filter model's selection left out in turn: which rows stay, and intervals that cover."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation import audit
from devqa.evaluation.bootstrap import Estimate
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import UNRESOLVED, f_score
from graded import question, run

NOTHING = (None, None, None)


def filtered(**by_model):
    return [{"model": model, "grade": grade} for model, grade in by_model.items()]


def bench(*rows):
    return [question(number, filtered=each) for number, each in enumerate(rows)]


def test_a_row_stays_hard_if_another_model_failed_at_it():
    benchmark = bench(
        filtered(a="CORRECT", b="CORRECT"),
        filtered(a="INCORRECT", b="CORRECT"),
        filtered(a="CORRECT", b="NOT_ATTEMPTED"),
        filtered(a="INCORRECT", b="INCORRECT"),
        filtered(a="INCORRECT", b=None),
        None,
    )
    filters, kept = audit.selections(benchmark)
    assert filters == ["a", "b"]
    assert kept.astype(int).tolist() == [[0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0], [0, 1, 0, 1, 1, 0]]
    found = audit.audit(benchmark, run([[0, 0, 1, 0, 0, 1]]), np.arange(6))
    assert [(each["left_out"], each["rows"]) for each in found] == [(None, 4), ("a", 2), ("b", 3)]
    assert [each["figures"]["co"].value for each in found] == [3 / 4, 1 / 2, 1]
    assert [each["difference"].value for each in found] == [None, -1 / 4, 1 / 4]


GRADE = st.sampled_from([*GRADES, None])


@given(st.lists(st.tuples(GRADE, GRADE, st.sampled_from([0, 1, 2, UNRESOLVED])), min_size=1, max_size=40))
def test_figures_are_those_of_the_rows_that_are_left(rows):
    benchmark = bench(*(filtered(a=one, b=other) for one, other, _ in rows))
    codes = np.array([[code for *_, code in rows]], dtype=np.int8)
    found = audit.audit(benchmark, run(codes), np.arange(len(rows)))
    _, kept = audit.selections(benchmark)
    if not kept[0].any():
        assert found is None
        return
    for each, places in zip(found, kept, strict=True):
        assert each["rows"] == places.sum()
        score = f_score(codes[:, places])
        assert each["figures"]["f_score"].value == (score if score is None else pytest.approx(score))


@pytest.mark.filterwarnings("error")
def test_no_audit_where_no_filter_is_known_or_no_row_is_hard():
    codes = run([[0, 1]])
    assert audit.audit(bench(None, []), codes, np.arange(2)) is None
    assert audit.audit(bench(filtered(a="CORRECT"), None), codes, np.arange(2)) is None
    assert audit.audit([], run(np.zeros((1, 0))), np.arange(0)) is None


@pytest.mark.filterwarnings("error")
def test_a_single_filter_model_left_out_leaves_nothing():
    found = audit.audit(bench(*[filtered(a="INCORRECT")] * 40), run([[0, 1] * 20]), np.arange(40))
    assert [each["rows"] for each in found] == [40, 0]
    assert set(found[1]["figures"].values()) == {NOTHING}
    assert found[1]["difference"] == NOTHING


def test_a_model_that_chose_no_row_alone_changes_nothing_for_certain():
    rows = [filtered(a="INCORRECT", b="INCORRECT"), filtered(a="CORRECT", b="INCORRECT")] * 30
    found = audit.audit(bench(*rows), run([[0, 1, 2] * 20]), np.arange(60))
    assert [each["rows"] for each in found] == [60, 60, 30]
    assert found[1]["difference"] == Estimate(0, 0, 0)


def test_few_dialogues_on_either_side_give_no_interval():
    rows = [filtered(a="INCORRECT", b="INCORRECT")] * 100 + [filtered(a="INCORRECT", b="CORRECT")] * 9
    codes = np.random.default_rng(1).choice(3, size=(2, 109))
    found = audit.audit(bench(*rows), run(codes), np.arange(109))
    assert found[1]["difference"].value is not None and found[1]["difference"].low is None
    found = audit.audit(bench(*rows, rows[-1]), run(np.hstack([codes, [[0], [1]]])), np.arange(110))
    assert found[1]["difference"].low < found[1]["difference"].value < found[1]["difference"].high


def simulated(generator, clusters):
    """Codes (2 repeats, rows) of a run, which rows are hard (3, rows), and clusters, of three rows a dialogue.

    The first filter model is of the evaluated one's family: they fail at the same rows.
    """
    number = np.repeat(np.arange(clusters), 3)
    noise = generator.standard_normal
    hard = np.sqrt(0.3) * noise(clusters)[number] + np.sqrt(0.2) * noise(3 * clusters)
    kin = np.sqrt(0.3) * noise(3 * clusters)
    failed = np.stack(
        [hard + kin + np.sqrt(0.2) * noise(hard.shape) > 0.4, hard + np.sqrt(0.5) * noise(hard.shape) > 0.2]
    )
    luck = hard + kin + np.sqrt(0.2) * noise((2, 3 * clusters))
    codes = (luck > 0.2).astype(np.int8) + (luck > 1.6)
    return codes, np.stack([failed.any(axis=0), failed[1], failed[0]]), number


@cache
def truth():
    codes, kept, _ = simulated(np.random.default_rng(7), 1_000_000)
    every, *others = (f_score(codes[:, places]) for places in kept)
    return [each - every for each in others]


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [100, 300])
def test_intervals_of_the_difference_cover_it_in_95_of_100_draws(clusters):
    generator = np.random.default_rng(1)
    covered = []
    for _ in range(1_000):
        codes, kept, numbers = simulated(generator, clusters)
        selected = np.where(kept[:, None], codes, UNRESOLVED)
        _, (_, *found) = audit.figures_on(selected, kept, numbers, draws=600)
        covered.append([each.low <= true <= each.high for each, true in zip(found, truth(), strict=True)])
    covered = np.mean(covered, axis=0)
    assert (covered >= 0.93).all() and (covered <= 0.97).all(), covered


def test_the_simulated_kin_profits_when_its_own_selection_is_left_out():
    assert truth()[0] > 0.02 and truth()[1] < 0
