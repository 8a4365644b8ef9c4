"""Fact recall of all agents, with intervals, bounds, segments and paired comparisons."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from devqa.evaluation.bootstrap import Estimate, number
from devqa.evaluation.comparison import Comparison, Resolution, resolution, tied_ranks
from devqa.pull_requests import GROUND_TRUTH
from devqa.pull_requests.figures.intervals import compare_means, gap_share, levels, mean_intervals
from devqa.pull_requests.figures.runs import FATES, Run
from devqa.tables import Row

# Facts and judge that find less than this in the true answers can't be trusted.
TRUSTED = 0.95
# From so many repositories on, what they are drawn from tells how small a difference would be found. In simulated draws
# the test finds the one that is told in 73 to 84 % of cases with 5 to 20 repositories that vary by 0.03 or 0.1, and
# only in 49 to 76 % with 2 to 4.
FEWEST_REPOSITORIES = 5
LOWER, UPPER = "no_context", "full_context"
UNKNOWN = "unknown"

_SIZES = ((1, "1"), (2, "2"), (5, "3–5"), (10, "6–10"))


def size(count: int | None) -> str:
    """The segment of so many blocks, or files."""
    if count is None:
        return UNKNOWN
    return next((name for most, name in _SIZES if count <= most), "11+")


def yes_no(value: bool | None) -> str:
    """The segment of a question that something holds of, or does not."""
    return UNKNOWN if value is None else "yes" if value else "no"


# By what questions are told apart, and the order of the values that have one.
SEGMENTS: dict[str, Callable[[Row], str]] = {
    "scope": lambda row: row["scope"] or UNKNOWN,
    "core": lambda row: yes_no(row["core"]),
    "searchable": lambda row: yes_no(row["searchable"]),
    "difficulty": lambda row: row["difficulty"] or UNKNOWN,
    "repository": lambda row: row["repository"],
    "blocks": lambda row: size(row["n_context_nodes"]),
    "files": lambda row: size(row["n_context_files"]),
}
_ORDER = ("deep", "broad", "yes", "no", "easy", "moderate", "hard", *(name for _, name in _SIZES), "11+", UNKNOWN)


def segments(questions: Sequence[Row]) -> list[tuple[str, str, list[int]]]:
    """(segment, value, places in `questions`) for each value of each of SEGMENTS that a question has."""
    found = []
    for segment, value_of in SEGMENTS.items():
        places: dict[str, list[int]] = {}
        for place, row in enumerate(questions):
            places.setdefault(value_of(row), []).append(place)
        found += [(segment, value, places[value]) for value in sorted(places, key=_in_order)]
    return found


def statistics(questions: Sequence[Row], runs: Sequence[Run]) -> dict[str, Any]:
    """All figures of all agents, for `results/pull_requests/statistics.json`; what can't be given is None.

    Args:
        questions: as `runs.read_questions` gives them.
        runs: over these questions, as `runs.runs` gives them.

    Returns
        `questions`, `facts`: how many there are;
        `clusters`: `levels` (what the bootstrap draws, outermost first), `repositories`, `pull_requests`;
        `runs`: of each `setting`, `agent`, `repeats`, `rank` (None for the true answers), `recall` and `vital_recall`
            (`value, low, high, spread`; `recall` also `worst` and `best`), `facts` ({all, vital, okay: {found, of}}),
            `answers` ({answers, graded, ungraded, failed, missing}), `reasons` (a list of `fate, reason, answers`),
            `seconds` (`known, mean, median, p95`), `tokens` (`counted, input, output, reasoning`; means),
            `usage` (sums of `devqa.usage.COUNTS`), `usd` (`known` answers that say their own cost, `own`: its sum) and
            `segments` (a list of `segment, value, questions, graded, recall, vital_recall`);
        `comparisons`: every two runs but the true answers, paired on the same questions: `first` and `second`
            (`setting, agent`), `difference`, `p`, `p_holm`, `questions`, `better` (first, second or None);
        `resolution`: as `evaluation.comparison.resolution` gives it, and its differences only where they can be told:
            where repositories are drawn, from `FEWEST_REPOSITORIES` on;
        `gaps`: for each model and setting between `LOWER` and `UPPER`, `agent, setting, share, lower, value, upper`;
        `ground_truth`: `recall`, `answers` and `graded` (how many there are, and how many have a grade), `low` (is
            recall under `TRUSTED`? False where it is None), `trusted`, `below` (ids of questions whose true answer
            lacks a fact, as the judge sees it); None where it was not to be graded.

    Recall is a question's mean over its graded repeats, then the mean over questions; answers without a grade are in
    no mean. `spread` is the sample standard deviation of the repeats' means; `worst` and `best` are what recall would
    be if all facts that are not known were missing, or found.
    """
    repositories = [row["repository"] for row in questions]
    recall, vital = (_over_repeats(runs, name, len(questions)) for name in ("recall", "vital"))
    compared = _comparisons(runs, recall, repositories)
    parts = [
        (segment, value, places, *_slice(recall, vital, repositories, places))
        for segment, value, places in segments(questions)
    ]
    whole = mean_intervals(recall, repositories), mean_intervals(vital, repositories)
    return {
        "questions": len(questions),
        "facts": sum(row["n_facts"] for row in questions),
        "clusters": _clusters(repositories),
        "runs": [
            {
                "setting": run.setting,
                "agent": run.agent,
                "repeats": len(run.repeats),
                "rank": compared["ranks"].get(run.name),
                "recall": whole[0][place]._asdict() | {"spread": _spread(run.recall)} | _bounds(run),
                "vital_recall": whole[1][place]._asdict() | {"spread": _spread(run.vital)},
                **_account(run),
                "segments": [_segment(part, recall[place], place) for part in parts],
            }
            for place, run in enumerate(runs)
        ],
        "comparisons": compared["comparisons"],
        "resolution": compared["resolution"],
        "gaps": _gaps(runs, recall, repositories),
        "ground_truth": _ground_truth(questions, runs, recall, whole[0]),
    }


def _clusters(repositories: Sequence[str]) -> dict[str, Any]:
    counts = {"repositories": len(set(repositories)), "pull_requests": len(repositories)}
    return {"levels": levels(repositories), **counts}


def _over_repeats(runs: Sequence[Run], name: str, questions: int) -> np.ndarray:
    """(runs, questions): each question's mean over the repeats that have a value; NaN where none has."""
    return np.array([_mean(getattr(run, name), axis=0) for run in runs], dtype=float).reshape(len(runs), questions)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of the values that are no NaN; NaN where there is none."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    return np.where(count, np.where(known, values, 0).sum(axis=axis) / np.maximum(count, 1), np.nan)


