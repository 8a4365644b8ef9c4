"""All models beside each other: ranks, gains, gaps, judges, people, and figures from elsewhere."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from devqa.evaluation.agreement import against_people, krippendorff_alpha
from devqa.evaluation.comparison import compare, resolution, tied_ranks
from devqa.evaluation.correlation import correlation
from devqa.evaluation.gaps import gap
from devqa.evaluation.model_statistics import PLAIN, differing
from devqa.evaluation.runs import Run
from devqa.evaluation.statistics import BOUNDED, UNRESOLVED, cluster_numbers, f_score, stack
from devqa.tables import Row

Runs = Mapping[str, Sequence[Run]]


def comparison(benchmark: Sequence[Row], runs: Runs) -> dict[str, Any]:
    """`settings`, `gains`, `gaps` and `judges` of `results/comparison.json`.

    Args:
        benchmark: the rows that were asked, as `runs.questions` gives them.
        runs: of each model, as `runs.runs` gives them, in the order in which models are compared.
    """
    clusters = cluster_numbers([row["dialogue_id"] for row in benchmark])
    by_setting = _by_setting(runs)
    others = {setting: own for setting, own in by_setting.items() if setting != PLAIN}
    plain = by_setting.get(PLAIN, {})
    return {
        "settings": {setting: side_by_side(own, clusters) for setting, own in by_setting.items()},
        "gains": [each for setting, own in others.items() for each in gains(setting, plain, own, clusters)],
        "gaps": [
            {"setting": setting, **vars(found)}
            for setting, own in others.items()
            if (found := gap(_codes(plain), _codes(own), clusters))
        ],
        "judges": judges(runs, clusters),
    }


def side_by_side(runs: Mapping[str, Run], clusters: np.ndarray) -> dict[str, Any]:
    """All models of one setting: every two compared by F-score, tied ranks, and how small a difference can be seen."""
    names = list(runs)
    comparisons = compare(names, stack([list(run.codes) for run in runs.values()]), clusters)
    return {
        "ranks": tied_ranks({name: f_score(run.codes) for name, run in runs.items()}, comparisons),
        "comparisons": [
            {"first": each.first, "second": each.second, **differing(each), "better": each.better}
            for each in comparisons
        ],
        "resolution": resolution(comparisons),
    }


def gains(
    setting: str, plain: Mapping[str, Run], other: Mapping[str, Run], clusters: np.ndarray
) -> list[dict[str, Any]]:
    """What `setting` changes for each model: its F-score, CO and CGA minus those of `PLAIN`, paired on the same rows.

    Holm's correction is over the models, for each share by itself.
    """
    both = [name for name in other if name in plain]
    if not both:
        return []
    codes = stack([list(runs[name].codes) for runs in (other, plain) for name in both])
    pairs = [(place, place + len(both)) for place in range(len(both))]
    return [
        {"setting": setting, "model": each.first, "share": share, **differing(each)}
        for share in reversed(BOUNDED)
        for each in compare(both * 2, codes, clusters, share, pairs)
    ]


def judges(runs: Runs, clusters: np.ndarray) -> dict[str, Any] | None:
    """Agreement of several judges over the answers of all models: alpha, and kappa of every two; None for one judge."""
    every = [run for own in runs.values() for run in own]
    labels = list(dict.fromkeys(label for run in every for label in run.judges))
    if not any(len(run.judges) > 1 for run in every):
        return None
    codes = {
        label: np.concatenate([run.judges.get(label, np.full_like(run.codes, UNRESOLVED)).ravel() for run in every])
        for label in labels
    }
    everywhere = np.tile(clusters, sum(len(run.repeats) for run in every))
    pairs = []
    for first, second in itertools.combinations(labels, 2):
        found = against_people(codes[first], codes[second], everywhere)
        pairs.append({"first": first, "second": second, "kappa": found.kappa, "rows": found.rows})
    alpha = krippendorff_alpha(np.stack(list(codes.values())), everywhere)
    return {"judges": labels, "alpha": alpha, "pairs": pairs}


def correlated(runs: Runs, outside: Mapping[str, float], name: str) -> dict[str, Any]:
    """The models' F-scores in the setting `PLAIN` beside their figures in another benchmark (7.4).

    Args:
        outside: that figure by model.
        name: what the figure is called.
    """
    plain = _by_setting(runs).get(PLAIN, {})
    scores = {model: f_score(plain[model].codes) if model in plain else None for model in runs}
    found = correlation(scores, outside)
    return {
        "name": name,
        "setting": PLAIN,
        "points": [{"model": model, "score": scores[model], "outside": outside[model]} for model in found.models],
        "left_out": found.left_out,
        "unknown": sorted(outside.keys() - runs.keys()),
        "pearson": found.pearson,
        "spearman": found.spearman,
    }


def _by_setting(runs: Runs) -> dict[str, dict[str, Run]]:
    found: dict[str, dict[str, Run]] = {}
    for model, own in runs.items():
        for run in own:
            found.setdefault(run.setting, {})[model] = run
    return found


def _codes(runs: Mapping[str, Run]) -> dict[str, np.ndarray]:
    return {model: run.codes for model, run in runs.items()}
