"""Shares corrected for the judge's error rates, as a sample of people's grades shows them.

The judge's shares q come from the true shares p by q = E'p, where E[i, j] is the rate at which the judge gives
GRADES[j] to an answer that truly is GRADES[i]. Solving for p is Rogan and Gladen's estimator (American Journal of
Epidemiology 107, 1978) for three classes. Where noise would give negative shares, p is the point of the
simplex (shares from 0 to 1 that sum to 1) whose E'p lies nearest to q. It holds as far as the judge errs at
the same rates on the sample and on the run that is corrected.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from devqa.evaluation.bootstrap import DRAWS, SEED, Estimate, intervals, over
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import SHARES, shares

_KINDS = len(GRADES)
# Fewer rows of a true grade tell next to nothing of the judge's error rates there.
FEWEST_ROWS = 5
# Below this, noise in the judge's shares comes out more than tenfold.
_LEAST_SINGULAR = 0.1
_SINGULAR = 1e-9


@dataclass(frozen=True)
class Corrected:
    """Each of SHARES after correction; `figures` is empty where `reason` says why it can't be done."""

    figures: dict[str, Estimate]
    reason: str = ""


def corrected(
    people: np.ndarray,
    judge: np.ndarray,
    sampled: np.ndarray,
    codes: np.ndarray,
    clusters: np.ndarray,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Corrected:
    """One run's shares, corrected for the judge's error rates, with 95 % intervals.

    Args:
        people, judge: (sample,): both grades of the answers that people graded, of this run or of any others.
        sampled: (sample,): the number of each sampled answer's dialogue.
        codes: (repeats, rows): the judge's grades of the run.
        clusters: (rows,): the number of each row's dialogue, in the numbering of `sampled`.

    Dialogues are drawn with both their sampled answers and their rows of the run, so that the intervals hold
    the sample's uncertainty too, and what the two have in common.

    It can't be done where people gave a grade that occurs to fewer than `FEWEST_ROWS` answers, or where the judge's
    grades hardly depend on the true ones (the smallest singular value of E is below 0.1). The figures of a run
    without grades are None.
    """
    sample, counts = _by_cluster(people, judge, sampled, codes, clusters)
    occurring = (sample.sum(axis=(0, 1)) + sample.sum(axis=(0, 2)) + counts.sum(axis=(0, 1))) > 0
    if reason := _obstacle(sample.sum(axis=0), occurring):
        return Corrected({}, reason)
    tables = _KINDS * _KINDS

    def statistic(totals: np.ndarray) -> np.ndarray:
        rates = error_rates(totals[..., :tables].reshape(*totals.shape[:-1], _KINDS, _KINDS), occurring)
        return shares(true_shares(rates, totals[..., tables:].reshape(*totals.shape[:-1], -1, _KINDS)))

    sums = np.concatenate([each.reshape(len(each), -1) for each in (sample, counts)], axis=1)
    bearing = min(int(each.any(axis=(1, 2)).sum()) for each in (sample, counts))
    found = intervals(sums[:, None], statistic, np.full((1, len(SHARES)), bearing), draws, seed)
    return Corrected({share: found.estimate(0, place) for place, share in enumerate(SHARES)})


def error_rates(tables: np.ndarray, occurring: np.ndarray) -> np.ndarray:
    """E (..., 3, 3) from counts (..., 3, 3) of people's grades (rows) and the judge's (columns).

    A grade that is not `occurring` (3,) anywhere is taken to be judged rightly. NaN where another has no row.
    """
    tables = tables + np.diag(~occurring)
    return over(tables, tables.sum(axis=-1, keepdims=True))


def true_shares(rates: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """True shares p (..., repeats, 3) from `rates` E (..., 3, 3) and the judge's counts (..., repeats, 3).

    0 in all three for a repeat without counts, NaN where E can't be inverted.
    """
    total = judged.sum(axis=-1, keepdims=True)
    shown = over(judged, total, otherwise=0.0)
    possible = np.abs(np.linalg.det(np.nan_to_num(rates))) > _SINGULAR
    sound = np.where(possible[..., None, None], rates, np.eye(_KINDS))
    free = shown @ np.linalg.inv(sound)
    true = np.where((free >= 0).all(axis=-1, keepdims=True), free, _nearest_on_edge(sound, shown))
    return np.where(possible[..., None, None], true * (total > 0), np.nan)


def _nearest_on_edge(rates: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Of the p (..., repeats, 3) with at most two shares over 0, the one whose E'p is nearest to `shown`.

    Least squares over a triangle has its solution on an edge unless it lies inside.
    """
    best, least = np.zeros(shown.shape), np.full(shown.shape[:-1], np.inf)
    for one, other in itertools.combinations(range(_KINDS), 2):
        start, way = rates[..., None, other, :], rates[..., None, one, :] - rates[..., None, other, :]
        share = np.clip(((shown - start) * way).sum(axis=-1) / (way**2).sum(axis=-1), 0, 1)
        distance = ((start + share[..., None] * way - shown) ** 2).sum(axis=-1)
        point = np.zeros(shown.shape)
        point[..., one], point[..., other] = share, 1 - share
        nearer = distance < least
        best, least = np.where(nearer[..., None], point, best), np.where(nearer, distance, least)
    return best


def _by_cluster(
    people: np.ndarray, judge: np.ndarray, sampled: np.ndarray, codes: np.ndarray, clusters: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The sample's counts (clusters, 3, 3) and the run's (clusters, repeats, 3), over the clusters of both."""
    both = (people >= 0) & (judge >= 0)
    names, numbers = np.unique(np.concatenate([sampled[both], clusters]), return_inverse=True)
    in_sample, in_run = np.split(numbers, [both.sum()])
    sample = np.zeros((len(names), _KINDS, _KINDS))
    np.add.at(sample, (in_sample, people[both], judge[both]), 1)
    counts = np.zeros((len(names), len(codes), _KINDS))
    repeat, row = np.nonzero(codes >= 0)
    np.add.at(counts, (in_run[row], repeat, codes[repeat, row]), 1)
    return sample, counts


def _obstacle(table: np.ndarray, occurring: np.ndarray) -> str:
    """Why the judge's error rates can't be had from `table` (3, 3), or ""."""
    for grade, rows, occurs in zip(GRADES, table.sum(axis=1), occurring, strict=True):
        if occurs and rows < FEWEST_ROWS:
            return f"people graded {int(rows)} answers {grade}: the judge's errors there take at least {FEWEST_ROWS}"
    if np.linalg.svd(error_rates(table, occurring), compute_uv=False)[-1] < _LEAST_SINGULAR:
        return "the judge's grades hardly depend on the true ones"
    return ""
