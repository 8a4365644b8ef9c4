"""People's grades beside the judges' of the same answers (SimpleDevQA, section 6.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from devqa.evaluation.agreement import against_people
from devqa.evaluation.correction import corrected
from devqa.evaluation.grading import GRADES
from devqa.evaluation.runs import Run
from devqa.evaluation.statistics import cluster_numbers
from devqa.tables import Row

# How many rows that match no answer are listed one by one.
LISTED = 100


@dataclass(frozen=True)
class HumanGrade:
    """A person's grade of one answer: its `run`, its place there, and the grade's code."""

    run: Run
    repeat: int
    row: int
    code: int


def matched(
    benchmark: Sequence[Row], runs: Mapping[str, Sequence[Run]], people: Iterable[Row]
) -> tuple[list[HumanGrade], list[Row]]:
    """People's grades with the answers that they are of, and those that belong to no answer.

    An answer that several people graded, or one person twice, is there as often.

    Args:
        benchmark: the rows that were asked.
        runs: of each model, in the order of its settings.
        people: `row` (its number in the file), `id`, `model`, `setting` and `repeat` (None: the model's first),
            `grade` (None where it can't be read: `reason` says why).

    Returns the grades, and for each of the others its `row`, `id`, `model` and the `reason`.
    """
    places = {row["id"]: place for place, row in enumerate(benchmark)}
    found, unmatched = [], []
    for row in people:
        run, reason = _run(row, runs.get(row["model"], ()))
        repeat = row["repeat"] if row["repeat"] is not None or not run else run.repeats[0]
        if row["grade"] not in GRADES:
            reason = row["reason"] or "the grade can't be read"
        elif run and row["id"] not in places:
            reason = "no row of this id was asked"
        elif run and repeat not in run.repeats:
            reason = f"{run.model} has no repeat {repeat} in setting {run.setting}"
        if reason:
            unmatched.append({**{key: row[key] for key in ("row", "id", "model")}, "reason": reason})
        else:
            found.append(HumanGrade(run, run.repeats.index(repeat), places[row["id"]], GRADES.index(row["grade"])))
    return found, unmatched


def _run(row: Row, runs: Sequence[Run]) -> tuple[Run | None, str]:
    if not runs:
        return None, f"no model {row['model']} is evaluated" if row["model"] else "no model is named"
    if not row["setting"]:
        return runs[0], ""
    run = next((each for each in runs if each.setting == row["setting"]), None)
    return run, "" if run else f"{row['model']} has no setting {row['setting']}"


def judge_against_people(grades: Sequence[HumanGrade], judge: str, clusters: np.ndarray) -> dict[str, Any] | None:
    """Accuracy, kappa and confusion of one `judge` (or of `MAJORITY`) on the answers of the runs that it graded.

    Args:
        clusters: (rows of the benchmark,): the number of each row's dialogue.

    None where no person graded such an answer.
    """
    own = [each for each in grades if judge in each.run.graders]
    if not own:
        return None
    codes = _codes(own, judge)
    found = against_people(np.array([each.code for each in own]), codes, clusters[[each.row for each in own]])
    return {
        "judge": judge,
        "rows": found.rows,
        "ungraded": found.ungraded,
        "confusion": found.confusion,
        "accuracy": found.accuracy,
        "kappa": found.kappa,
    }


def corrected_shares(grades: Sequence[HumanGrade], run: Run, clusters: np.ndarray) -> dict[str, Any] | None:
    """The shares of `run`, corrected for the error rates that people's grades of its own answers show.

    None where no person graded an answer of it.
    """
    own = [each for each in grades if each.run is run]
    if not own:
        return None
    people, sampled = np.array([each.code for each in own]), clusters[[each.row for each in own]]
    found = corrected(people, _codes(own, run.verdict), sampled, run.codes, clusters)
    return {"figures": found.figures, "reason": found.reason}


def comparison_with_people(
    benchmark: Sequence[Row], runs: Mapping[str, Sequence[Run]], people: Sequence[Row], path: str
) -> dict[str, Any]:
    """Every judge against people over the answers of all models, and the rows that belong to no answer.

    Args:
        path: where people's grades come from, as the configuration names it.
    """
    grades, unmatched = matched(benchmark, runs, people)
    clusters = cluster_numbers([row["dialogue_id"] for row in benchmark])
    judges = dict.fromkeys(name for own in runs.values() for run in own for name in run.graders)
    found = [judge_against_people(grades, judge, clusters) for judge in judges]
    return {
        "path": path,
        "judges": [each for each in found if each],
        "unmatched": unmatched[:LISTED],
        "unmatched_rows": len(unmatched),
    }


def _codes(grades: Sequence[HumanGrade], judge: str) -> np.ndarray:
    """The judge's grades (len(grades),) of the same answers."""
    by_run = {id(each.run): each.run.by(judge) for each in grades}
    return np.array([by_run[id(each.run)][each.repeat, each.row] for each in grades])
