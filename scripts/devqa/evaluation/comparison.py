"""Paired comparison of runs on the same rows, ranks with ties, and how small a difference can be seen.

Two runs are compared on the rows that both have a grade of, by the difference of their shares. The test is a
cluster-robust t test, paired within dialogues (Miller, "Adding Error Bars to Evals", arXiv 2411.00640, section 4;
here for ratios, by linearisation): with s_k what cluster k contributes to the difference, t is the sum of s_k over
the root of the sum of squares, with K - 1 degrees of freedom. It was chosen over flipping the signs of s_k at
random by 2,000 simulated null draws each (rates of 0.05 to 0.95, rows that cluster, one and three repeats). From
60 clusters on it rejects 4 to 6 % of them by CO, CGA and F-score, where sign flips, for many ties, reject 2 to 5 % by
CO; at 12 clusters it rejects at most 6.6 %; where fewer than about five clusters hold an event, less than 5 %. Its
interval says the same as its p value, and no number of draws limits how small that can be.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from devqa.evaluation.bootstrap import FEWEST_CLUSTERS, LEVEL, Estimate
from devqa.evaluation.distributions import t_quantile, t_two_sided
from devqa.evaluation.statistics import PART, SHARES, WHOLE, defined, tally

POWER = 0.80


@dataclass(frozen=True)
class Comparison:
    """Run `first` against run `second` by one share.

    `rows` are those that both have a grade of, `clusters` the dialogues of those that bear on the share.
    `difference` is first minus second, with a 95 % interval; `p` is two-sided; `p_holm` is adjusted for all
    comparisons that were made together. `error` is the difference's standard error, with so many degrees of `freedom`.
    None for what can't be given: too few clusters, a share that is undefined, or no cluster in which the runs differ
    (then p is 1).
    """

    first: str
    second: str
    rows: int
    clusters: int
    difference: Estimate
    error: float | None
    p: float | None
    p_holm: float | None = None
    freedom: float | None = None

    @property
    def better(self) -> str | None:
        """The run with more of the share by the adjusted test at 5 %, or None. (More IN or NA is no better.)"""
        if self.p_holm is None or self.p_holm > 1 - LEVEL:
            return None
        return self.first if self.difference.value > 0 else self.second


@dataclass(frozen=True)
class Resolution:
    """The smallest true difference that a test finds with 80 % power, two-sided at 5 %, over several comparisons.

    `median` and `largest` over the comparisons, if just one were made; `corrected`: the median if the smallest p
    value has to stand Holm's correction for all of them. None where no comparison has a standard error.
    """

    comparisons: int
    median: float | None
    largest: float | None
    corrected: float | None


def compare(
    names: Sequence[str],
    codes: np.ndarray,
    clusters: np.ndarray,
    share: str = "f_score",
    pairs: Iterable[tuple[int, int]] | None = None,
) -> list[Comparison]:
    """Compare runs pairwise by one of SHARES, with Holm's correction over all `pairs`.

    Args:
        names: of the runs.
        codes: (runs, repeats, rows), as `statistics.stack` gives them.
        clusters: (rows,): the number of each row's dialogue.
        pairs: places of runs in `names`; by default every two, in the order of `names`. To compare settings of one
            model (rag minus plain), give the runs of both and the pairs (rag, plain).
    """
    graded = (codes >= 0).any(axis=1)
    place = SHARES.index(share)
    whole = _Contributions(codes, clusters, place)
    found = []
    for one, other in itertools.combinations(range(len(names)), 2) if pairs is None else pairs:
        shared = graded[one] & graded[other]
        if (shared == graded[one]).all() and (shared == graded[other]).all():
            parts = whole.of(one), whole.of(other)
        else:
            some = _Contributions(codes[[one, other]][..., shared], clusters[shared], place)
            parts = some.of(0), some.of(1)
        found.append(_compared(names[one], names[other], int(shared.sum()), *parts))
    adjusted = holm([each.p for each in found])
    return [replace(each, p_holm=p) for each, p in zip(found, adjusted, strict=True)]


class _Contributions:
    """What each cluster adds to the numerator and denominator of one share of each run, as parts of the whole run.

    The numerators of a run sum to its share (the mean over repeats), its denominators to 1.
    """

    def __init__(self, codes: np.ndarray, clusters: np.ndarray, place: int) -> None:
        counts = tally(codes, clusters)
        part, whole = counts @ PART[place], counts @ WHOLE[place]  # (clusters, runs, repeats)
        known = defined(counts.sum(axis=0))[..., place]
        total = np.where(known, whole.sum(axis=0), np.inf) * np.maximum(known.sum(axis=-1, keepdims=True), 1)
        self._part, self._whole = (part / total).sum(axis=-1), (whole / total).sum(axis=-1)

    def of(self, run: int) -> tuple[np.ndarray, np.ndarray]:
        """Numerators and denominators (clusters,) of one run; all 0 where its share is undefined."""
        return self._part[:, run], self._whole[:, run]


def _compared(
    first: str, second: str, rows: int, one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> Comparison:
    bearing = (one[1] + other[1]) > 0
    clusters = int(bearing.sum())
    if not one[1].any() or not other[1].any():
        return Comparison(first, second, rows, clusters, Estimate(None, None, None), None, None)
    values = one[0].sum(), other[0].sum()
    difference = float(values[0] - values[1])
    # The linearised difference: each run's residuals from its own share.
    residuals = (one[0] - values[0] * one[1]) - (other[0] - values[1] * other[1])
    error = math.sqrt((residuals**2).sum() * clusters / max(clusters - 1, 1))
    if clusters < FEWEST_CLUSTERS:
        return Comparison(first, second, rows, clusters, Estimate(difference, None, None), None, None)
    if error < 1e-12:
        differing = int((np.abs(one[0] - other[0]) > 1e-12).sum())
        p = 1.0 if abs(difference) < 1e-12 else 2.0 ** (1 - differing)  # a sign test: all clusters go one way
        return Comparison(first, second, rows, clusters, Estimate(difference, None, None), None, p)
    reach = float(t_quantile((1 + LEVEL) / 2, clusters - 1)) * error
    interval = Estimate(difference, max(difference - reach, -1.0), min(difference + reach, 1.0))
    p = t_two_sided(difference / error, clusters - 1)
    return Comparison(first, second, rows, clusters, interval, error, p, freedom=clusters - 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment (Scandinavian Journal of Statistics 6, 1979); None stays None and isn't counted."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - step) * p))
        adjusted[place] = largest
    return adjusted


def tied_ranks(values: Mapping[str, float | None], comparisons: Sequence[Comparison]) -> dict[str, int | None]:
    """The rank of each run: 1 plus the number of runs that are better than it by the adjusted test.

    A run is also better than those that are worse than the ones it is better than, so that no run shares a rank with
    one it beats. Runs that can't be told apart share a rank as long as the same number beats them; being apart
    is not all or nothing: where the first of three beats the third alone, the ranks are 1, 1, 2.

    Args:
        values: the share that ranks, by run; a run without one has no rank.
        comparisons: of every two of the runs, by that share.
    """
    better: dict[str, set[str]] = {name: set() for name in values}
    for each in comparisons:
        if each.better:
            better[each.second if each.better == each.first else each.first].add(each.better)
    for middle in values:
        for name in values:
            if middle in better[name]:
                better[name] |= better[middle]
    return {name: None if values[name] is None else 1 + len(better[name] - {name}) for name in values}


def smallest_difference(error: float, freedom: float, comparisons: int = 1) -> float:
    """The true difference that a two-sided t test at 5 % finds with 80 % power, from the difference's standard error.

    (t(1 - a/2) + t(0.8)) * error, with a = 5 % divided by the number of `comparisons` (Holm's first step).
    """
    reach = t_quantile(1 - (1 - LEVEL) / 2 / comparisons, freedom) + t_quantile(POWER, freedom)
    return float(reach * error)


def resolution(comparisons: Sequence[Comparison]) -> Resolution:
    """How small a difference the benchmark can show, from the standard errors of the `comparisons` that were made."""
    known = [(each.error, each.freedom) for each in comparisons if each.error is not None]
    if not known:
        return Resolution(0, None, None, None)
    alone = [smallest_difference(*each) for each in known]
    corrected = [smallest_difference(*each, len(known)) for each in known]
    return Resolution(len(known), statistics.median(alone), max(alone), statistics.median(corrected))
