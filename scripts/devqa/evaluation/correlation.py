"""Correlation of the models' scores with a figure from elsewhere, such as pass@1 on HumanEval (SimpleDevQA, 7.4)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from devqa.evaluation.bootstrap import LEVEL, Estimate
from devqa.evaluation.distributions import normal_quantile

# A standard error of Fisher's z needs at least this many.
_FEWEST_MODELS = 4


@dataclass(frozen=True)
class Correlation:
    """Correlation over `models`, those with both figures; `left_out` are the others with a score."""

    models: tuple[str, ...]
    left_out: tuple[str, ...]
    pearson: Estimate
    spearman: Estimate


def correlation(scores: Mapping[str, float | None], outside: Mapping[str, float | None]) -> Correlation:
    """Pearson's r and Spearman's rho between models' `scores` and their figures from `outside`, by model.

    95 % intervals by Fisher's z, with standard error 1 / sqrt(n - 3) for r and sqrt((1 + rho^2 / 2) / (n - 3)) for
    rho (Bonett and Wright, Psychometrika 65, 2000): with the 10 to 30 models of a leaderboard a bootstrap, which
    resamples models, covers less. They take models for a sample and scores for exact. None for fewer than three
    models (intervals: four) or where one of the two figures is the same for all; no interval at r or rho of 1 or -1.
    """
    known = tuple(name for name, score in scores.items() if score is not None and outside.get(name) is not None)
    pairs = np.array([(scores[name], outside[name]) for name in known], dtype=float).reshape(-1, 2).T
    rho = _product_moment(np.array([_ranks(figures) for figures in pairs]))
    return Correlation(
        models=known,
        left_out=tuple(name for name in scores if name not in known),
        pearson=_with_interval(_product_moment(pairs), 1.0, len(known)),
        spearman=_with_interval(rho, 1.0 if rho is None else 1 + rho**2 / 2, len(known)),
    )


def _product_moment(pairs: np.ndarray) -> float | None:
    """Pearson's r of two rows (2, models)."""
    if pairs.shape[1] < 3 or (np.ptp(pairs, axis=1) == 0).any():
        return None
    return float(np.clip(np.corrcoef(pairs)[0, 1], -1, 1))


def _ranks(figures: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; equal figures share the mean of theirs."""
    _, place, times = np.unique(figures, return_inverse=True, return_counts=True)
    return (np.cumsum(times) - (times - 1) / 2)[place]


def _with_interval(value: float | None, variance: float, models: int) -> Estimate:
    if value is None or models < _FEWEST_MODELS or abs(value) > 1 - 1e-12:
        return Estimate(value, None, None)
    reach = float(normal_quantile((1 + LEVEL) / 2)) * math.sqrt(variance / (models - 3))
    return Estimate(value, math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach))
