"""Intervals of fact recall: repositories are drawn, then pull requests within them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from devqa.evaluation import bootstrap
from devqa.evaluation.comparison import resolution
from devqa.pull_requests.figures import intervals

NAN = np.nan


def repositories(*sizes):
    return [f"r{place}" for place, size in enumerate(sizes) for _ in range(size)]


def shifted(spread, count=8, size=40, seed=1):
    """One run's values: each repository has a mean of its own, `spread` apart."""
    generator = np.random.default_rng(seed)
    means = np.linspace(0.5 - spread, 0.5 + spread, count)
    return np.clip(np.concatenate([generator.normal(mean, 0.1, size) for mean in means]), 0, 1)[None]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5))
def test_whole_repositories_are_drawn_and_as_many_questions_within_as_they_have(sizes):
    own = repositories(*sizes)
    times = intervals.totals(np.eye(len(own)), own, draws=50)
    starts = np.cumsum([0, *sizes[:-1]])
    by_repository = np.add.reduceat(times, starts, axis=1) / sizes
    # Each repository is drawn a whole number of times, and as many are drawn as there are.
    assert (by_repository == by_repository.round()).all()
    assert (by_repository.sum(axis=1) == len(sizes)).all()


def test_a_question_is_drawn_once_on_average_whatever_its_repository():
    own = repositories(30, 10)
    times = intervals.totals(np.eye(40), own, draws=4_000)
    assert times.mean(axis=0) == pytest.approx(np.ones(40), abs=0.1)
    # Two of one repository are drawn together more often than two of different ones.
    assert np.corrcoef(times[:, 0], times[:, 1])[0, 1] > 0.1 > np.corrcoef(times[:, 0], times[:, 35])[0, 1]


def test_differing_repositories_widen_the_interval_and_equal_ones_hardly():
    widths = {}
    for spread in (0.0, 0.2):
        values = shifted(spread)
        two = intervals.mean_intervals(values, repositories(*[40] * 8))[0]
        one = intervals.mean_intervals(values, ["r"] * 320)[0]
        assert two.value == one.value == pytest.approx(values.mean())
        assert two.low < two.value < two.high
        widths[spread] = (two.high - two.low) / (one.high - one.low)
    assert widths[0.0] == pytest.approx(1.4, abs=0.25)
    assert widths[0.2] > 2


def test_one_repository_has_the_house_s_own_interval():
    values = shifted(0.1, count=1, size=60)
    sums = np.stack([values[0], np.ones(60)], axis=-1)[:, None]
    expected = bootstrap.intervals(sums, lambda totals: totals[..., :1] / totals[..., 1:])
    assert intervals.mean_intervals(values, ["r"] * 60) == [expected.estimate(0, 0)]
    assert intervals.levels(["r"] * 60) == ["pull_request"]
    assert intervals.levels(["r", "s"]) == ["repository", "pull_request"]


@pytest.mark.parametrize("own", [["r"] * 12, repositories(6, 6)])
def test_what_has_too_few_questions_or_none_has_no_interval(own):
    values = np.tile([0.2, 0.8], 6)[None]
    few = np.where(np.arange(12) < 9, values, NAN)
    none = np.full((1, 12), NAN)
    found = intervals.mean_intervals(np.concatenate([values, few, none, np.ones((1, 12))]), own)
    assert found[0].low < 0.5 < found[0].high
    assert found[1] == (pytest.approx(few[0, :9].mean()), None, None)
    assert found[2] == (None, None, None)
    # Never missed in twelve questions is not never.
    assert found[3] == (1.0, pytest.approx(0.025 ** (1 / 12)), 1.0)
    assert intervals.mean_intervals(np.empty((2, 0)), []) == [(None, None, None)] * 2


VALUES = st.sampled_from([0.0, 0.5, 1.0, NAN])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(VALUES, min_size=12, max_size=12) | VALUES.map(lambda value: [value] * 12), max_size=4))
@example([[0.5] * 12, [0.5] * 12, [NAN] * 12])
def test_no_interval_is_without_width(by_repository):
    """Repositories whose questions all have one value, or none, are among them."""
    values = np.array([sum(by_repository, [])])
    (found,) = intervals.mean_intervals(values, repositories(*[12] * len(by_repository)))
    assert found.low is None or 0 <= found.low < found.high <= 1


def test_a_repository_without_a_grade_narrows_nothing():
    """Where it alone is drawn there is no mean, which is not a mean of 0."""
    values = np.ones((2, 60))
    values[:, 40:] = NAN
    values[1] *= 0.5
    whole, half = intervals.mean_intervals(values, repositories(20, 20, 20))
    assert whole == (1.0, pytest.approx(0.025 ** (1 / 40)), 1.0)
    assert half == (0.5, None, None)


@pytest.mark.parametrize("own", [["r"] * 60, repositories(20, 20, 20)])
def test_runs_are_compared_on_the_questions_of_both(own):
    generator = np.random.default_rng(2)
    base = generator.uniform(0.2, 0.6, 60)
    better = base + generator.uniform(0.1, 0.2, 60)
    better[:5] = NAN
    values = np.stack([base, better, base])
    up, same = intervals.compare_means(["a", "b", "c"], values, own, [(0, 1), (0, 2)])
    assert up.rows == 55
    assert up.difference.value == pytest.approx((base - better)[5:].mean())
    assert up.difference.low < up.difference.value < up.difference.high < 0
    assert up.better == "b"
    assert up.p_holm == pytest.approx(2 * up.p)
    assert same.difference == (0.0, None, None)
    assert (same.p, same.better) == (1.0, None)


