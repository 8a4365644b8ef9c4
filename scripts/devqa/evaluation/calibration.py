"""How far stated confidence can be trusted: reliability diagram, expected calibration error, Brier score."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from devqa.evaluation.bootstrap import (
    DRAWS,
    FEWEST_CLUSTERS,
    LEVEL,
    SEED,
    Estimate,
    Intervals,
    intervals,
    over,
    resampled,
)
from devqa.evaluation.distributions import normal_quantile, t_quantile
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import at_the_edges

BINS = 10
NotAttempted = Literal["incorrect", "excluded"]


@dataclass(frozen=True)
class Bin:
    """Answers whose stated confidence lies over `low` and up to `high` (0 to 1; the first bin holds 0 too).

    `confidence` is their mean stated confidence (0 to 1; None for an empty bin), `correct` the share that is correct.
    """

    low: float
    high: float
    answers: int
    confidence: float | None
    correct: Estimate


@dataclass(frozen=True)
class Calibration:
    """Calibration of one run's answers, all repeats together.

    Counts: `answers` = `used` + `ungraded` (no usable answer or no grade) + `unreadable` (graded, but no confidence
    that could be read) + `left_out` (NOT_ATTEMPTED, where these are excluded). `not_attempted` counts the graded
    NOT_ATTEMPTED answers with a readable confidence, whether used or not.
    """

    answers: int
    used: int
    ungraded: int
    unreadable: int
    not_attempted: int
    left_out: int
    ece: Estimate
    brier: Estimate
    bins: tuple[Bin, ...]


def calibration(
    confidence: np.ndarray,
    codes: np.ndarray,
    clusters: np.ndarray,
    not_attempted: NotAttempted,
    bins: int = BINS,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Calibration:
    """Calibration of answers, with 95 % intervals by bootstrap over clusters.

    Args:
        confidence: (answers,): stated confidence from 0 to 100; NaN and what lies outside is not readable.
        codes: (answers,): grades as `statistics.encode` gives them; a negative code is no grade.
        clusters: (answers,): the number of each answer's dialogue, the same in all repeats.
        not_attempted: what a NOT_ATTEMPTED answer is. "incorrect": an answer that isn't correct, so that a model
            that owns up is well calibrated only if it says so with low confidence. "excluded": left out; calibration
            of the attempts alone.
        bins: of equal width, closed above, as in Guo et al. (ICML 2017); only the ECE depends on their number.

    The expected calibration error is the mean over bins of |share correct - mean confidence|, weighted by answers;
    the Brier score is the mean of (confidence - correct) squared, correct being 1 or 0.
    """
    graded, readable = codes >= 0, (confidence >= 0) & (confidence <= 100)
    evasive = graded & readable & (codes == GRADES.index("NOT_ATTEMPTED"))
    left_out = evasive & (not_attempted == "excluded")
    used = graded & readable & ~left_out
    sums = _sums(confidence[used] / 100, codes[used] == GRADES.index("CORRECT"), clusters[used], bins)
    ece = ece_intervals(sums[:, None], draws, seed)
    brier = intervals(sums[:, None], brier_score, draws=draws, seed=seed)
    return Calibration(
        answers=len(codes),
        used=int(used.sum()),
        ungraded=int((~graded).sum()),
        unreadable=int((graded & ~readable).sum()),
        not_attempted=int(evasive.sum()),
        left_out=int(left_out.sum()),
        ece=ece.estimate(0),
        brier=brier.estimate(0, 0),
        bins=_diagram(sums, draws, seed),
    )


def _sums(confidence: np.ndarray, correct: np.ndarray, clusters: np.ndarray, bins: int) -> np.ndarray:
    """By cluster and bin (clusters, bins, 4): answers, sum of confidence, number correct, sum of squared errors."""
    numbers = np.unique(clusters, return_inverse=True)[1]
    # In percent the edges of 10 or 20 bins are whole numbers, so 30 falls on an edge and not beside it.
    bin_ = np.searchsorted(np.linspace(0, 100, bins + 1)[1:-1], np.round(confidence * 100, 9))
    sums = np.zeros((numbers.max(initial=-1) + 1, bins, 4))
    each = np.stack([np.ones_like(confidence), confidence, correct, (confidence - correct) ** 2], axis=-1)
    np.add.at(sums, (numbers, bin_), each)
    return sums


def brier_score(totals: np.ndarray) -> np.ndarray:
    """From totals (..., bins, 4) to (..., 1); NaN without answers."""
    return over(totals[..., 3].sum(axis=-1, keepdims=True), totals[..., 0].sum(axis=-1, keepdims=True))


def ece_intervals(sums: np.ndarray, draws: int = DRAWS, seed: int = SEED) -> Intervals:
    """The expected calibration error of each run (runs,), from sums (clusters, runs, bins, 4), with 95 % intervals.

    The ECE adds up |gap| of the bins, so noise can only raise it: where the true gaps are 0 its estimate is
    all noise, and resamples, which add noise to noise, lie above it. So the limits are those of the sum's directional
    derivative (Fang and Santos, Review of Economic Studies 86, 2019): below, bins whose gap is within two
    standard errors of 0 are taken for calibrated, so that their noise counts in full; above, each gap keeps its sign
    and the bias that the resamples show is taken off. In simulations of 500 draws they cover the truth in 93 to 97 %
    where the model is calibrated or plainly is not, and in up to 99.6 % where the gaps are as large as their noise.
    BCa limits cover a calibrated model's 0 never.
    """
    gaps = _gaps(sums.sum(axis=0))
    value = np.where(sums[..., 0].any(axis=(0, 2)), np.abs(gaps).sum(axis=-1), np.nan)
    clusters = sums[..., 0].any(axis=2).sum(axis=0)
    if clusters.max(initial=0) < FEWEST_CLUSTERS:
        return Intervals(value, np.full(value.shape, np.nan), np.full(value.shape, np.nan))
    noise = _gaps(resampled(sums, draws, seed)) - gaps
    bias = np.abs(gaps + noise).sum(axis=-1).mean(axis=0) - value
    signed = np.where(gaps < 0, -noise, noise)
    doubtful = np.abs(gaps) <= 2 * noise.std(axis=0)
    upward = np.quantile(np.where(doubtful, np.abs(noise), signed).sum(axis=-1), (1 + LEVEL) / 2, axis=0)
    downward = np.quantile(signed.sum(axis=-1), (1 - LEVEL) / 2, axis=0)
    wider = t_quantile((1 + LEVEL) / 2, clusters - 1) / normal_quantile((1 + LEVEL) / 2)
    wider = np.where(clusters < FEWEST_CLUSTERS, np.nan, wider * np.sqrt(clusters / np.maximum(clusters - 1, 1)))
    low, high = value - wider * upward, value - bias - wider * downward
    return Intervals(value, np.maximum(low, 0 * low), np.maximum(high, value + 0 * high))


def _gaps(totals: np.ndarray) -> np.ndarray:
    """From totals (..., bins, 4) to each bin's (correct - confidence) / answers of all bins (..., bins)."""
    return over(totals[..., 2] - totals[..., 1], totals[..., 0].sum(axis=-1, keepdims=True), 0.0)


def _shares_correct(totals: np.ndarray) -> np.ndarray:
    """From totals (..., bins, 4) to the share correct of each bin (..., bins); NaN for an empty one."""
    return over(totals[..., 2], totals[..., 0])


def _diagram(sums: np.ndarray, draws: int, seed: int) -> tuple[Bin, ...]:
    bins = sums.shape[1]
    bearing = (sums[..., 0] > 0).sum(axis=0)[None]
    found = at_the_edges(intervals(sums[:, None], _shares_correct, bearing, draws, seed), bearing)
    answers, confidence = sums[..., 0].sum(axis=0), sums[..., 1].sum(axis=0)
    return tuple(
        Bin(
            low=place / bins,
            high=(place + 1) / bins,
            answers=int(answers[place]),
            confidence=float(confidence[place] / answers[place]) if answers[place] else None,
            correct=found.estimate(0, place),
        )
        for place in range(bins)
    )
