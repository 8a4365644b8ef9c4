"""What the study says: tasks of developers, and how far their questions suit a benchmark (SimpleDevQA, section 3).

Shares are of all dialogues about development, not of the sample: each drawn dialogue stands for the `weight` dialogues
of its stratum. Their 95 % intervals are from resamples of the drawn dialogues without regard to strata, which makes
them rather too wide than too narrow. What people have settled stands in place of what the model says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from devqa.evaluation.agreement import against_people, krippendorff_alpha
from devqa.evaluation.as_json import as_json
from devqa.evaluation.bootstrap import intervals, over
from devqa.evaluation.statistics import at_the_edges
from devqa.review.deciding import LABELS
from devqa.study import UNRELATED
from devqa.tables import Row

CRITERIA = ("single_answer", "timeless", "evidenced")
# Characters of a dialogue: lower ends of the classes that are shown, among them those of `sampling.stratum`.
LENGTHS = (0, 500, 1_500, 5_000, 20_000)
# Values of a table that are shown one by one.
SHOWN = 10
_LABELS = LABELS["dialogue_decisions"]


def population(sampled: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """What the population and the sample drawn from it are made of, by `language`, `length` and `model`.

    Args:
        sampled: rows of table `sampled`: `language`, `characters`, `model`, `status`.

    Returns for each a list of `value`, `population` and `sample` (dialogues): the `SHOWN` most frequent values, and the
    others as one; lengths all, in order. A value that is not known is "unknown".
    """
    everyone: dict[str, Counter[str]] = {"language": Counter(), "length": Counter(), "model": Counter()}
    drawn: dict[str, Counter[str]] = {name: Counter() for name in everyone}
    for row in sampled:
        values = {"language": row["language"], "length": _length(row["characters"]), "model": row["model"]}
        for name, value in values.items():
            everyone[name][value or "unknown"] += 1
            drawn[name][value or "unknown"] += row["status"] == "ok"
    found = {name: _most_frequent(everyone[name], drawn[name]) for name in ("language", "model")}
    lengths = [
        {"value": value, "population": everyone["length"][value], "sample": drawn["length"][value]}
        for value in map(_length, LENGTHS)
    ]
    return {"language": found["language"], "length": lengths, "model": found["model"]}


def labelled(classified: Iterable[Row], people: Mapping[str, Row]) -> list[Row]:
    """The labels that hold, one row per dialogue of the sample: `dialogue_id`, `weight`, `by` and the five labels.

    Args:
        classified: rows of table `classified`, of every status.
        people: people's settled decision by dialogue.

    `by` is `people`, `model` or, where there is no label, "". What the model takes for unrelated to development has the
    task `UNRELATED`.
    """
    return [_labelled(row, people.get(row["dialogue_id"])) for row in classified]


def findings(rows: Sequence[Row], categories: Iterable[str], knowledge: str) -> dict[str, Any]:
    """The shares of the study, as plain JSON values; a share is {value, low, high}.

    Args:
        rows: as `labelled` gives them.
        categories: the tasks.
        knowledge: the one that asks for knowledge.

    Returns `dialogues`: how many are in the sample, and of them `by_people` and `by_model` labelled with a category,
    `unrelated`, and `unlabelled`; `tasks`: by category, most frequent first, `task`, `rows` and its `share` of those
    with one; `code_centred` and `suitable`: of knowledge questions for which it is known, `criterion`, `rows` (how many
    are known) and `share`; the last of `suitable` is all criteria together.
    """
    categories = list(categories)
    having = [row for row in rows if row["task"] in categories]
    asking = [row for row in having if row["task"] == knowledge]
    by = Counter(row["by"] for row in having)
    unrelated = sum(row["task"] not in categories and row["task"] is not None for row in rows)
    shares = weighted_shares(
        [[row["task"] == name for name in categories] for row in having],
        [row["weight"] for row in having],
        len(categories),
    )
    centred, *suitable = _held_against(asking, ["code_centred", *CRITERIA, "all"])
    tasks = [
        {"task": name, "rows": sum(row["task"] == name for row in having), "share": share}
        for name, share in zip(categories, shares, strict=True)
    ]
    return {
        "dialogues": {
            "sample": len(rows),
            "by_people": by["people"],
            "by_model": by["model"],
            "unrelated": unrelated,
            "unlabelled": len(rows) - len(having) - unrelated,
        },
        "tasks": sorted(tasks, key=lambda each: (-(each["share"]["value"] or 0), each["task"])),
        "code_centred": centred,
        "suitable": suitable,
    }


def weighted_shares(flags: Sequence[Sequence[bool | None]], weights: Sequence[float], columns: int) -> list[Any]:
    """For each column of `flags` (rows, columns) the weighted share that is true of those that are known (not None)."""
    given = np.array([[np.nan if flag is None else flag for flag in row] for row in flags], dtype=float)
    given = given.reshape(len(flags), columns)
    known = ~np.isnan(given)
    weight = np.array(weights, dtype=float)[:, None]
    sums = np.stack([np.nan_to_num(given) * weight, known * weight], axis=-1)
    bearing = known.sum(axis=0)[:, None]
    found = at_the_edges(intervals(sums, _ratio, bearing), bearing)
    return as_json([found.estimate(place, 0) for place in range(columns)])


def model_against_people(classified: Iterable[Row], people: Mapping[str, Row]) -> list[dict[str, Any]]:
    """The model's labels beside people's settled ones of the same dialogues, one entry per label.

    Args:
        classified, people: as of `labelled`.

    Returns `criterion`, `things` (that both labelled), `alpha` (Krippendorff's), `kappa` (Cohen's) and `accuracy` (of
    the model) as {value, low, high}; nothing where people have settled nothing.
    """
    both = [(row, people[row["dialogue_id"]]) for row in classified if row["dialogue_id"] in people]
    return as_json([_beside(label, both) for label in _LABELS]) if both else []


def _beside(label: str, both: Sequence[tuple[Row, Row]]) -> dict[str, Any]:
    said = [(_said(row)[label], settled[label]) for row, settled in both]
    kinds = sorted({each for pair in said for each in pair if each is not None}, key=str)
    number = {kind: code for code, kind in enumerate(kinds)} | {None: -1}
    model, people = (np.array([number[pair[place]] for pair in said], dtype=int) for place in (0, 1))
    things = np.arange(len(said))
    found = against_people(people, model, things, kinds=max(1, len(kinds)))
    alpha = krippendorff_alpha(np.stack([people, model]), things, kinds=max(1, len(kinds)))
    return {
        "criterion": label,
        "things": found.rows,
        "alpha": alpha.alpha,
        "kappa": found.kappa,
        "accuracy": found.accuracy,
    }


def _labelled(row: Row, settled: Row | None) -> Row:
    labels = settled or _said(row)
    by = "people" if settled else "model" if labels["task"] is not None else ""
    return {
        "dialogue_id": row["dialogue_id"],
        "weight": row["weight"],
        "by": by,
        **{label: labels[label] for label in _LABELS},
    }


def _said(row: Row) -> Row:
    """The model's labels; a dialogue that it rejects is unrelated to development."""
    return {**row, "task": UNRELATED} if row["status"] == "rejected" else row