def test_a_test_and_its_interval_say_the_same():
    generator = np.random.default_rng(4)
    for effect in (0.0, 0.02, 0.05, 0.1):
        values = np.stack([generator.normal(0.5 + effect, 0.15, 60), np.full(60, 0.5)])
        (found,) = intervals.compare_means(["a", "b"], values, repositories(20, 20, 20), [(0, 1)])
        assert (found.p < 0.05) == (not found.difference.low <= 0 <= found.difference.high)


def test_true_nulls_are_rejected_about_as_often_as_promised():
    generator = np.random.default_rng(6)
    values = generator.normal(0.5, 0.2, (401, 90))
    for own in (["r"] * 90, repositories(30, 30, 30)):
        found = intervals.compare_means([""] * 401, values, own, [(place, 400) for place in range(400)])
        assert np.mean([each.p < 0.05 for each in found]) < 0.12
    independent = generator.normal(0, 0.2, (400, 90))
    zero = np.zeros((1, 90))
    found = intervals.compare_means(
        [""] * 401, np.concatenate([independent, zero]), ["r"] * 90, [(place, 400) for place in range(400)]
    )
    assert 0.02 < np.mean([each.p < 0.05 for each in found]) < 0.09


@pytest.mark.parametrize("count", [2, 3, 5])
def test_repositories_that_differ_are_not_taken_for_agents_that_do(count):
    """Each repository favours one of two equal agents by chance, as another set of repositories would not."""
    generator = np.random.default_rng(7)
    own = repositories(*[40] * count)
    rejected = []
    for _ in range(150):
        favour = np.repeat(generator.normal(0, 0.1, count), 40)
        values = generator.normal(0.5, 0.2, (2, 40 * count)) + np.stack([favour, -favour]) / 2
        (found,) = intervals.compare_means(["a", "b"], values, own, [(0, 1)])
        rejected.append(found.p < 0.05)
    assert np.mean(rejected) < 0.12


@pytest.mark.parametrize("count", [5, 8])
def test_the_difference_that_is_told_is_found_in_about_4_of_5_draws(count):
    """Repositories that vary by 0.1 leave few degrees of freedom: normal quantiles would give 55 and 70 %."""
    generator = np.random.default_rng(3)
    own = repositories(*[20] * count)

    def compared(difference, draws=300):
        favour = np.repeat(generator.normal(difference, 0.1, (draws, count)), 20, axis=1)
        values = np.concatenate([favour + generator.normal(0, 0.2, favour.shape), np.zeros((1, 20 * count))])
        return intervals.compare_means([""] * (draws + 1), values, own, [(place, draws) for place in range(draws)])

    told = resolution(compared(0.0)).median
    found = np.mean([each.p < 0.05 for each in compared(told)])
    assert 0.7 < found < 0.87


@pytest.mark.parametrize("own", [["r"] * 20, repositories(10, 10)])
def test_a_difference_that_all_questions_share_is_tested_by_its_sign(own):
    values = np.stack([np.full(20, 0.75), np.full(20, 0.5)])
    (found,) = intervals.compare_means(["a", "b"], values, own, [(0, 1)])
    assert found.difference == (0.25, None, None)
    assert found.p == 2.0**-19
    (few,) = intervals.compare_means(["a", "b"], values[:, :9], ["r"] * 9, [(0, 1)])
    assert (few.difference.value, few.p, few.better) == (0.25, None, None)
    (none,) = intervals.compare_means(["a", "b"], np.array([[1.0, NAN], [NAN, 1.0]]), ["r"] * 2, [(0, 1)])
    assert (none.difference.value, none.rows) == (None, 0)


def test_the_share_of_the_gap_lies_where_the_mean_does():
    generator = np.random.default_rng(3)
    lower, upper = generator.uniform(0, 0.3, 50), generator.uniform(0.7, 1, 50)
    value = lower + 0.25 * (upper - lower)
    found = intervals.gap_share(lower, value, upper, repositories(25, 25))
    assert found.value == pytest.approx(0.25)
    assert found.low == pytest.approx(0.25)
    assert found.high == pytest.approx(0.25)
    noisy = value + generator.normal(0, 0.1, 50)
    noisy[0] = NAN
    found = intervals.gap_share(lower, noisy, upper, ["r"] * 50)
    expected = (noisy - lower)[1:].sum() / (upper - lower)[1:].sum()
    assert found.value == pytest.approx(expected)
    assert found.low < expected < found.high
    assert intervals.gap_share(upper, value, lower, ["r"] * 50) == (None, None, None)
    assert intervals.gap_share(lower[:5], value[:5], upper[:5], ["r"] * 5)[1:] == (None, None)


def test_a_gap_that_some_resamples_lack_has_no_interval():
    lower = np.tile([0.0, 1.0], 10)
    upper = np.tile([1.0, 0.1], 10)
    found = intervals.gap_share(lower, (lower + upper) / 2, upper, ["r"] * 20)
    assert found == (pytest.approx(0.5), None, None)
