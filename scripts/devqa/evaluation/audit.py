"""What the choice of hard rows by models does to a score: each filter model's selection left out in turn.

A benchmark's hard rows are those that one of the difficulty filter's models did not answer correctly (SimpleDevQA,
section 4.3). A model that is evaluated and was a filter too meets rows that were chosen for its own failures. So the
score is given again on the rows that are hard without that filter's word: those that another filter model failed at.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from devqa.evaluation.bootstrap import DRAWS, SEED, Estimate, Intervals, intervals
from devqa.evaluation.runs import Run
from devqa.evaluation.statistics import BOUNDED, SHARES, UNRESOLVED, WHOLE, shares, tallied_intervals, tally
from devqa.tables import Row

FAILED = ("INCORRECT", "NOT_ATTEMPTED")

_F_SCORE = SHARES.index("f_score")


def audit(benchmark: Sequence[Row], run: Run, clusters: np.ndarray) -> list[dict[str, Any]] | None:
    """The figures of `run` on the hard rows, first all of them, then with each filter model left out.

    Args:
        benchmark: the rows that were asked; `filtered` holds `model` and `grade` of each filter model.
        clusters: (rows,): the number of each row's dialogue.

    Each entry has `left_out` (None for the first), `rows`, `figures` (CO, CGA and F-score with intervals) and
    `difference`: its F-score minus that of the first entry, with an interval. A filter model whose answer has
    no grade makes no row hard. None where no row has such grades, or none is hard.
    """
    filters, kept = selections(benchmark)
    if not kept[0].any():
        return None
    found, differences = figures_on(np.where(kept[:, None], run.codes, UNRESOLVED), kept, clusters)
    return [
        {
            "left_out": label,
            "rows": int(kept[place].sum()),
            "figures": {share: found.estimate(place, SHARES.index(share)) for share in BOUNDED},
            "difference": differences[place],
        }
        for place, label in enumerate([None, *filters])
    ]


def selections(benchmark: Sequence[Row]) -> tuple[list[str], np.ndarray]:
    """The filter models, and which rows are hard (1 + filter models, rows): by all of them, then without each."""
    failed = [{each["model"] for each in row.get("filtered") or () if each["grade"] in FAILED} for row in benchmark]
    filters = sorted({each["model"] for row in benchmark for each in row.get("filtered") or ()})
    kept = [[bool(models - {left_out}) for models in failed] for left_out in (None, *filters)]
    return filters, np.array(kept, dtype=bool).reshape(len(kept), len(benchmark))


def figures_on(
    codes: np.ndarray, kept: np.ndarray, clusters: np.ndarray, draws: int = DRAWS, seed: int = SEED
) -> tuple[Intervals, list[Estimate]]:
    """Shares (selections, 5) on several selections of the same rows, and the F-score of each minus the first's.

    Args:
        codes: (selections, repeats, rows): one run's grades, `UNRESOLVED` outside the selection.
        kept: (selections, rows): which rows are selected; each selection is part of the first.
        clusters: (rows,).

    The two scores of a difference share rows, so whole dialogues are drawn with their rows in both, and what is
    resampled is the difference. It lives on the rows left out as much as on those kept: fewer than ten
    dialogues on either side give no interval. Nothing left out is a difference of exactly 0.
    """
    counts = tally(codes, clusters)
    found = tallied_intervals(counts, draws, seed)
    graded = (counts @ WHOLE[_F_SCORE]).sum(axis=-1) > 0  # (clusters, selections)
    left = (counts[:, :1] - counts[:, 1:]).any(axis=(2, 3))
    bearing = np.minimum(graded[:, 1:].sum(axis=0), left.sum(axis=0))[:, None]
    pairs = np.stack([counts[:, 1:], np.broadcast_to(counts[:, :1], counts[:, 1:].shape)], axis=2)
    change = intervals(pairs, _differences, bearing, draws, seed)
    differences = [Estimate(None, None, None)]
    for place in range(len(codes) - 1):
        estimate = change.estimate(place, 0)
        same = estimate.value is not None and (kept[place + 1] == kept[0]).all()
        differences.append(Estimate(0.0, 0.0, 0.0) if same else estimate)
    return found, differences


def _differences(totals: np.ndarray) -> np.ndarray:
    """From totals (..., 2, repeats, 3) to the F-score of the one minus that of the other (..., 1)."""
    values = shares(totals)[..., _F_SCORE]
    return (values[..., 0] - values[..., 1])[..., None]
