"""Answers from elsewhere → tables `answers` and `grades`, as if the model had been asked here."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devqa.errors import UserError
from devqa.evaluation.grading import GRADES
from devqa.imports.matching import Matches, match
from devqa.imports.reading import Columns, Record, number, records, text
from devqa.imports.words import grade_of
from devqa.steps.outcomes import OK, rejected
from devqa.steps.questions import asked
from devqa.tables import Row
from devqa.usage import COUNTS

_log = logging.getLogger(__name__)

_NEEDED = (("prediction",), ("id", "question"))
UNMATCHED = ("repeat", "file", "row", "id", "question", "reason")
# Reasons, which the ledger counts.
MISSING = "the file has no answer"
EMPTY = "the file's answer is empty"
REWORDED = "the file's question reads otherwise"


@dataclass
class Imported:
    """Rows of tables `answers` and `grades` by repeat (no grades without a column), and rows with keys `UNMATCHED`."""

    answers: list[list[Row]] = field(default_factory=list)
    grades: list[list[Row]] = field(default_factory=list)
    unmatched: list[Row] = field(default_factory=list)


def imported(benchmark: Sequence[Row], options: Mapping[str, Any]) -> Imported:
    """The answers of one model in one setting, one row for each row of the benchmark that is asked, in its order.

    An answer that the file lacks is `missing`, one with no text `empty`: both are `rejected`, because asking again
    would not help. A grade column gives a grade to each of them, as far as its words can be read.

    Args:
        benchmark: all rows of table `benchmark`.
        options: `model`, `setting`, `columns`, `grades` of an entry of `evaluation.imports`; `named`, the roles whose
            column must be there; `grades_decided`, whether the configuration says what becomes of grades; `files`, the
            files of each repeat; and `difficulties`, which rows are asked.

    Raises:
        UserError: a file can't be read or lacks a column; it has grades, and nobody said what becomes of them; no row
            of a repeat matches; or no grade can be read.
    """
    looked_for = {} if options["grades_decided"] else {"grade": "grade"}
    columns = Columns({**options["columns"], **looked_for}, options["named"], _NEEDED)
    questions = asked(benchmark, options["difficulties"])
    given = [list(records(files, columns)) for files in options["files"]]
    if looked_for:
        _refuse_undecided(given)
    scale = _scale(record for repeat in given for record in repeat)
    found = Imported()
    for repeat, rows in enumerate(given, start=1):
        matches = match(rows, benchmark, {row["id"] for row in questions})
        _refuse_strangers(rows, matches)
        run = {"setting": options["setting"], "model": options["model"], "repeat": repeat}
        keys = [({"id": row["id"], **run}, matches.by_id.get(row["id"])) for row in questions]
        found.answers.append([_answer(key, record, scale, key["id"] in matches.reworded) for key, record in keys])
        if options["columns"]["grade"]:
            found.grades.append([_grade(key, record, options["grades"]) for key, record in keys])
            _refuse_unreadable(found.grades[-1], options)
        found.unmatched += [_unmatched(repeat, record, reason) for record, reason in matches.unmatched]
        _report(repeat, rows, matches, keys)
        _report_unread(repeat, keys, found, bool(options["columns"]["grade"]))
    return found


def _answer(key: Row, record: Record | None, scale: float, reworded: bool) -> Row:
    said = text(record, "prediction") or "" if record else ""
    outcome = "missing" if record is None else "ok" if said.strip() else "empty"
    account = {"ok": OK, "missing": rejected(MISSING), "empty": rejected(EMPTY)}[outcome]
    if reworded and outcome == "ok":
        account = {**OK, "reason": f"{REWORDED}: {text(record, 'question')}"}
    tokens = {name: _count(record, name) for name in ("input_tokens", "output_tokens")}
    return {
        **key,
        "answer": said,
        "confidence": _confidence(record, scale),
        "passages": [],
        "tool_calls": [],
        **tokens,
        "outcome": outcome,
        "usage": _usage(key["model"], tokens),
        **account,
    }


def _grade(key: Row, record: Record | None, meanings: Mapping[str, Any]) -> Row:
    """A grade that came with its answer has no judge."""
    word = text(record, "grade") if record else None
    grade, reason = grade_of(word, meanings) if record else (None, MISSING)
    return {**key, "grade": grade, "raw": None if grade else word, "usage": [], **(OK if grade else rejected(reason))}


def _usage(model: str, tokens: Mapping[str, int | None]) -> list[dict[str, Any]]:
    """One call, where its tokens are known."""
    if None in tokens.values():
        return []
    return [{"model": model, **dict.fromkeys(COUNTS, 0), "calls": 1, **tokens}]


def _count(record: Record | None, role: str) -> int | None:
    """A number of tokens; None where there is none, or none that could be one."""
    found = number(record.values.get(role)) if record else None
    return int(found) if found is not None and found >= 0 and found == int(found) else None


def _confidence(record: Record | None, scale: float) -> float | None:
    """In percent; None where none can be read, or it is not from 0 to 100."""
    stated, percent = _stated(record) if record else (None, False)
    if stated is None:
        return None
    found = stated if percent else round(stated * scale, 9)
    return found if 0 <= found <= 100 else None


def _stated(record: Record) -> tuple[float | None, bool]:
    """A confidence as it stands, and whether it says that it is in percent."""
    value = record.values.get("confidence")
    percent = isinstance(value, str) and value.strip().endswith("%")
    return number(value.strip().removesuffix("%") if percent else value), percent


def _scale(given: Iterable[Record]) -> float:
    """What makes percent of an entry's confidences.

    100 where all lie between 0 and 1: a model that is never more than 1 % sure does not exist, but many people write
    0.85 for 85 %. All repeats decide together, so that equal numbers mean the same.
    """
    stated = [_stated(record) for record in given]
    values = [value for value, percent in stated if value is not None and not percent]
    shares = values and min(values) >= 0 and 0 < max(values) <= 1
    if not shares or any(percent for _, percent in stated):
        return 1.0
    _log.warning("all confidences lie between 0 and 1: they are taken as shares, so that 0.85 is 85 percent")
    return 100.0


def _refuse_undecided(given: Iterable[Sequence[Record]]) -> None:
    """Grades that are there, and a judge that is paid to give others: that is to be somebody's decision."""
    if record := next((record for repeat in given for record in repeat if "grade" in record.values), None):
        raise UserError(
            f"{record.file} has a column 'grade': say under `columns` whether its grades are taken (grade: grade) "
            "or the judge grades (grade: null)"
        )


