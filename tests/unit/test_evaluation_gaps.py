"""The gap between the weakest and the strongest model: what it is, and that its intervals cover the truth."""

import numpy as np
import pytest
import scipy.stats

from devqa.evaluation import bootstrap, gaps
from devqa.evaluation.statistics import UNRESOLVED, f_score

# Weakest and strongest before, then after: shares of CORRECT, INCORRECT, NOT_ATTEMPTED.
SHARES = np.array([[0.45, 0.50, 0.05], [0.75, 0.20, 0.05], [0.60, 0.38, 0.02], [0.80, 0.18, 0.02]])
F_SCORES = SHARES[:, 0] / (1 - SHARES[:, 2] / 2)


def codes(generator, clusters, repeats, draws=()):
    """Codes (*draws, 4, repeats, rows) of three rows a dialogue, and the rows' clusters.

    All four runs share how hard a dialogue and a row are; a model's two runs share its luck with them.
    """
    number = np.repeat(np.arange(clusters), 3)
    noise = generator.standard_normal
    hard = (
        np.sqrt(0.2) * noise((*draws, 1, 1, clusters))[..., number]
        + np.sqrt(0.2) * noise((*draws, 1, 1, 3 * clusters))
        + np.sqrt(0.2) * np.tile(noise((*draws, 2, 1, 3 * clusters)), (2, 1, 1))
        + np.sqrt(0.2) * noise((*draws, 4, 1, clusters))[..., number]
        + np.sqrt(0.2) * noise((*draws, 4, repeats, 3 * clusters))
    )
    limits = scipy.stats.norm.ppf(SHARES.cumsum(axis=1)[:, :2])
    return (hard[..., None] > limits[:, None, None]).sum(axis=-1).astype(np.int8), number


@pytest.mark.parametrize(("clusters", "repeats"), [(60, 1), (150, 3)])
def test_intervals_cover_the_gap_and_its_change_in_95_of_100_draws(clusters, repeats):
    generator = np.random.default_rng(1)
    before, after = F_SCORES[1] - F_SCORES[0], F_SCORES[3] - F_SCORES[2]
    truth = np.array([before, after, after - before])
    covered = []
    for _ in range(10):
        drawn, _ = codes(generator, clusters, repeats, (100,))
        grades = drawn.reshape(100, 4, repeats, clusters, 3)[..., None] == np.arange(3)
        found = bootstrap.intervals(np.moveaxis(grades.sum(axis=-2), 3, 0), gaps.gaps, draws=1_000)
        covered.append((found.low <= truth) & (truth <= found.high))
    covered = np.concatenate(covered).mean(axis=0)
    assert (covered >= 0.93).all() and (covered <= 0.97).all(), covered


def runs(drawn):
    """Models a and b before and after, with one in between and one that has no run after."""
    before = {"b": drawn[1], "middle": np.where(np.arange(drawn.shape[-1]) % 2, drawn[0], drawn[1]), "a": drawn[0]}
    return before | {"other": np.zeros_like(drawn[0])}, {"a": drawn[2], "b": drawn[3], "middle": drawn[2]}


def test_the_two_are_those_that_have_both_runs_and_are_fixed_by_what_they_score_before():
    drawn, clusters = codes(np.random.default_rng(1), 200, 2)
    found = gaps.gap(*runs(drawn), clusters)
    assert (found.weakest, found.strongest, found.models) == ("a", "b", 3)
    scores = [f_score(each) for each in drawn]
    assert found.before.value == pytest.approx(scores[1] - scores[0])
    assert found.after.value == pytest.approx(scores[3] - scores[2])
    assert found.change.value == pytest.approx(found.after.value - found.before.value)
    for estimate in (found.before, found.after, found.change):
        assert estimate.low < estimate.value < estimate.high
    # Paired: what the runs have in common is not in the interval of the change.
    alone = np.hypot(found.before.high - found.before.low, found.after.high - found.after.low)
    assert found.change.high - found.change.low < 0.9 * alone


def test_the_same_questions_stand_before_and_after():
    drawn, clusters = codes(np.random.default_rng(1), 100, 2)
    drawn[2, :, :60] = UNRESOLVED
    drawn[1, 0, 60:90] = UNRESOLVED  # its other repeat has a grade
    before, after = runs(drawn)
    found = gaps.gap(before, after, clusters)
    alone = gaps.gap(*runs(drawn[..., 60:]), clusters[60:])
    assert (found.before, found.after, found.change) == (alone.before, alone.after, alone.change)


def test_models_that_score_the_same_are_still_two():
    drawn, clusters = codes(np.random.default_rng(1), 30, 1)
    found = gaps.gap({"a": drawn[0], "b": drawn[0]}, {"a": drawn[1], "b": drawn[2]}, clusters)
    assert (found.weakest, found.strongest, found.before.value) == ("a", "b", 0)


@pytest.mark.filterwarnings("error")
def test_fewer_than_two_models_have_no_gap_and_few_dialogues_no_interval():
    drawn, clusters = codes(np.random.default_rng(1), 5, 1)
    before, after = runs(drawn)
    assert gaps.gap(before, {}, clusters) is None
    assert gaps.gap({"a": drawn[0]}, after, clusters) is None
    evasive = np.full_like(drawn[0], 2)
    assert gaps.gap({"a": drawn[0], "b": evasive}, after, clusters) is None
    few = gaps.gap(before, after, clusters)
    assert few.change.value is not None and few.change.low is None
    nothing = {"a": drawn[2], "b": np.full_like(drawn[0], UNRESOLVED)}
    assert gaps.gap(before, nothing, clusters).change == (None, None, None)
