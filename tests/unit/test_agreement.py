"""Agreement with people and among judges, against scikit-learn and `krippendorff`; intervals that cover."""

import krippendorff
import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation import agreement, bootstrap
from devqa.evaluation.statistics import UNRESOLVED

ERRORS = np.array([[0.85, 0.10, 0.05], [0.15, 0.80, 0.05], [0.05, 0.15, 0.80]])


def judged(generator, shape, shares=(0.5, 0.35, 0.15), errors=ERRORS):
    """True grades and a judge's (..., clusters, 3 rows); dialogues differ in how good their answers are."""
    effect = generator.gamma(np.array(shares) * 2, size=(*shape, 1, 3))
    limits = (effect / effect.sum(axis=-1, keepdims=True)).cumsum(axis=-1)[..., :2]
    true = (generator.random((*shape, 3, 1)) > limits).sum(axis=-1)
    judge = (generator.random((*shape, 3, 1)) > errors.cumsum(axis=-1)[true][..., :2]).sum(axis=-1)
    return true, judge


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_of_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    people, judge = (each.ravel() for each in judged(generator, (80,)))
    people[:10], judge[5:20] = UNRESOLVED, UNRESOLVED
    found = agreement.against_people(people, judge, np.arange(240) // 3)
    both = (people >= 0) & (judge >= 0)
    assert found.kappa.value == pytest.approx(sklearn.metrics.cohen_kappa_score(people[both], judge[both]))
    assert found.accuracy.value == pytest.approx(sklearn.metrics.accuracy_score(people[both], judge[both]))
    expected = sklearn.metrics.confusion_matrix(people[both], judge[both], labels=[0, 1, 2])
    assert np.array_equal(found.confusion, expected)
    assert (found.rows, found.ungraded) == (220, 10)
    assert found.kappa.low < found.kappa.value < found.kappa.high
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def kappa_of(shares, errors):
    table = np.array(shares)[:, None] * errors
    chance = table.sum(axis=0) @ table.sum(axis=1)
    return (np.trace(table) - chance) / (1 - chance)


@pytest.mark.parametrize(("clusters", "shares"), [(60, (0.5, 0.35, 0.15)), (150, (0.8, 0.15, 0.05))])
def test_intervals_of_accuracy_and_kappa_cover_the_truth(clusters, shares):
    true, judge = judged(np.random.default_rng(1), (1_000, clusters), shares)
    sums = np.zeros((clusters, 1_000, 3, 3))
    draw, cluster, _ = np.indices(true.shape)
    np.add.at(sums, (cluster, draw, true, judge), 1)
    for statistic, truth in (
        (agreement.accuracies, np.diag(ERRORS) @ shares),
        (agreement.kappas, kappa_of(shares, ERRORS)),
    ):
        found = bootstrap.intervals(sums, statistic, draws=800)
        assert 0.93 <= ((found.low <= truth) & (truth <= found.high)).mean() <= 0.97


@pytest.mark.filterwarnings("error")
def test_a_judge_that_always_agrees_is_not_certain_to_do_so():
    people = np.tile([0, 1], 30)
    found = agreement.against_people(people, people, np.arange(60))
    unseen = 1 - 0.025 ** (1 / 60)
    assert found.accuracy == pytest.approx((1, 1 - unseen, 1))
    assert found.kappa == pytest.approx((1, 1 - unseen / 0.5, 1))


@pytest.mark.filterwarnings("error")
def test_kappa_of_one_grade_throughout_is_undefined():
    found = agreement.against_people(np.zeros(40, int), np.zeros(40, int), np.arange(40))
    assert found.kappa == (None, None, None)
    assert found.accuracy.value == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_few_rows_give_no_interval(rows):
    people = np.arange(rows) % 3
    found = agreement.against_people(people, people, np.arange(rows))
    assert found.accuracy.low is None and found.kappa.low is None
    assert found.accuracy.value == (1 if rows else None)
    alpha = agreement.krippendorff_alpha(np.stack([people, people]), np.arange(rows))
    assert (alpha.rows, alpha.alpha.low) == (rows, None)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, UNRESOLVED]), min_size=4, max_size=4), min_size=2, max_size=20))
def test_alpha_is_that_of_krippendorff(rows):
    grades = np.array(rows).T
    found = agreement.krippendorff_alpha(grades, np.arange(grades.shape[1]))
    paired = (grades >= 0).sum(axis=0) >= 2
    assert found.rows == paired.sum()
    usable = grades[:, paired]
    if len(np.unique(usable[usable >= 0])) < 2:
        assert found.alpha.value is None
        return
    data = np.where(grades < 0, np.nan, grades)
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert found.alpha.value == pytest.approx(expected)


def test_intervals_of_alpha_cover_the_truth():
    """Two judges with the same margins: alpha of the population is kappa's."""
    errors = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    shares = np.full(3, 1 / 3)
    one, other = judged(np.random.default_rng(1), (1_000, 80), shares, errors)
    sums = np.zeros((80, 1_000, 4))
    sums[..., 0] = 2 * (one != other).sum(axis=-1).T
    for grade in range(3):
        sums[..., 1 + grade] = ((one == grade).sum(axis=-1) + (other == grade).sum(axis=-1)).T
    found = bootstrap.intervals(sums, agreement.alphas, draws=800)
    truth = kappa_of(shares, errors)
    assert 0.93 <= ((found.low <= truth) & (truth <= found.high)).mean() <= 0.97


def test_alpha_has_an_interval_by_dialogue():
    one, other = judged(np.random.default_rng(1), (60,))
    grades = np.stack([one.ravel(), other.ravel()])
    by_dialogue = agreement.krippendorff_alpha(grades, np.arange(180) // 3).alpha
    assert by_dialogue.low < by_dialogue.value < by_dialogue.high
    repeated = agreement.krippendorff_alpha(grades.repeat(4, axis=1), (np.arange(180) // 3).repeat(4)).alpha
    assert repeated.high - repeated.low == pytest.approx(by_dialogue.high - by_dialogue.low, rel=0.02)


def test_a_majority_is_more_than_half_of_all_judges():
    none = UNRESOLVED
    grades = np.array([[0, 0, 0, 0, none, 1], [0, 1, 0, none, none, 2], [0, 1, none, none, none, 0]])
    assert agreement.majority(grades).tolist() == [0, 1, 0, none, none, none]
    assert agreement.majority(np.array([[0, 2], [1, 2]])).tolist() == [none, 2]
