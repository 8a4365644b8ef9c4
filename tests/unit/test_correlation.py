"""Correlation with an outside figure, against scipy."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation.correlation import correlation


def named(figures):
    return {f"model {place}": figure for place, figure in enumerate(figures)}


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=5, max_size=25))
def test_figures_are_those_of_scipy(pairs):
    one, other = np.array(pairs, dtype=float).T / 7
    found = correlation(named(one), named(other))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert found.pearson == found.spearman == (None, None, None)
        return
    expected = scipy.stats.pearsonr(one, other)
    assert found.pearson.value == pytest.approx(expected.statistic)
    assert found.spearman.value == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    if abs(expected.statistic) < 1 - 1e-9:
        assert found.pearson[1:] == pytest.approx(tuple(expected.confidence_interval()))
    else:
        assert found.pearson.low is None


@pytest.mark.parametrize(("models", "rho"), [(12, 0.8), (21, 0.0), (21, 0.8)])
def test_intervals_cover_the_truth(models, rho):
    generator = np.random.default_rng(1)
    covered = []
    for _ in range(1_000):
        one, other = generator.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=models).T
        found = correlation(named(one), named(other))
        spearman = 6 / np.pi * np.arcsin(rho / 2)
        covered.append(
            [found.pearson.low <= rho <= found.pearson.high, found.spearman.low <= spearman <= found.spearman.high]
        )
    pearson, spearman = np.mean(covered, axis=0)
    assert 0.93 <= pearson <= 0.97
    assert 0.93 <= spearman <= 0.98  # rather too wide with few models


def test_spearmans_interval_is_bonett_and_wrights():
    found = correlation(named([1, 2, 3, 4, 5, 6, 7]), named([2, 1, 4, 3, 7, 5, 6])).spearman
    error = np.sqrt((1 + found.value**2 / 2) / 4)
    assert np.arctanh(found) == pytest.approx(np.arctanh(found.value) + np.array([0, -1.96, 1.96]) * error, abs=1e-4)


def test_models_without_an_outside_figure_are_named():
    found = correlation(
        {"a": 0.1, "b": 0.5, "c": 0.4, "d": 0.9, "e": None}, {"a": 10, "c": 30, "d": 60, "b": None, "z": 1}
    )
    assert (found.models, found.left_out) == (("a", "c", "d"), ("b", "e"))
    assert found.pearson.value == pytest.approx(scipy.stats.pearsonr([0.1, 0.4, 0.9], [10, 30, 60]).statistic)
    assert found.pearson.low is None  # three models
    assert found.spearman == (1, None, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("models", [0, 1, 2])
def test_fewer_than_three_models_correlate_with_nothing(models):
    found = correlation(named([0.1, 0.2][:models]), named([1, 2][:models]))
    assert found.pearson == found.spearman == (None, None, None)
    assert len(found.models) == models