def _refuse_strangers(given: Sequence[Record], matches: Matches) -> None:
    if matches.by_id:
        return
    record, reason = matches.unmatched[0]
    said = text(record, "question") or text(record, "id") or ""
    raise UserError(
        f"none of the {len(given)} rows of {given[0].file} belongs to a row of the benchmark that is asked; the first, "
        f"row {record.number} ({said[:80]!r}): {reason}. Look at `columns` and at evaluation.difficulties"
    )


def _refuse_unreadable(grades: Collection[Row], options: Mapping[str, Any]) -> None:
    words = sorted({row["raw"].strip()[:40] for row in grades if row["raw"] and row["raw"].strip()})
    if words and not any(row["grade"] for row in grades):
        raise UserError(
            f"no grade of {options['model']} in column '{options['columns']['grade']}' can be read: its words are "
            f"{', '.join(map(repr, words[:5]))}. Say under `grades` what they mean: {', '.join(GRADES)}"
        )


def _unmatched(repeat: int, record: Record, reason: str) -> Row:
    said = (text(record, "id"), text(record, "question"), reason)
    return dict(zip(UNMATCHED, (repeat, record.file, record.number, *said), strict=True))


def _report_unread(repeat: int, keys: Sequence[tuple[Row, Record | None]], found: Imported, graded: bool) -> None:
    """Say in the log what stands in the file and could not be read."""
    unread: Counter[str] = Counter()
    for (_, record), answer in zip(keys, found.answers[-1], strict=True):
        for role in ("confidence", "input_tokens", "output_tokens"):
            unread[role] += bool(record and text(record, role)) and answer[role] is None
    unread["grade"] = sum(bool(row["raw"]) for row in found.grades[-1]) if graded else 0
    for role, count in unread.items():
        if count:
            _log.warning("repeat %d: %d values of %s can't be read", repeat, count, role)


def _report(repeat: int, given: Sequence[Record], matches: Matches, keys: Sequence[tuple[Row, Record | None]]) -> None:
    missing = sum(record is None for _, record in keys)
    _log.info(
        "repeat %d: %d rows read, %d taken, %d match nothing; %d of %d questions have no answer",
        *(repeat, len(given), len(matches.by_id), len(matches.unmatched), missing, len(keys)),
    )
    if matches.reworded:
        _log.warning("repeat %d: %d rows match by gold answer and similar question", repeat, len(matches.reworded))
    if matches.other_gold:
        _log.warning("repeat %d: %d rows have another gold answer than the benchmark", repeat, matches.other_gold)