def _held_against(rows: Sequence[Row], criteria: Sequence[str]) -> list[dict[str, Any]]:
    flags = [[_all(row) if name == "all" else row[name] for name in criteria] for row in rows]
    shares = weighted_shares(flags, [row["weight"] for row in rows], len(criteria))
    known = [sum(each[place] is not None for each in flags) for place in range(len(criteria))]
    return [
        {"criterion": name, "rows": count, "share": share}
        for name, count, share in zip(criteria, known, shares, strict=True)
    ]


def _all(row: Row) -> bool | None:
    met = [row[name] for name in CRITERIA]
    return None if None in met else all(met)


def _ratio(totals: np.ndarray) -> np.ndarray:
    return over(totals[..., 0], totals[..., 1])[..., None]


def _length(characters: int) -> str:
    place = max(place for place, least in enumerate(LENGTHS) if characters >= least)
    if place == len(LENGTHS) - 1:
        return f"{LENGTHS[place]:,} and more"
    return f"{LENGTHS[place]:,} to {LENGTHS[place + 1] - 1:,}"


def _most_frequent(everyone: Counter[str], drawn: Counter[str]) -> list[dict[str, Any]]:
    order = sorted(everyone, key=lambda value: (-everyone[value], value))
    found = [{"value": each, "population": everyone[each], "sample": drawn[each]} for each in order[:SHOWN]]
    if rest := order[SHOWN:]:
        others = {count: sum(counter[each] for each in rest) for count, counter in (("p", everyone), ("s", drawn))}
        found.append({"value": f"{len(rest)} others", "population": others["p"], "sample": others["s"]})
    return found
