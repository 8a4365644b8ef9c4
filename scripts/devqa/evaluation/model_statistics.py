"""The statistics of one model: calibration, retrieval's gain, the filter's part, and how far to trust its grades."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from devqa.evaluation.agreement import krippendorff_alpha
from devqa.evaluation.audit import audit
from devqa.evaluation.calibration import calibration
from devqa.evaluation.comparison import Comparison, compare
from devqa.evaluation.people import corrected_shares, judge_against_people, matched
from devqa.evaluation.runs import Run
from devqa.evaluation.statistics import BOUNDED, cluster_numbers, share_intervals, stack
from devqa.tables import Row

# The setting that the others are held against, and the one that asks for a stated confidence.
PLAIN = "plain"
CONFIDENCE = "confidence"
# What a NOT_ATTEMPTED answer counts as: both views are given.
_VIEWS = ("incorrect", "excluded")


def model_statistics(
    model: str, benchmark: Sequence[Row], runs: Sequence[Run], people: Sequence[Row] = ()
) -> dict[str, Any]:
    """All statistics of one model, for `results/statistics/<model>.json`; what can't be given is None.

    Args:
        model: its label.
        benchmark: the rows that were asked, as `runs.questions` gives them.
        runs: the model's, as `runs.runs` gives them.
        people: people's grades of any models, as `people.matched` takes them.

    Returns `model`; `settings`: by setting `calibration` (under both views of NOT_ATTEMPTED, where confidence was asked
    for or is there), `audit` (`audit.audit`), `people` and `corrected` (`devqa.evaluation.people`), and `judges`
    (`judges_of`); and `gain` (`gains`).
    """
    clusters = cluster_numbers([row["dialogue_id"] for row in benchmark])
    graded, _ = matched(benchmark, {model: runs}, [row for row in people if row["model"] == model])
    return {
        "model": model,
        "settings": {
            run.setting: {
                "calibration": calibrations(run, clusters),
                "audit": audit(benchmark, run, clusters),
                "corrected": corrected_shares(graded, run, clusters),
                "people": judge_against_people([each for each in graded if each.run is run], run.verdict, clusters),
                "judges": judges_of(run, clusters),
            }
            for run in runs
        },
        "gain": gains(runs, clusters),
    }


def calibrations(run: Run, clusters: np.ndarray) -> dict[str, Any] | None:
    """Calibration of all answers of `run`, its repeats together, under both views of NOT_ATTEMPTED.

    None where confidence was neither asked for nor stated.
    """
    if run.setting != CONFIDENCE and np.isnan(run.confidence).all():
        return None
    everywhere = np.tile(clusters, len(run.repeats))
    return {view: calibration(run.confidence.ravel(), run.codes.ravel(), everywhere, view) for view in _VIEWS}


def judges_of(run: Run, clusters: np.ndarray) -> dict[str, Any] | None:
    """How several judges agree on the answers of `run`, and the figures that each would give it.

    `alpha` is over all answers, `graded` how many rows the judge graded in a repeat, on average. None for one judge.
    """
    if len(run.judges) < 2:
        return None
    found = share_intervals(np.stack([run.by(grader) for grader in run.graders]), clusters)
    by_judge = np.stack([codes.ravel() for codes in run.judges.values()])
    return {
        "judges": list(run.judges),
        "alpha": krippendorff_alpha(by_judge, np.tile(clusters, len(run.repeats))),
        "figures": [
            {
                "judge": grader,
                **{share: estimates[share] for share in BOUNDED},
                "graded": float((run.by(grader) >= 0).sum(axis=1).mean()),
            }
            for grader, estimates in zip(run.graders, found, strict=True)
        ],
    }


def gains(runs: Sequence[Run], clusters: np.ndarray) -> list[dict[str, Any]]:
    """What each other setting changes: its F-score, CO and CGA minus those of `PLAIN`, paired on the same rows.

    Holm's correction is over the settings, for each share by itself. Empty for a model without the setting `PLAIN`.
    """
    settings = [run.setting for run in runs]
    if PLAIN not in settings:
        return []
    pairs = [(place, settings.index(PLAIN)) for place, name in enumerate(settings) if name != PLAIN]
    codes = stack([list(run.codes) for run in runs])
    return [
        {"setting": each.first, "share": share, **differing(each)}
        for share in reversed(BOUNDED)
        for each in (compare(settings, codes, clusters, share, pairs) if pairs else ())
    ]


def differing(comparison: Comparison) -> dict[str, Any]:
    """The figures of a comparison, without whose they are."""
    return {name: getattr(comparison, name) for name in ("difference", "p", "p_holm", "rows", "clusters")}