def _spread(values: np.ndarray) -> float | None:
    """The sample standard deviation of the repeats' means (repeats, questions); None for fewer than two."""
    means = _mean(values, axis=1)
    means = means[~np.isnan(means)]
    return float(means.std(ddof=1)) if len(means) > 1 else None


def _bounds(run: Run) -> dict[str, float | None]:
    if not run.worst.size:
        return {"worst": None, "best": None}
    return {name: number(_mean(getattr(run, name), axis=0).mean()) for name in ("worst", "best")}


def _account(run: Run) -> dict[str, Any]:
    counts = {fate: int((run.fates == fate).sum()) for fate in FATES}
    total = [sum(count) for count in zip(*run.found.values(), strict=True)]
    facts = {"all": total, **run.found}
    seconds = run.seconds
    return {
        "facts": {name: {"found": found, "of": of} for name, (found, of) in facts.items()},
        "answers": {"answers": run.fates.size, **counts},
        "reasons": [{"fate": fate, "reason": why, "answers": count} for (fate, why), count in run.reasons.items()],
        "seconds": {
            "known": len(seconds),
            "mean": float(seconds.mean()) if len(seconds) else None,
            "median": float(np.median(seconds)) if len(seconds) else None,
            "p95": float(np.quantile(seconds, 0.95)) if len(seconds) else None,
        },
        "tokens": {
            "counted": len(run.tokens),
            **{
                name: float(run.tokens[:, column].mean()) if len(run.tokens) else None
                for column, name in enumerate(("input", "output", "reasoning"))
            },
        },
        "usage": dict(run.usage),
        "usd": {"known": len(run.usd), "own": float(run.usd.sum()) if len(run.usd) else None},
    }


