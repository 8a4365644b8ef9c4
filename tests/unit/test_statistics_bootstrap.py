"""The bootstrap's machinery, and the distributions it needs, against scipy."""

import numpy as np
import pytest
import scipy.stats

from devqa.evaluation import bootstrap, distributions


def ratio(totals):
    """(n, runs, 2) to (n, runs, 1)."""
    return np.divide(
        totals[..., :1], totals[..., 1:], out=np.full((*totals.shape[:-1], 1), np.nan), where=totals[..., 1:] > 0
    )


def test_intervals_are_bca_as_scipy_has_them_widened_for_few_clusters():
    generator = np.random.default_rng(3)
    part, whole = generator.gamma(0.3, size=60), generator.integers(1, 4, size=60).astype(float)
    reach = scipy.stats.t.ppf(0.975, 59) * np.sqrt(60 / 59)
    expected = scipy.stats.bootstrap(
        (part, whole),
        lambda part, whole, axis: part.sum(axis=axis) / whole.sum(axis=axis),
        paired=True,
        n_resamples=40_000,
        method="BCa",
        confidence_level=scipy.stats.norm.cdf(reach) - scipy.stats.norm.cdf(-reach),
        rng=1,
    ).confidence_interval
    found = bootstrap.intervals(np.stack([part, whole], axis=-1)[:, None], ratio, draws=40_000)
    tolerance = 0.02 * (expected.high - expected.low)
    assert found.estimate(0, 0) == pytest.approx((part.sum() / whole.sum(), *expected), abs=tolerance)


def test_resamples_draw_as_many_clusters_as_there_are_with_replacement():
    totals = bootstrap.resampled(np.eye(40), draws=3_000)
    assert totals.shape == (3_000, 40)
    assert (totals.sum(axis=1) == 40).all()
    assert totals.mean() == 1
    assert totals.var() == pytest.approx(39 / 40, rel=0.03)  # each count is binomial(40, 1/40)
    assert np.corrcoef(totals[:-1, 0], totals[1:, 0])[0, 1] == pytest.approx(0, abs=0.06)


def test_many_clusters_are_drawn_in_parts_that_differ():
    clusters = 3 * bootstrap._AT_ONCE // 4
    totals = bootstrap.resampled(np.arange(clusters, dtype=float)[:, None], draws=3)
    assert len(np.unique(totals)) == 3


@pytest.mark.filterwarnings("error")
def test_a_statistic_that_many_resamples_leave_undefined_has_no_interval():
    sums = np.zeros((30, 2, 2))
    sums[:, 0, 1] = 1
    sums[::2, 0, 0] = 1
    sums[:2, 1] = [[1, 1], [0, 1]]  # e**-2 of the resamples miss both
    found = bootstrap.intervals(sums, ratio, bearing=np.full((2, 1), 30))
    assert found.estimate(0, 0).low is not None
    assert found.estimate(1, 0) == (0.5, None, None)


@pytest.mark.filterwarnings("error")
def test_no_clusters_at_all():
    assert bootstrap.intervals(np.zeros((0, 1, 2)), ratio).estimate(0, 0) == (None, None, None)


@pytest.mark.parametrize("probability", [0.9, 0.975])
def test_t_quantiles(probability):
    freedom = np.array([5, 9, 20, 59, 300, 3_000])
    expected = scipy.stats.t.ppf(probability, freedom)
    assert distributions.t_quantile(probability, freedom) == pytest.approx(expected, rel=0.003)
    assert distributions.t_quantile(probability, freedom[1:]) == pytest.approx(expected[1:], rel=0.0005)
    assert np.isnan(distributions.t_quantile(probability, 0))


@pytest.mark.parametrize(("t", "freedom"), [(0.0, 9), (0.5, 9), (-2.0, 9), (3.0, 9), (6.0, 59), (20.0, 3_000)])
def test_p_values_of_t(t, freedom):
    expected = 2 * scipy.stats.t.sf(abs(t), freedom)
    assert distributions.t_two_sided(t, freedom) == pytest.approx(expected, rel=0.01, abs=0)
    quantile = float(distributions.t_quantile(0.975, freedom))
    assert distributions.t_two_sided(quantile, freedom) == pytest.approx(0.05)


def test_normal_distribution():
    z = [-20.0, -3.0, 0.0, 1.96]
    assert distributions.normal_cdf(z) == pytest.approx(scipy.stats.norm.cdf(z), rel=1e-9, abs=0)
    assert distributions.normal_quantile([0.025, 0.5]) == pytest.approx(scipy.stats.norm.ppf([0.025, 0.5]))
    assert np.isfinite(distributions.normal_quantile([0.0, 1.0])).all()
