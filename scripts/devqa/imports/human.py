"""People's grades of answers (SimpleDevQA, 6.2)."""

from collections.abc import Iterable
from typing import Any

from devqa.errors import UserError
from devqa.imports.reading import Columns, Record, number, records, stripped, text
from devqa.imports.words import grade_of
from devqa.tables import Row

_NEEDED = (("id",), ("model",), ("grade",))


def human_grades(files: Iterable[str], section: dict[str, Any]) -> list[Row]:
    """The grades that people gave, in the order of the files.

    Args:
        section: `evaluation.human_grades` of the configuration as plain values.

    Returns dicts with `file`, `row` (from 1), `id` and `model` ("" where the cell is empty), `setting` and `repeat` (a
    whole number), both None where they are not said, `grade` (None where it can't be read) and `reason` (why).

    Raises:
        UserError: a file can't be read or lacks a column, or a repeat is no number.
    """
    names = section["columns"]
    # By default a column is called as what it holds: one with another name is named in the configuration.
    named = [role for role, column in names.items() if column and column != role]
    return [_row(record, section["grades"]) for record in list(records(files, Columns(names, named, _NEEDED)))]


def _row(record: Record, meanings: dict[str, Any]) -> Row:
    grade, reason = grade_of(text(record, "grade"), meanings)
    return {
        "file": record.file,
        "row": record.number,
        "id": stripped(record, "id"),
        "model": stripped(record, "model"),
        "setting": stripped(record, "setting") or None,
        "repeat": _repeat(record),
        "grade": grade,
        "reason": reason,
    }


def _repeat(record: Record) -> int | None:
    said = stripped(record, "repeat")
    if not said:
        return None
    # pandas writes 1.0 for 1 where other cells are empty.
    found = number(said)
    if found is None or found < 1 or found != int(found):
        raise UserError(f"{record}: the repeat is {said!r}: it must be a number from 1")
    return int(found)
