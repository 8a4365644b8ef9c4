"""Reading answers and grades for the figures: one `Run` for each setting of a model, as arrays over the same rows.

Only columns that figures need are read; the long texts stay in the files.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from devqa import tables
from devqa.evaluation.agreement import majority
from devqa.evaluation.grading import GRADES
from devqa.evaluation.metrics import by_run, fate, refuse_strangers
from devqa.evaluation.statistics import UNRESOLVED, encode
from devqa.steps.questions import asked
from devqa.tables import Row

# What the "judge" of grades that came with their answers is called, and the majority of several judges.
IMPORTED = "imported"
MAJORITY = "majority"

Paths = str | os.PathLike | Iterable[str | os.PathLike]

_QUESTION = ["id", "language", "difficulty", "dialogue_id", "source", "domain", "filtered"]
_RUN = ["id", "setting", "model", "repeat"]
_ANSWER = [*_RUN, "confidence", "input_tokens", "output_tokens", "reasoning_tokens", "outcome", "status"]
_GRADE = [*_RUN, "judge", "grade"]


@dataclass(frozen=True)
class Run:
    """One model in one setting, over its `repeats` and all rows of the benchmark that were asked.

    `judges`: by each judge, that of table `grades` first, codes of grades (repeats, rows) as `statistics.encode` gives
    them. `verdict`: whose grades the figures are made of: the first judge's label, or `MAJORITY`. `confidence`
    (repeats, rows): from 0 to 100, NaN where none was stated.
    """

    model: str
    setting: str
    repeats: tuple[int, ...]
    verdict: str
    judges: Mapping[str, np.ndarray]
    confidence: np.ndarray

    @cached_property
    def codes(self) -> np.ndarray:
        """The grades (repeats, rows) that figures are made of."""
        return self.by(self.verdict)

    @property
    def graders(self) -> tuple[str, ...]:
        """The judges, and `MAJORITY` where there are several."""
        return (*self.judges, *([MAJORITY] if len(self.judges) > 1 else []))

    def by(self, grader: str) -> np.ndarray:
        """The grades (repeats, rows) by one of `graders`."""
        return majority(np.stack(list(self.judges.values()))) if grader == MAJORITY else self.judges[grader]


def questions(benchmark: Paths, domains: Paths, difficulties: Collection[str]) -> list[Row]:
    """The rows of table `benchmark` that were asked, sorted by id, with what figures need of them.

    Args:
        domains: the file of table `domains`, or none. Where it is, its domains stand in place of the benchmark's
            own, as a whole: two classifications can't be mixed.
    """
    rows = asked(_columns(benchmark, "benchmark", _QUESTION), difficulties)
    if files := [domains] if isinstance(domains, str | os.PathLike) else list(domains):
        found = {row["id"]: row["domain"] for row in _columns(files, "domains", ["id", "domain", "status"])}
        rows = [{**row, "domain": found.get(row["id"])} for row in rows]
    return sorted(rows, key=lambda row: row["id"])


def read_answers(paths: Paths) -> list[Row]:
    """The rows of tables `answers`, without the texts."""
    return _columns(paths, "answers", _ANSWER)


def read_grades(paths: Paths) -> list[Row]:
    """The rows of tables `grades` (a panel's too), without the judges' words."""
    return _columns(paths, "grades", _GRADE)


def verdicts(grades: Sequence[Row], panel: Sequence[Row], verdict: str) -> list[Row]:
    """The rows of `grades` that figures are made of.

    Args:
        grades, panel: rows of table `grades`, by the judge and by the further judges.
        verdict: "judge" gives `grades` as they are. "majority" gives each the grade of more than half of all judges,
            or none; a judge without a grade counts among the judges.
    """
    if verdict == "judge":
        return list(grades)
    votes = defaultdict(dict)
    for row in panel:
        votes[row["judge"]][_key(row)] = row["grade"]
    said = [[row["grade"] for row in grades], *([each.get(_key(row)) for row in grades] for each in votes.values())]
    found = majority(np.array([[_code(grade) for grade in each] for each in said], dtype=np.int8))
    return [
        {**row, "judge": MAJORITY, "grade": GRADES[code] if code >= 0 else None}
        for row, code in zip(grades, found.tolist(), strict=True)
    ]


def runs(
    benchmark: Sequence[Row],
    answers: Sequence[Row],
    grades: Sequence[Row],
    panel: Sequence[Row] = (),
    verdict: str = "judge",
) -> list[Run]:
    """The runs of one model, by setting in the order in which its answers come.

    Args:
        benchmark: the rows that were asked, as `questions` gives them.
        answers, grades, panel: rows of the tables of one model.
        verdict: as of `verdicts`.

    Raises:
        UserError: rows of more than one model, a row that the benchmark lacks, or one given twice.
    """
    refuse_strangers(benchmark, (*answers, *grades, *panel))
    ids = [row["id"] for row in benchmark]
    by_judge = {_label(grades): list(grades)}
    for row in panel:
        by_judge.setdefault(row["judge"], []).append(row)
    said = {label: by_run(rows, f"grades by {label}") for label, rows in by_judge.items()}
    given = by_run(answers, "answers")
    repeats = defaultdict(set)
    for setting, repeat in [*given, *(key for each in said.values() for key in each)]:
        repeats[setting].add(repeat)
    model = next((row["model"] for row in (*answers, *grades)), "")
    return [
        Run(
            model=model,
            setting=setting,
            repeats=tuple(sorted(numbers)),
            verdict=MAJORITY if verdict == "majority" else next(iter(said)),
            judges={
                label: np.stack([_codes(ids, given[setting, each], own[setting, each]) for each in sorted(numbers)])
                for label, own in said.items()
            },
            confidence=np.stack([_confidence(ids, given[setting, each]) for each in sorted(numbers)]),
        )
        for setting, numbers in repeats.items()
    ]


def read_runs(
    models: Sequence[str],
    benchmark: Sequence[Row],
    answers: Iterable[str],
    grades: Iterable[str],
    panel: Iterable[str],
    verdict: str,
) -> dict[str, list[Run]]:
    """The runs of each of `models` from all their files, read model by model: `…/<model>/<repeat>.parquet`."""
    files = [_by_model(paths) for paths in (answers, grades, panel)]
    return {
        model: runs(
            benchmark,
            read_answers(files[0][model]),
            read_grades(files[1][model]),
            read_grades(files[2][model]),
            verdict,
        )
        for model in models
    }


def _by_model(paths: Iterable[str]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for path in paths:
        found[Path(path).parent.name].append(path)
    return found


def _codes(ids: Sequence[str], answers: Mapping[str, Row], grades: Mapping[str, Row]) -> np.ndarray:
    return encode({row: fate(answers.get(row), grades.get(row)) for row in ids}, ids)


def _confidence(ids: Sequence[str], answers: Mapping[str, Row]) -> np.ndarray:
    stated = [answers[row]["confidence"] if row in answers else None for row in ids]
    return np.array([np.nan if each is None else each for each in stated], dtype=float)


def _label(grades: Sequence[Row]) -> str:
    """Whose grades these are; grades that came with their answers name no judge."""
    return next((row["judge"] for row in grades if row["judge"]), IMPORTED)


def _code(grade: str | None) -> int:
    return GRADES.index(grade) if grade in GRADES else UNRESOLVED


def _key(row: Row) -> tuple:
    return tuple(row[name] for name in _RUN)


def _columns(paths: Paths, name: str, columns: list[str]) -> list[Row]:
    return [row for batch in tables.batches(paths, name, 10_000, columns) for row in batch]