def _slice(
    recall: np.ndarray, vital: np.ndarray, repositories: Sequence[str], places: list[int]
) -> tuple[list[Estimate], list[Estimate]]:
    own = [repositories[place] for place in places]
    return mean_intervals(recall[:, places], own), mean_intervals(vital[:, places], own)


def _segment(part: tuple, recall: np.ndarray, place: int) -> dict[str, Any]:
    segment, value, places, recalls, vitals = part
    return {
        "segment": segment,
        "value": value,
        "questions": len(places),
        "graded": int((~np.isnan(recall[places])).sum()),
        "recall": recalls[place],
        "vital_recall": vitals[place],
    }


def _comparisons(runs: Sequence[Run], recall: np.ndarray, repositories: Sequence[str]) -> dict[str, Any]:
    compared = [place for place, run in enumerate(runs) if run.setting != GROUND_TRUTH]
    names = [run.name for run in runs]
    found = compare_means(names, recall, repositories, list(itertools.combinations(compared, 2)))
    by_name = {run.name: {"setting": run.setting, "agent": run.agent} for run in runs}
    means = {names[place]: number(_mean(recall[place], axis=0)) for place in compared}
    return {
        "ranks": tied_ranks(means, found),
        "resolution": _resolution(found, repositories),
        "comparisons": [
            {
                "first": by_name[each.first],
                "second": by_name[each.second],
                "difference": each.difference,
                "p": each.p,
                "p_holm": each.p_holm,
                "questions": each.rows,
                "better": each.better and ("first" if each.better == each.first else "second"),
            }
            for each in found
        ],
    }


def _resolution(comparisons: Sequence[Comparison], repositories: Sequence[str]) -> Resolution:
    found = resolution(comparisons)
    if 1 < len(set(repositories)) < FEWEST_REPOSITORIES:
        return Resolution(found.comparisons, None, None, None)
    return found


def _gaps(runs: Sequence[Run], recall: np.ndarray, repositories: Sequence[str]) -> list[dict[str, Any]]:
    """Where each setting of a model stands between what it knows without any context and with all of it."""
    places = {(run.setting, run.agent): place for place, run in enumerate(runs)}
    found = []
    for run, own in zip(runs, recall, strict=True):
        ends = [places.get((setting, run.agent)) for setting in (LOWER, UPPER)]
        if run.setting in (LOWER, UPPER, GROUND_TRUTH) or None in ends:
            continue
        lower, upper = (recall[end] for end in ends)
        known = ~np.isnan(lower + own + upper)
        means = {
            name: number(_mean(values[known], axis=0))
            for name, values in (("lower", lower), ("value", own), ("upper", upper))
        }
        share = gap_share(lower, own, upper, repositories)
        found.append({"agent": run.agent, "setting": run.setting, "share": share, **means})
    return found


def _ground_truth(
    questions: Sequence[Row], runs: Sequence[Run], recall: np.ndarray, estimates: Sequence[Estimate]
) -> dict[str, Any] | None:
    place = next((place for place, run in enumerate(runs) if run.setting == GROUND_TRUTH), None)
    if place is None:
        return None
    found, fates = estimates[place], runs[place].fates
    return {
        "recall": found,
        "answers": fates.size,
        "graded": int((fates == "graded").sum()),
        "trusted": TRUSTED,
        "low": found.value is not None and found.value < TRUSTED,
        "below": [row["id"] for row, own in zip(questions, recall[place], strict=True) if own < 1],
    }


def _in_order(value: str) -> tuple[int, str]:
    return _ORDER.index(value) if value in _ORDER else 0, value
