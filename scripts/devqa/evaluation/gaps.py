"""The gap between the weakest and the strongest model, before and after a setting such as retrieval (7.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from devqa.evaluation.bootstrap import DRAWS, SEED, Estimate, intervals
from devqa.evaluation.statistics import SHARES, WHOLE, f_score, shares, stack, tally

_F_SCORE = SHARES.index("f_score")


@dataclass(frozen=True)
class Gap:
    """The F-score of `strongest` minus that of `weakest`, both fixed by their scores `before`, of so many `models`.

    `change` is after minus before: below 0, the setting brings the two together.

    The two are chosen by the very scores that are compared, and extremes of noisy scores are more extreme than
    the truth: `before` is rather too large, and part of a negative `change` may be chance returning to the mean. The
    intervals take the two models as given and don't hold that choice.
    """

    weakest: str
    strongest: str
    models: int
    before: Estimate
    after: Estimate
    change: Estimate


def gap(
    before: Mapping[str, np.ndarray],
    after: Mapping[str, np.ndarray],
    clusters: np.ndarray,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Gap | None:
    """The gap between the weakest and the strongest of the models that have both runs; None for fewer than two.

    Args:
        before, after: codes (repeats, rows) by model, as `statistics.encode` gives them.
        clusters: (rows,): the number of each row's dialogue.

    All figures are on the rows that all four runs have a grade of, so that the same questions stand before
    and after. 95 % intervals by bootstrap: a dialogue is drawn with its rows of all four runs, so that what they have
    in common cancels out of `change`, a difference of differences.
    """
    scored = {model: f_score(before[model]) for model in before if model in after}
    scored = {model: value for model, value in scored.items() if value is not None}
    if len(scored) < 2:
        return None
    weakest, *_, strongest = sorted(scored, key=scored.__getitem__)
    codes = stack([list(runs[model]) for runs in (before, after) for model in (weakest, strongest)])
    shared = (codes >= 0).any(axis=1).all(axis=0)
    counts = tally(codes[..., shared], clusters[shared])
    bearing = ((counts @ WHOLE[_F_SCORE]).sum(axis=2) > 0).sum(axis=0).min(initial=len(counts))
    found = intervals(counts[:, None], gaps, np.full((1, 3), bearing), draws, seed)
    return Gap(weakest, strongest, len(scored), *(found.estimate(0, place) for place in range(3)))


def gaps(totals: np.ndarray) -> np.ndarray:
    """Before, after and change (..., 3) from totals (..., 4, repeats, 3): weakest and strongest before, then after."""
    values = shares(totals)[..., _F_SCORE]
    before, after = values[..., 1] - values[..., 0], values[..., 3] - values[..., 2]
    return np.stack([before, after, after - before], axis=-1)
