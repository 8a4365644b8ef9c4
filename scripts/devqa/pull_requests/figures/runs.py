"""Predictions and the facts found in them, read as one `Run` for each agent in a setting, over the same questions.

Only columns that figures need are read; the long texts stay in the files.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from devqa import tables
from devqa.errors import UserError
from devqa.ledger import general
from devqa.tables import Row
from devqa.usage import added

# What becomes of an answer: its facts were looked for; the judge's words could not be used; there is no usable answer;
# there is no row of it.
FATES = ("graded", "ungraded", "failed", "missing")
IMPORTANCE = ("vital", "okay")

Paths = str | os.PathLike | Iterable[str | os.PathLike]

_QUESTION = ["id", "pull_id", "repository", "name", "scope", "core", "searchable", "difficulty"]
_QUESTION += ["n_context_nodes", "n_context_files"]
_RUN = ["id", "setting", "model", "repeat"]
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")
_PREDICTED = [*_RUN, "seconds", "usd", *_TOKENS, "usage", "status", "reason"]
_RECALLED = [*_RUN, "recall", "vital_recall", "status", "reason"]
_RECALLED += [f"facts.list.element.{name}" for name in ("number", "importance", "found")]


@dataclass(frozen=True)
class Run:
    """One agent in one setting: what became of its answers, as arrays (repeats, questions).

    `recall` and `vital` are NaN where an answer is not graded, and `vital` where a question has no vital fact. `worst`
    and `best` are what `recall` would be at least and at most, whatever the facts that are not known. `fates`: of each
    answer one of FATES. `reasons`: how many answers have a fate for a reason, without graded ones. `found`: by
    importance, facts found and facts looked for in the graded answers. `seconds`: of the answers whose time is known.
    `tokens`: of the answers whose tokens were counted, (answers, 3): input, output, reasoning.
    `usage`: sums of `devqa.usage.COUNTS`. `usd`: what each answer says of its own cost, where it does.
    """

    setting: str
    agent: str
    repeats: tuple[int, ...]
    recall: np.ndarray
    vital: np.ndarray
    worst: np.ndarray
    best: np.ndarray
    fates: np.ndarray
    reasons: Mapping[tuple[str, str], int]
    found: Mapping[str, tuple[int, int]]
    seconds: np.ndarray
    tokens: np.ndarray
    usage: Mapping[str, int]
    usd: np.ndarray

    @property
    def name(self) -> str:
        """What tells the run from all others."""
        return f"{self.setting}/{self.agent}"


def read_questions(path: Paths, facts: Paths) -> list[Row]:
    """The rows of table `repository_questions` as figures need them, sorted by id, with `n_facts`.

    Raises:
        UserError: a file is not such a table.
    """
    columns = ["id", "facts.list.element.number"]
    counts = {row["id"]: len(row["facts"] or []) for row in _columns(facts, "repository_facts", columns)}
    rows = _columns(path, "repository_questions", _QUESTION)
    return sorted(({**row, "n_facts": counts.get(row["id"], 0)} for row in rows), key=lambda row: row["id"])


def read_runs(
    named: Sequence[tuple[str, str]], questions: Sequence[Row], predictions: Paths, recalled: Paths
) -> list[Run]:
    """The runs of tables `predictions` and `recalled`, as `runs` gives them."""
    return runs(
        named, questions, _columns(predictions, "predictions", _PREDICTED), _columns(recalled, "recalled", _RECALLED)
    )


def runs(
    named: Sequence[tuple[str, str]], questions: Sequence[Row], predictions: Sequence[Row], recalled: Sequence[Row]
) -> list[Run]:
    """A run for each setting and agent of `named`, in that order.

    Args:
        questions: that were asked, with their ids.
        predictions, recalled: rows of these tables, of all agents.

    Raises:
        UserError: a row is of a question that is not asked.
    """
    known = {row["id"] for row in questions}
    answers, grades = (_by_run(rows, known) for rows in (predictions, recalled))
    return [
        _run(setting, agent, [row["id"] for row in questions], answers[setting, agent], grades[setting, agent])
        for setting, agent in map(tuple, named)
    ]


def fate(prediction: Row | None, recall: Row | None) -> tuple[str, str]:
    """What became of an answer (one of FATES), and why it has no grade."""
    if prediction is None:
        return "missing", "it was not asked"
    if prediction["status"] != "ok":
        return "failed", prediction["reason"] or "no reason given"
    if recall is None:
        return "missing", "its facts were not looked for"
    if recall["status"] != "ok" or recall["recall"] is None:
        return "ungraded", recall["reason"] or "no reason given"
    return "graded", ""


def limits(facts: Sequence[Row] | None) -> tuple[float, float]:
    """The least and the greatest recall that an answer without a grade can have, by the `facts` that are known."""
    found = [fact["found"] for fact in facts or []]
    return (found.count(True) / len(found), 1 - found.count(False) / len(found)) if found else (0.0, 1.0)


def _run(setting: str, agent: str, ids: list[str], answers: Mapping, grades: Mapping) -> Run:
    repeats = sorted({repeat for repeat, _ in (*answers, *grades)}) or [1]
    shape = (len(repeats), len(ids))
    figures = {name: np.full(shape, np.nan) for name in ("recall", "vital", "worst", "best")}
    fates = np.empty(shape, dtype=object)
    reasons: Counter[tuple[str, str]] = Counter()
    found = {importance: [0, 0] for importance in IMPORTANCE}
    for (place, repeat), (column, row) in _product(repeats, ids):
        grade = grades.get((repeat, row))
        became, why = fate(answers.get((repeat, row)), grade)
        fates[place, column] = became
        if became != "graded":
            reasons[became, general(why)] += 1
            known = grade["facts"] if grade and became == "ungraded" else None
            figures["worst"][place, column], figures["best"][place, column] = limits(known)
            continue
        for name in ("recall", "worst", "best"):
            figures[name][place, column] = grade["recall"]
        figures["vital"][place, column] = np.nan if grade["vital_recall"] is None else grade["vital_recall"]
        for fact in grade["facts"]:
            found[fact["importance"]][0] += bool(fact["found"])
            found[fact["importance"]][1] += 1
    return Run(
        setting=setting,
        agent=agent,
        repeats=tuple(repeats),
        **figures,
        fates=fates,
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        found={importance: tuple(counts) for importance, counts in found.items()},
        **_taken([answers[key] for key in sorted(answers)]),
    )


def _taken(answers: Sequence[Row]) -> dict[str, Any]:
    """What answers took: `seconds`, `tokens`, `usage` and `usd` of a run."""
    counted = [row for row in answers if row["input_tokens"] is not None]
    tokens = [[row[name] or 0 for name in _TOKENS] for row in counted]
    return {
        "seconds": np.array([row["seconds"] for row in answers if row["seconds"] is not None], dtype=float),
        "tokens": np.array(tokens, dtype=float).reshape(len(counted), len(_TOKENS)),
        "usage": added(entry for row in answers for entry in row["usage"] or []),
        "usd": np.array([row["usd"] for row in answers if row["usd"] is not None], dtype=float),
    }


def _product(repeats: Sequence[int], ids: Sequence[str]) -> Iterable[tuple[tuple[int, int], tuple[int, str]]]:
    return ((repeat, row) for repeat in enumerate(repeats) for row in enumerate(ids))


def _by_run(rows: Iterable[Row], known: set[str]) -> dict[tuple[str, str], dict[tuple[int, str], Row]]:
    found: dict[tuple[str, str], dict[tuple[int, str], Row]] = defaultdict(dict)
    for row in rows:
        if row["id"] not in known:
            raise UserError(
                f"an answer of {row['model']} ({row['setting']}) is to question {row['id']}, which is not in the "
                "benchmark: delete results/pull_requests/predictions and results/pull_requests/recalled and run again"
            )
        found[row["setting"], row["model"]][row["repeat"], row["id"]] = row
    return found


def _columns(paths: Paths, name: str, columns: list[str]) -> list[Row]:
    return [row for batch in tables.batches(paths, name, 10_000, columns) for row in batch]
