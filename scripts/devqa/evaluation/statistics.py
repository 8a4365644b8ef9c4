"""Intervals of CO, IN, NA, CGA and F-score, and their bounds over rows that have no grade.

Grades of several runs (a model in a setting, over repeats) on the same rows stand in one array of codes
(runs, repeats, rows). All five shares are ratios of two sums over rows: CO = A / (A + B + C), CGA = A / (A + B), and
the F-score, the harmonic mean of the two, is A / (A + B + C/2), with A correct, B incorrect and C not attempted
rows. So a run's counts by cluster are all that an interval needs.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from devqa.evaluation.bootstrap import (
    DRAWS,
    FEWEST_CLUSTERS,
    SEED,
    Estimate,
    Intervals,
    intervals,
    number,
    one_sided,
    over,
)
from devqa.evaluation.grading import GRADES

SHARES = ("co", "in", "na", "cga", "f_score")

# A row without a usable answer or grade, and a row of a repeat that was never run.
UNRESOLVED = -1
ABSENT = -2

# What each grade (columns, as GRADES) adds to a share's numerator and denominator (rows, as SHARES).
PART = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]], dtype=float)
WHOLE = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 1, 0.5]])
# The shares that bounds are given for.
BOUNDED = ("co", "cga", "f_score")


def encode(fates: Mapping[str, str], ids: Sequence[str]) -> np.ndarray:
    """Codes (rows,) of one repeat: the index of the row's grade in GRADES, or `UNRESOLVED`.

    Args:
        fates: what became of each answer by row id, as `metrics.fate` says; an id that it lacks is unresolved.
        ids: the benchmark's rows, in the order of the codes.
    """
    codes = {grade: code for code, grade in enumerate(GRADES)}
    return np.array([codes.get(fates.get(row, ""), UNRESOLVED) for row in ids], dtype=np.int8)


def stack(runs: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Codes (runs, repeats, rows) of runs that are lists of repeats; `ABSENT` where a run has fewer repeats."""
    repeats = max(map(len, runs))
    codes = np.full((len(runs), repeats, len(runs[0][0])), ABSENT, dtype=np.int8)
    for place, run in enumerate(runs):
        codes[place, : len(run)] = run
    return codes


def cluster_numbers(labels: Sequence[str | None]) -> np.ndarray:
    """Cluster numbers (rows,) from 0 on; rows of one label (a dialogue's id) share one, a row without is its own."""
    known = {label: place for place, label in enumerate(dict.fromkeys(label for label in labels if label))}
    alone = iter(range(len(known), len(known) + len(labels)))
    return np.array([known[label] if label else next(alone) for label in labels], dtype=np.int64)


def tally(codes: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Rows by grade: counts (clusters, runs, repeats, 3) of `codes` (runs, repeats, rows); ungraded rows count nowhere.

    `clusters` (rows,) may be any numbers: those that occur are renumbered.
    """
    names, numbers = np.unique(clusters, return_inverse=True)
    runs, repeats, _ = codes.shape
    shape = (len(names), runs, repeats, len(GRADES))
    run, repeat, row = np.nonzero(codes >= 0)
    place = np.ravel_multi_index((numbers[row], run, repeat, codes[run, repeat, row]), shape)
    return np.bincount(place, minlength=np.prod(shape, dtype=int)).reshape(shape)


def shares(counts: np.ndarray) -> np.ndarray:
    """Each of SHARES (..., 5) from counts by grade (..., repeats, 3): the mean over the repeats where it is defined.

    As in `metrics.figures`, CGA and F-score are undefined where nothing was attempted. NaN where no repeat has it.
    """
    whole = counts @ WHOLE.T
    known = defined(counts)
    each = np.divide(counts @ PART.T, whole, out=np.zeros_like(whole), where=known)
    repeats = known.sum(axis=-2)
    return over(each.sum(axis=-2), repeats)


def f_score(codes: np.ndarray) -> float | None:
    """The F-score of codes (repeats, rows), the mean over repeats; None where it is undefined."""
    counts = tally(codes[None], np.zeros(codes.shape[-1], dtype=int))
    return number(shares(counts.sum(axis=0))[0, SHARES.index("f_score")])


def share_intervals(
    codes: np.ndarray, clusters: np.ndarray, draws: int = DRAWS, seed: int = SEED
) -> list[dict[str, Estimate]]:
    """For each run of `codes` (runs, repeats, rows): each of SHARES with its interval, clustered by `clusters` (rows,).

    A slice is had by selecting rows of both. Clusters are drawn with all their repeats, so the interval is that of
    the mean over repeats. At a share of exactly 0 or 1 resamples say nothing: there the limits are exact ones for a
    rate that was never seen in so many clusters. No interval below `FEWEST_CLUSTERS` clusters.
    """
    if not codes.shape[-1]:
        return [dict.fromkeys(SHARES, Estimate(None, None, None)) for _ in codes]
    found = tallied_intervals(tally(codes, clusters), draws, seed)
    return [{share: found.estimate(run, place) for place, share in enumerate(SHARES)} for run in range(len(codes))]


def tallied_intervals(counts: np.ndarray, draws: int = DRAWS, seed: int = SEED) -> Intervals:
    """As `share_intervals`, as arrays (runs, 5), from counts (clusters, runs, repeats, 3)."""
    bearing = ((counts @ WHOLE.T).sum(axis=2) > 0).sum(axis=0)
    return at_the_edges(intervals(counts, shares, bearing, draws, seed), bearing)


def at_the_edges(found: Intervals, bearing: np.ndarray) -> Intervals:
    """`found` shares, with exact one-sided limits where a share is exactly 0 or 1; `bearing` clusters tell on each."""
    limit = np.where(bearing >= FEWEST_CLUSTERS, one_sided(bearing), np.nan)
    edge = np.isnan(found.low) & np.isin(found.value, (0, 1))
    return Intervals(
        found.value,
        np.where(edge, np.where(found.value == 0, 0 * limit, 1 - limit), found.low),
        np.where(edge, np.where(found.value == 0, limit, 1 + 0 * limit), found.high),
    )


def bounds(codes: np.ndarray) -> list[dict[str, tuple[float | None, float | None]]]:
    """For each run of `codes` (runs, repeats, rows): (worst, best) of each of `BOUNDED`.

    Worst counts all unresolved rows as INCORRECT, best as CORRECT: whatever grades they would have got, the figure of
    each repeat lies between. Means over repeats, as the figures are. Without unresolved rows both are the
    figure itself. None where nothing was attempted and nothing is unresolved.
    """
    counts = np.stack([(codes == code).sum(axis=-1) for code in range(len(GRADES))], axis=-1)
    unresolved = (codes == UNRESOLVED).sum(axis=-1)[..., None]
    worst, best = (shares(counts + unresolved * (np.arange(len(GRADES)) == code)) for code in (1, 0))
    places = {share: SHARES.index(share) for share in BOUNDED}
    return [
        {share: (number(worst[run, place]), number(best[run, place])) for share, place in places.items()}
        for run in range(len(codes))
    ]


def defined(counts: np.ndarray) -> np.ndarray:
    """Where each share (..., repeats, 5) is defined: some row is graded, for CGA and F-score some attempted."""
    graded = counts.sum(axis=-1) > 0
    attempted = counts[..., :2].sum(axis=-1) > 0
    return np.stack([graded, graded, graded, attempted, attempted], axis=-1)
