"""Intervals of the shares: what they are computed from, that they cover the truth, and where they can't be given."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation import metrics, statistics
from devqa.evaluation.grading import GRADES
from devqa.evaluation.metrics import SHARES
from devqa.evaluation.statistics import ABSENT, PART, UNRESOLVED, WHOLE

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "simpledevqa"
CODES = st.sampled_from([0, 1, 2, UNRESOLVED])


def simulated(draws, clusters, shares, within, repeats, seed=1):
    """Counts (clusters, draws, repeats, 3) of `draws` data sets with true `shares`, and the truth of SHARES.

    Clusters of one to three rows; `within` is the correlation of grades inside a cluster, and 70 % of the answers of
    a later repeat are those of the first.
    """
    generator = np.random.default_rng(seed)
    # Shares of a cluster are Dirichlet distributed around the true ones.
    gamma = generator.gamma(np.array(shares) * (1 / within - 1), size=(clusters, draws, 3))
    limits = (gamma / gamma.sum(axis=-1, keepdims=True)).cumsum(axis=-1)[..., :2]
    size = generator.integers(1, 4, size=(clusters, draws))
    counts = np.zeros((clusters, draws, repeats, 3))
    for row in range(3):
        first = None
        for repeat in range(repeats):
            grade = (generator.random((clusters, draws, 1)) > limits).sum(axis=-1)
            first = grade if first is None else first
            grade = np.where((repeat > 0) & (generator.random((clusters, draws)) < 0.7), first, grade)
            counts[:, :, repeat] += (grade[..., None] == np.arange(3)) & (row < size)[..., None]
    return counts, PART @ shares / (WHOLE @ shares)


@pytest.mark.parametrize(
    ("clusters", "shares", "within", "repeats"),
    [
        (60, (0.50, 0.40, 0.10), 0.5, 1),
        (60, (0.50, 0.40, 0.10), 0.001, 3),
        (60, (0.15, 0.75, 0.10), 0.5, 3),
        (200, (0.50, 0.40, 0.10), 0.5, 3),
        (200, (0.06, 0.88, 0.06), 0.3, 1),
        (200, (0.90, 0.05, 0.05), 0.3, 3),
    ],
)
def test_intervals_cover_the_truth_in_95_of_100_draws(clusters, shares, within, repeats):
    counts, truth = simulated(1_000, clusters, shares, within, repeats)
    found = statistics.tallied_intervals(counts, draws=1_000)
    covered = ((found.low <= truth) & (truth <= found.high)).mean(axis=0)
    assert (covered >= 0.93).all() and (covered <= 0.97).all(), dict(zip(SHARES, covered, strict=True))


def test_rows_of_one_dialogue_taken_for_independent_ones_cover_too_little():
    """The simulation would show it if clusters were ignored."""
    counts, truth = simulated(500, 200, (0.5, 0.4, 0.1), 0.9, 1)
    alone = np.zeros((3 * 200, 500, 1, 3))
    for draw in range(500):
        grades = np.repeat(np.tile(np.arange(3), 200), counts[:, draw, 0].astype(int).ravel())
        alone[np.arange(len(grades)), draw, 0, grades] = 1
    covered = [
        ((found.low <= truth) & (truth <= found.high)).mean(axis=0)[0]
        for found in (statistics.tallied_intervals(each, draws=600) for each in (counts, alone))
    ]
    assert covered[0] > 0.92 and covered[1] < 0.90


def test_few_events_are_covered_at_least_nearly():
    counts, truth = simulated(1_000, 60, (0.02, 0.96, 0.02), 0.3, 1)
    found = statistics.tallied_intervals(counts, draws=1_000)
    assert (((found.low <= truth) & (truth <= found.high)).mean(axis=0) >= 0.92).all()


@given(st.lists(st.lists(st.tuples(CODES, CODES), min_size=1, max_size=4), min_size=1, max_size=8))
def test_shares_are_those_of_the_metrics(dialogues):
    """Counting by cluster and adding up gives what `metrics.figures` gives row by row, averaged over repeats."""
    codes = np.array([row for rows in dialogues for row in rows], dtype=np.int8).T
    clusters = np.repeat(np.arange(len(dialogues)), [len(rows) for rows in dialogues])
    got = statistics.shares(statistics.tally(codes[None], clusters).sum(axis=0))[0]
    benchmark = [{"id": str(number)} for number in range(len(clusters))]
    answer = {"status": "ok", "outcome": "ok", "input_tokens": None}
    repeats = [
        metrics.figures(
            benchmark,
            {row["id"]: answer for row in benchmark},
            {str(number): {"grade": GRADES[code]} for number, code in enumerate(repeat) if code >= 0},
        )
        for repeat in codes
    ]
    for share, value in zip(SHARES, got, strict=True):
        known = [figures[share] for figures in repeats if figures[share] is not None]
        assert value == pytest.approx(sum(known) / len(known)) if known else math.isnan(value)


def test_grades_are_encoded_in_the_order_of_the_rows():
    fates = {"a": "NOT_ATTEMPTED", "b": "refused", "d": "CORRECT", "e": "INCORRECT"}
    assert statistics.encode(fates, ["d", "a", "b", "c", "e"]).tolist() == [0, 2, UNRESOLVED, UNRESOLVED, 1]


def test_a_run_with_fewer_repeats_has_the_mean_over_those():
    one = [np.array([0, 1], dtype=np.int8)]
    codes = statistics.stack([one, one + [np.array([0, 0], dtype=np.int8)]])
    assert codes.tolist() == [[[0, 1], [ABSENT, ABSENT]], [[0, 1], [0, 0]]]
    found = statistics.share_intervals(codes, np.array([0, 1]))
    assert [run["co"].value for run in found] == [0.5, 0.75]


def test_rows_of_one_dialogue_are_one_cluster_and_rows_without_are_their_own():
    assert statistics.cluster_numbers(["x", None, "y", "x", "", "y"]).tolist() == [0, 2, 1, 0, 3, 1]
    assert statistics.cluster_numbers([]).tolist() == []


def test_equal_data_give_equal_intervals_and_another_seed_others():
    codes = np.random.default_rng(1).choice(3, size=(2, 2, 300)).astype(np.int8)
    clusters = np.arange(300) // 3
    once, again, other = (statistics.share_intervals(codes, clusters, seed=seed) for seed in (1, 1, 2))
    assert once == again != other
    # What is computed beside it changes nothing.
    assert statistics.share_intervals(codes[:1], clusters)[0] == once[0]


def test_repeats_of_the_same_answers_add_no_certainty():
    codes = np.random.default_rng(1).choice(3, size=(1, 1, 300)).astype(np.int8)
    once, thrice = (statistics.share_intervals(each, np.arange(300))[0] for each in (codes, codes.repeat(3, axis=1)))
    assert thrice["f_score"] == pytest.approx(tuple(once["f_score"]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [0, 1, 3, 9])
def test_few_clusters_give_no_interval(rows):
    codes = np.zeros((2, 1, rows), dtype=np.int8)
    codes[:, :, ::2] = 1
    for run in statistics.share_intervals(codes, np.arange(rows)):
        assert all(estimate.low is None and estimate.high is None for estimate in run.values())
        assert (run["co"].value is None) == (rows == 0)


@pytest.mark.filterwarnings("error")
def test_one_dialogue_gives_no_interval_however_many_rows_it_has():
    codes = np.random.default_rng(1).choice(3, size=(1, 1, 200)).astype(np.int8)
    assert statistics.share_intervals(codes, np.zeros(200))[0]["co"].low is None


@pytest.mark.filterwarnings("error")
def test_runs_without_grades_or_attempts_stand_beside_others():
    rng = np.random.default_rng(1)
    codes = np.stack([np.full((1, 60), UNRESOLVED), np.full((1, 60), 2), rng.choice(3, size=(1, 60))])
    nothing, evasive, usual = statistics.share_intervals(codes, np.arange(60))
    assert set(nothing.values()) == {(None, None, None)}
    assert evasive["cga"] == evasive["f_score"] == (None, None, None)
    assert evasive["na"].value == 1
    assert usual["cga"].low < usual["cga"].value < usual["cga"].high


@pytest.mark.filterwarnings("error")
def test_a_share_of_0_or_1_gets_the_exact_limit_for_a_rate_that_was_never_seen():
    codes = np.zeros((1, 1, 120), dtype=np.int8)
    found = statistics.share_intervals(codes, np.arange(120) // 2)[0]
    limit = 1 - 0.025 ** (1 / 60)  # 60 dialogues
    assert found["co"] == pytest.approx((1, 1 - limit, 1))
    assert found["in"] == pytest.approx((0, 0, limit))


def test_cga_of_a_run_that_attempted_in_few_dialogues_has_no_interval():
    codes = np.full((1, 1, 100), 2, dtype=np.int8)
    codes[0, 0, :4] = [0, 1, 0, 1]
    found = statistics.share_intervals(codes, np.arange(100))[0]
    assert found["cga"] == (0.5, None, None)
    assert found["co"].low is not None


@given(st.lists(CODES, min_size=1, max_size=30), st.randoms())
def test_whatever_unresolved_rows_would_have_got_the_figure_lies_in_the_bounds(codes, random):
    codes = np.array(codes, dtype=np.int8)
    bounds = statistics.bounds(codes[None, None])[0]
    resolved = np.array([random.randrange(3) if code < 0 else code for code in codes])
    figures = dict(zip(SHARES, statistics.shares(np.bincount(resolved, minlength=3)[None]), strict=True))
    for share, (worst, best) in bounds.items():
        if not math.isnan(figures[share]):
            assert worst - 1e-12 <= figures[share] <= best + 1e-12


def test_bounds_are_reached_and_are_means_over_repeats():
    codes = statistics.stack([[np.array([0, 0, 1, 2, UNRESOLVED]), np.array([0, 0, 1, 2, 2])]])
    bounds = statistics.bounds(codes)[0]
    assert bounds["cga"] == pytest.approx(((2 / 4 + 2 / 3) / 2, (3 / 4 + 2 / 3) / 2))
    assert bounds["f_score"] == pytest.approx(((2 / 4.5 + 2 / 4) / 2, (3 / 4.5 + 2 / 4) / 2))
    assert bounds["co"] == pytest.approx(((2 / 5 + 2 / 5) / 2, (3 / 5 + 2 / 5) / 2))
    assert statistics.bounds(np.full((1, 1, 4), 2))[0]["cga"] == (None, None)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published grades are not on this machine")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Llama-3.1-8b", (0.449, 0.535, 0.016, 0.456, 0.453)),
        ("o3-mini", (0.718, 0.278, 0.004, 0.721, 0.719)),
        ("claude-3-5-haiku", (0.536, 0.324, 0.140, 0.623, 0.576)),
    ],
)
def test_published_grades_give_the_published_figures_and_intervals_as_wide_as_2740_rows_make_them(model, expected):
    import pyarrow.parquet as pq

    letters = pq.read_table(PUBLISHED / "graded" / f"{model}.parquet", columns=["grade_letter"])["grade_letter"]
    codes = np.array(["ABC".index(letter) for letter in letters.to_pylist()], dtype=np.int8)
    found = statistics.share_intervals(codes[None, None], np.arange(len(codes)))[0]
    assert tuple(round(found[share].value, 3) for share in SHARES) == expected
    for share in ("co", "in", "na"):
        binomial = 2 * 1.96 * math.sqrt(found[share].value * (1 - found[share].value) / len(codes))
        assert found[share].high - found[share].low == pytest.approx(binomial, rel=0.1)
