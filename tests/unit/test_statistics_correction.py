"""Shares corrected for the judge's errors: exact on expected counts, intervals that cover, and refusals."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation import correction, statistics
from devqa.evaluation.metrics import SHARES
from devqa.evaluation.statistics import UNRESOLVED

ERRORS = np.array([[0.92, 0.06, 0.02], [0.10, 0.86, 0.04], [0.02, 0.06, 0.92]])
TRUE = np.array([0.5, 0.35, 0.15])


def judged(generator, clusters, shares=TRUE, errors=ERRORS):
    """True grades, the judge's grades, and clusters, of three rows a dialogue."""
    number = np.repeat(np.arange(clusters), 3)
    effect = generator.gamma(np.array(shares) * 2 + 1e-12, size=(clusters, 3))
    limits = (effect / effect.sum(axis=-1, keepdims=True)).cumsum(axis=-1)[number, :2]
    true = (generator.random((3 * clusters, 1)) > limits).sum(axis=-1)
    judge = (generator.random((3 * clusters, 1)) > errors.cumsum(axis=-1)[true, :2]).sum(axis=-1)
    return true, judge, number


def test_true_shares_come_back_from_what_the_judge_makes_of_them():
    counts = 1_000 * np.stack([TRUE @ ERRORS, np.array([0.1, 0.1, 0.8]) @ ERRORS, np.zeros(3)])
    found = correction.true_shares(ERRORS, counts)
    assert found == pytest.approx(np.array([TRUE, [0.1, 0.1, 0.8], [0, 0, 0]]))


SHARES_OF_3 = st.tuples(*[st.floats(0.01, 1)] * 3).map(lambda each: np.array(each) / sum(each))


@given(SHARES_OF_3, st.tuples(SHARES_OF_3, SHARES_OF_3, SHARES_OF_3))
def test_what_noise_would_make_negative_is_the_nearest_possible(shown, rows):
    rates = 0.6 * np.eye(3) + 0.4 * np.array(rows)
    found = correction.true_shares(rates, shown[None])[0]
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    # Non-negative least squares; a heavy row makes the shares sum to 1.
    expected, _ = scipy.optimize.nnls(np.vstack([rates.T, np.full(3, 1e4)]), np.append(shown, 1e4))
    assert found == pytest.approx(expected, abs=1e-4)


def test_correction_takes_the_judges_bias_away():
    true, judge, clusters = judged(np.random.default_rng(1), 3_000, shares=(0.3, 0.5, 0.2))
    sample = clusters < 600
    found = correction.corrected(true[sample], judge[sample], clusters[sample], judge[None], clusters, draws=500)
    expected = dict(zip(SHARES, statistics.shares(np.bincount(true)[None]), strict=True))
    biased = statistics.share_intervals(judge[None, None], clusters, draws=500)[0]
    assert found.reason == ""
    for share, estimate in found.figures.items():
        assert estimate.low < expected[share] < estimate.high
        assert estimate.high - estimate.low > biased[share].high - biased[share].low
    assert biased["co"].low > expected["co"]


def test_a_judge_without_errors_changes_nothing():
    true, _, clusters = judged(np.random.default_rng(1), 100)
    codes = np.stack([true, np.where(np.arange(300) < 30, UNRESOLVED, true)])
    found = correction.corrected(true, true, clusters, codes, clusters).figures
    plain = statistics.share_intervals(codes[None], clusters)[0]
    for share in SHARES:
        assert found[share] == pytest.approx(tuple(plain[share]), rel=1e-3)


def test_intervals_hold_the_uncertainty_of_the_sample():
    """240 draws: 91 to 99 % is 95 % and three standard errors."""
    generator = np.random.default_rng(1)
    covered = []
    truth = statistics.shares(1e6 * TRUE[None])
    for _ in range(240):
        true, judge, clusters = judged(generator, 200)
        sample = np.isin(clusters, generator.choice(200, 60, replace=False))
        found = correction.corrected(true[sample], judge[sample], clusters[sample], judge[None], clusters, draws=500)
        covered.append(
            [each.low <= value <= each.high for each, value in zip(found.figures.values(), truth, strict=True)]
        )
    covered = np.mean(covered, axis=0)
    assert (covered >= 0.91).all() and (covered <= 0.99).all()


def test_a_sample_of_other_dialogues_serves_too():
    generator = np.random.default_rng(1)
    true, judge, clusters = judged(generator, 200)
    people, sampled_judge, elsewhere = judged(generator, 80, shares=(0.2, 0.4, 0.4))
    found = correction.corrected(people, sampled_judge, elsewhere + 1_000, judge[None], clusters).figures
    assert found["co"].low < (true == 0).mean() < found["co"].high


@pytest.mark.filterwarnings("error")
def test_a_grade_that_never_occurs_needs_no_sample():
    errors = np.array([[0.9, 0.1, 0], [0.1, 0.9, 0], [0, 0, 1]])
    true, judge, clusters = judged(np.random.default_rng(1), 100, (0.5, 0.5, 0.0), errors)
    found = correction.corrected(true, judge, clusters, judge[None], clusters)
    assert found.reason == ""
    assert found.figures["na"].value == 0
    assert found.figures["co"].value == pytest.approx((true == 0).mean())


@pytest.mark.filterwarnings("error")
def test_where_it_cannot_be_done_it_says_why():
    true, judge, clusters = judged(np.random.default_rng(1), 100)
    evasive = true == 2
    few = correction.corrected(true[~evasive], judge[~evasive], clusters[~evasive], judge[None], clusters)
    assert few.figures == {} and "0 answers NOT_ATTEMPTED" in few.reason
    blind = np.random.default_rng(1).permutation(judge)
    assert "hardly depend" in correction.corrected(true, blind, clusters, judge[None], clusters).reason
    nobody = correction.corrected(true[:0], judge[:0], clusters[:0], judge[None], clusters)
    assert "0 answers CORRECT" in nobody.reason


@pytest.mark.filterwarnings("error")
def test_few_dialogues_give_no_interval_and_a_run_without_grades_no_figure():
    true, judge, clusters = judged(np.random.default_rng(1), 200)
    sample = clusters < 8
    found = correction.corrected(np.tile([0, 1, 2], 8), np.tile([0, 1, 2], 8), clusters[sample], judge[None], clusters)
    assert found.figures["co"].value is not None and found.figures["co"].low is None
    nothing = correction.corrected(true, judge, clusters, np.full((1, 600), UNRESOLVED), clusters)
    assert set(nothing.figures.values()) == {(None, None, None)}
