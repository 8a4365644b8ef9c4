"""Comparing runs: the test holds its level, the interval covers, ranks tie, and detectable differences are detected."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation import comparison, statistics
from devqa.evaluation.bootstrap import Estimate
from devqa.evaluation.comparison import Comparison

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "simpledevqa"
MODELS = ("Llama-3.1-8b", "claude-3-5-haiku", "gpt-3.5-turbo", "o3-mini")


def grades(generator, one, other, clusters, repeats):
    """Codes (2, repeats, rows) of two runs with true shares `one` and `other`, and the rows' clusters.

    Three rows a dialogue; difficulty is shared by both runs within a dialogue and a row, and each run has its own
    luck with a dialogue, a row and a repeat.
    """
    number = np.repeat(np.arange(clusters), 3)
    noise = generator.standard_normal
    hard = (
        np.sqrt(0.15) * noise(clusters)[number]
        + np.sqrt(0.15) * noise(3 * clusters)
        + np.sqrt(0.3) * noise((2, 1, clusters))[..., number]
        + np.sqrt(0.2) * noise((2, 1, 3 * clusters))
        + np.sqrt(0.2) * noise((2, repeats, 3 * clusters))
    )
    limits = scipy.stats.norm.ppf(np.cumsum([one, other], axis=1)[:, :2])
    return (hard[..., None] > limits[:, None, None]).sum(axis=-1).astype(np.int8), number


def compared(one, other, share, clusters, repeats, draws=1_000):
    generator = np.random.default_rng(1)
    data = (grades(generator, one, other, clusters, repeats) for _ in range(draws))
    return [comparison.compare(["a", "b"], codes, numbers, share)[0] for codes, numbers in data]


@pytest.mark.parametrize(
    ("one", "other", "share", "clusters", "repeats"),
    [
        ((0.50, 0.40, 0.10), (0.50, 0.40, 0.10), "f_score", 60, 1),
        ((0.50, 0.40, 0.10), (0.50, 0.40, 0.10), "co", 150, 3),
        ((0.90, 0.07, 0.03), (0.90, 0.07, 0.03), "cga", 150, 3),
        # The same F-score, one by abstaining less.
        ((0.50, 0.30, 0.20), (5 / 9, 4 / 9, 0.00), "f_score", 60, 3),
    ],
)
def test_of_equal_runs_1_in_20_is_found_to_differ(one, other, share, clusters, repeats):
    found = compared(one, other, share, clusters, repeats)
    rejected = np.mean([each.p <= 0.05 for each in found])
    covered = np.mean([each.difference.low <= 0 <= each.difference.high for each in found])
    assert 0.03 <= rejected <= 0.07  # 5 % and three standard errors of 1,000 draws
    assert covered == pytest.approx(1 - rejected, abs=0.002)


def test_intervals_of_a_difference_cover_it():
    one, other = (0.8, 0.15, 0.05), (0.6, 0.3, 0.1)
    truth = 0.8 / (1 - 0.025) - 0.6 / (1 - 0.05)
    found = compared(one, other, "f_score", 100, 3)
    covered = np.mean([each.difference.low <= truth <= each.difference.high for each in found])
    assert 0.93 <= covered <= 0.97


def test_the_smallest_difference_is_found_in_4_of_5_draws():
    null = compared((0.5, 0.4, 0.1), (0.5, 0.4, 0.1), "co", 300, 3, draws=30)
    smallest = comparison.resolution(null).median
    found = compared((0.5 + smallest, 0.4 - smallest, 0.1), (0.5, 0.4, 0.1), "co", 300, 3, draws=800)
    assert np.mean([each.p <= 0.05 for each in found]) == pytest.approx(0.8, abs=0.06)


def test_few_clusters_show_less_than_a_normal_distribution_would():
    null = compared((0.5, 0.4, 0.1), (0.5, 0.4, 0.1), "co", 10, 1, draws=200)
    found = comparison.resolution(null)
    t = scipy.stats.t(9)
    errors = np.array([each.error for each in null if each.error is not None])
    assert found.median == pytest.approx(np.median(errors) * (t.ppf(0.975) + t.ppf(0.8)), rel=0.005)
    assert found.largest == pytest.approx(errors.max() * (t.ppf(0.975) + t.ppf(0.8)), rel=0.005)
    assert {each.freedom for each in null if each.error is not None} == {9}


def test_one_row_a_cluster_is_the_paired_t_test():
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, size=(2, 1, 80)).astype(np.int8)
    found = comparison.compare(["a", "b"], codes, np.arange(80), "co")[0]
    expected = scipy.stats.ttest_rel(codes[1, 0], codes[0, 0])
    assert found.p == pytest.approx(expected.pvalue, rel=0.01)
    interval = expected.confidence_interval()
    assert found.difference == pytest.approx((np.mean(codes[1] - codes[0]), *interval), abs=1e-4)
    assert (found.rows, found.clusters) == (80, 80)


def test_runs_are_compared_on_the_rows_that_both_have_a_grade_of():
    generator = np.random.default_rng(1)
    codes = generator.choice(3, size=(3, 2, 300)).astype(np.int8)
    codes[0, :, :60] = statistics.UNRESOLVED
    codes[1, 1, 60:90] = statistics.UNRESOLVED  # the other repeat has a grade
    clusters = np.arange(300) // 3
    found = {(each.first, each.second): each for each in comparison.compare("abc", codes, clusters)}
    assert {pair: each.rows for pair, each in found.items()} == {("a", "b"): 240, ("a", "c"): 240, ("b", "c"): 300}
    alone = comparison.compare("ac", codes[[0, 2]][..., 60:], clusters[60:])[0]
    assert found["a", "c"].difference == alone.difference
    values = statistics.share_intervals(codes[1:], clusters)
    assert found["b", "c"].difference.value == pytest.approx(values[0]["f_score"].value - values[1]["f_score"].value)


def test_pairs_that_are_named_are_compared_and_corrected_for_alone():
    codes = np.random.default_rng(1).choice(3, size=(4, 1, 300)).astype(np.int8)
    codes[0, 0, :50] = 0
    found = comparison.compare("abcd", codes, np.arange(300), "co", pairs=[(2, 0), (3, 1)])
    assert [(each.first, each.second) for each in found] == [("c", "a"), ("d", "b")]
    assert found[0].difference.value < 0
    assert min(each.p_holm for each in found) == pytest.approx(2 * min(each.p for each in found))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_few_clusters_give_no_test(rows):
    codes = np.zeros((2, 1, rows), dtype=np.int8)
    codes[1] = 1
    found = comparison.compare("ab", codes, np.arange(rows))[0]
    assert (found.p, found.p_holm, found.better, found.difference.low) == (None, None, None, None)
    assert found.difference.value == (1 if rows else None)


@pytest.mark.filterwarnings("error")
def test_runs_that_never_differ_and_runs_that_always_do():
    codes = np.zeros((3, 1, 40), dtype=np.int8)
    codes[2] = 1
    same, apart, _ = comparison.compare("abc", codes, np.arange(40))
    assert (same.difference, same.p, same.better) == (Estimate(0, None, None), 1, None)
    assert apart.difference == Estimate(1, None, None)
    assert apart.p == pytest.approx(scipy.stats.binomtest(40, 40).pvalue)
    assert apart.better == "a"


@pytest.mark.filterwarnings("error")
def test_a_run_that_attempted_nothing_is_not_compared():
    codes = np.random.default_rng(1).choice(3, size=(3, 1, 60)).astype(np.int8)
    codes[0] = 2
    found = comparison.compare("abc", codes, np.arange(60))
    assert [each.difference.value is None for each in found] == [True, True, False]
    assert [each.p_holm is None for each in found] == [True, True, False]
    assert comparison.resolution(found).comparisons == 1
    assert comparison.resolution(found[:2]) == comparison.Resolution(0, None, None, None)


def test_holm_by_hand():
    assert comparison.holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_what_stepping_down_rejects(p_values):
    adjusted = comparison.holm(p_values)
    for step, place in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[place] * (len(p_values) - step) > 0.05:
            break
        assert adjusted[place] <= 0.05
    assert sum(p <= 0.05 for p in adjusted) in (step, step + 1) if p_values else adjusted == []
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))


def won(first, second, p=0.001):
    return Comparison(first, second, 100, 100, Estimate(0.1, 0.05, 0.15), 0.02, p, p)


def tied(first, second):
    return won(first, second, 0.5)


def test_runs_that_cannot_be_told_apart_share_a_rank():
    values = {"a": 0.7, "b": 0.69, "c": 0.6, "d": None}
    all_apart = [won("a", "b"), won("a", "c"), won("b", "c")]
    assert comparison.tied_ranks(values, all_apart) == {"a": 1, "b": 2, "c": 3, "d": None}
    assert comparison.tied_ranks(values, [tied("a", "b"), won("a", "c"), won("b", "c")]) == {
        "a": 1,
        "b": 1,
        "c": 3,
        "d": None,
    }
    assert comparison.tied_ranks(values, [tied("a", "b"), won("a", "c"), tied("b", "c")])["c"] == 2
    assert comparison.tied_ranks({"a": 0.5}, []) == {"a": 1}


@given(st.permutations("abcde"), st.lists(st.booleans(), min_size=10, max_size=10))
def test_no_run_shares_a_rank_with_one_it_beats(order, outcomes):
    pairs = list(zip(itertools.combinations(order, 2), outcomes, strict=True))
    comparisons = [won(*pair) if apart else tied(*pair) for pair, apart in pairs]
    ranks = comparison.tied_ranks(dict.fromkeys("abcde", 0.5), comparisons)
    assert all(ranks[better] < ranks[worse] for (better, worse), apart in pairs if apart)
    assert min(ranks.values()) == 1


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published grades are not on this machine")
def test_the_published_models_are_told_apart():
    import pyarrow.parquet as pq

    rows = {}
    for model in MODELS:
        letters, seen = {}, {}
        for row in pq.read_table(PUBLISHED / "graded" / f"{model}.parquet").to_pylist():
            question = (row["problem"], row["golden_answer"])
            seen[question] = seen.get(question, 0) + 1  # two questions occur twice
            letters[*question, seen[question]] = "ABC".index(row["grade_letter"])
        rows[model] = letters
    codes = np.array([[[rows[model][key] for key in sorted(rows["o3-mini"])]] for model in MODELS], dtype=np.int8)
    found = comparison.compare(MODELS, codes, np.arange(codes.shape[-1]))
    values = {
        model: run["f_score"].value
        for model, run in zip(MODELS, statistics.share_intervals(codes, np.arange(codes.shape[-1])), strict=True)
    }
    assert list(comparison.tied_ranks(values, found).values()) == [4, 3, 2, 1]
    assert {each.rows for each in found} == {2740}
    assert 0.02 < comparison.resolution(found).median < 0.04
