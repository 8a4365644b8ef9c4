"""Calibration: ECE, Brier score and reliability diagram against scikit-learn, intervals that cover, odd cases."""

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics

from devqa.evaluation import bootstrap, calibration
from devqa.evaluation.statistics import UNRESOLVED

LEVELS = np.array([20, 40, 50, 60, 70, 80, 85, 90, 95, 100])
STATED = np.array([0.03, 0.05, 0.08, 0.08, 0.1, 0.15, 0.1, 0.2, 0.15, 0.06])


def answers(seed=1, rows=900):
    """Stated confidence in tens and fives and whole percents, grades of all kinds, and three rows a dialogue."""
    generator = np.random.default_rng(seed)
    confidence = generator.choice([0, 7, 10, 30, 33, 50, 60, 70, 85, 90, 95, 99, 100], size=rows).astype(float)
    codes = generator.choice([0, 1, 2, UNRESOLVED], p=[0.5, 0.3, 0.15, 0.05], size=rows)
    return confidence, codes, np.arange(rows) // 3


@pytest.mark.parametrize("bins", [5, 10, 20])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_figures_are_those_of_scikit_learn(seed, bins):
    confidence, codes, clusters = answers(seed)
    found = calibration.calibration(confidence, codes, clusters, "incorrect", bins)
    stated, correct = confidence[codes >= 0] / 100, codes[codes >= 0] == 0
    assert found.brier.value == pytest.approx(sklearn.metrics.brier_score_loss(correct, stated))
    share, mean = sklearn.calibration.calibration_curve(correct, stated, n_bins=bins)
    filled = [each for each in found.bins if each.answers]
    assert [each.correct.value for each in filled] == pytest.approx(share)
    assert [each.confidence for each in filled] == pytest.approx(mean)
    weights = np.array([each.answers for each in filled]) / len(stated)
    assert found.ece.value == pytest.approx((weights * np.abs(share - mean)).sum())
    assert found.ece.low < found.ece.value < found.ece.high


def test_a_round_confidence_falls_into_the_bin_that_ends_there():
    confidence = np.array([0.0, 10.0, 10.1, 30.0, 70.0, 100.0])
    found = calibration.calibration(confidence, np.zeros(6, int), np.arange(6), "incorrect")
    assert [each.answers for each in found.bins] == [2, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    assert (found.bins[0].low, found.bins[0].high) == (0, 0.1)
    assert found.bins[3].confidence is None and found.bins[3].correct == (None, None, None)


def test_not_attempted_is_incorrect_or_left_out():
    confidence, codes, clusters = answers()
    confidence[:20] = np.nan
    confidence[20:25] = 101
    within = calibration.calibration(confidence, codes, clusters, "incorrect")
    without = calibration.calibration(confidence, codes, clusters, "excluded")
    for found in (within, without):
        assert found.answers == 900 == found.used + found.ungraded + found.unreadable + found.left_out
        assert found.ungraded == (codes < 0).sum()
        assert found.unreadable == (codes[:25] >= 0).sum()
        assert found.not_attempted == (codes[25:] == 2).sum()
        assert found.used == sum(each.answers for each in found.bins)
    assert (within.left_out, without.left_out) == (0, within.not_attempted)
    attempts = codes != 2
    alone = calibration.calibration(confidence[attempts], codes[attempts], clusters[attempts], "excluded")
    assert (without.ece, without.brier, without.bins) == (alone.ece, alone.brier, alone.bins)
    assert without.brier.value < within.brier.value


def simulated(draws, clusters, chance, seed=1):
    """Sums (clusters, draws, 10, 4) of data sets in which `chance` (per level of confidence) is right, and the truth.

    Three answers a dialogue, whose being right is correlated.
    """
    generator = np.random.default_rng(seed)
    place = generator.choice(len(LEVELS), p=STATED, size=(draws, clusters, 3))
    luck = np.sqrt(0.3) * generator.standard_normal((draws, clusters, 1))
    luck = luck + np.sqrt(0.7) * generator.standard_normal((draws, clusters, 3))
    right = luck < bootstrap.normal_quantile(chance)[place]
    sums = np.zeros((clusters, draws, 10, 4))
    bins = np.ceil(LEVELS / 10).astype(int) - 1
    stated = LEVELS[place] / 100
    each = np.stack([np.ones_like(stated), stated, right, (stated - right) ** 2], axis=-1)
    draw, cluster, _ = np.indices(place.shape)
    np.add.at(sums, (cluster, draw, bins[place]), each)
    gaps = np.bincount(bins, weights=STATED * (chance - LEVELS / 100))
    brier = STATED @ (chance * (1 - LEVELS / 100) ** 2 + (1 - chance) * (LEVELS / 100) ** 2)
    return sums, np.abs(gaps).sum(), brier


@pytest.mark.parametrize(
    ("clusters", "chance", "most"),
    [
        (100, 0.6 * LEVELS / 100, 0.97),
        (300, 0.45 + 0.3 * LEVELS / 100, 0.97),
        (300, LEVELS / 100, 0.97),
        # Gaps as large as their noise: the interval of the ECE is on the safe side.
        (100, LEVELS / 100 - 0.05, 1.0),
    ],
)
def test_intervals_cover_the_truth(clusters, chance, most):
    sums, ece, brier = simulated(1_000, clusters, chance)
    found = calibration.ece_intervals(sums, draws=600)
    assert 0.93 <= ((found.low <= ece + 1e-12) & (ece <= found.high)).mean() <= most
    found = bootstrap.intervals(sums, calibration.brier_score, draws=600)
    assert 0.93 <= ((found.low <= brier) & (brier <= found.high)).mean() <= 0.97


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_few_answers_give_figures_without_intervals(rows):
    found = calibration.calibration(np.full(rows, 80.0), np.zeros(rows, int), np.arange(rows), "incorrect")
    assert found.ece == pytest.approx((0.2, None, None)) if rows else found.ece == (None, None, None)
    assert found.brier == pytest.approx((0.04, None, None)) if rows else found.brier == (None, None, None)
    assert found.bins[7].correct.low is None


@pytest.mark.filterwarnings("error")
def test_answers_without_any_confidence_are_counted():
    found = calibration.calibration(np.full(50, np.nan), np.zeros(50, int), np.arange(50), "excluded")
    assert (found.used, found.unreadable, found.ece.value) == (0, 50, None)


def test_a_bin_that_is_right_throughout_has_the_exact_limit():
    found = calibration.calibration(np.full(60, 95.0), np.zeros(60, int), np.arange(60) // 2, "incorrect")
    assert found.bins[9].correct == pytest.approx((1, 0.025 ** (1 / 30), 1))
