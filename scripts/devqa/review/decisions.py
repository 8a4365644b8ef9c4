"""Reading people's decisions, and refusing files that say what can't be.

Decisions are people's work: they are never repaired or left out here, and no file is written.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.review.deciding import KEYS
from devqa.tables import SCHEMAS, Row
from devqa.web.urls import canonical, is_web

# The files of `review.folder`, each with its table.
FILES = {
    "pairs": "pair_decisions",
    "grades": "grade_decisions",
    "dialogues": "dialogue_decisions",
    "domains": "domain_decisions",
}
ROLES = ("annotator", "adjudicator")
DECISIONS = ("accept", "reject", "correct")
# Those of `devqa.steps.check`, which asks a model: what reads decisions does not depend on how models are asked.
CRITERIA = ("unambiguous", "complex_enough", "verifiable")
GRADES = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
# An answer that people stand for rests on so many pages (SimpleDevQA, section 4.3).
PAGES = 2
# What each table's rows are about.
_THINGS = {"pair_decisions": "pair", "grade_decisions": "answer", "dialogue_decisions": "dialogue"}
_HINT = (
    "mend it where it comes from, or move it away (if it is the page's, scripts/annotate.py --export writes it anew); "
    "nothing was changed"
)


def pair_decisions(files: str | Iterable[str]) -> list[Row]:
    """The rows of `pair_decisions` in these files; none where there is no file.

    Raises:
        UserError: as `decisions`.
    """
    return decisions(files, "pair_decisions")


def decisions(files: str | Iterable[str], table: str) -> list[Row]:
    """The rows of one of the tables of decisions in these files, sorted by what they are about and by person.

    Empty lists and texts stand for null ones.

    Raises:
        UserError: a file can't be read or is no such table, a row says what can't be, somebody decides a thing twice,
            two people adjudicate it, or somebody does who has annotated it.
    """
    names = [files] if isinstance(files, str) else list(files)
    return checked([(name, row) for name in names for row in _rows(name, table)], table)


def is_page(url: str) -> bool:
    """May the address stand for evidence: one on the web, or of a page of the local corpus (`file:` and its path)?"""
    return is_web(url) or (url.startswith("file:") and url != "file:")


def look_at(folder: str | os.PathLike) -> None:
    """Read all files of decisions in `folder`, only to see that they can be read.

    Raises:
        UserError: as `decisions`.
    """
    for name, table in FILES.items():
        file = Path(folder, f"{name}.parquet")
        if file.exists():
            decisions(str(file), table)


def checked(found: Sequence[tuple[str, Row]], table: str) -> list[Row]:
    """Rows of `table`, each with the file that it is from, as `decisions` returns them.

    Raises:
        UserError: as `decisions`.
    """
    found = [(file, _whole(row, table)) for file, row in found]
    faults = [
        f"{file}: {_about(row, table)}, {row['annotator'] or 'nobody'}: {fault}"
        for faults in (_faults(found, table), _clashes(found, table))
        for file, row, fault in faults
    ]
    if faults:
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        raise UserError(f"{faults[0]}{more}: {_HINT}")
    return sorted((row for _, row in found), key=lambda row: (_key(row, table), row["annotator"]))


def _rows(file: str, table: str) -> list[Row]:
    schema = SCHEMAS[table]
    try:
        found = pq.read_table(file)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{file} can't be read as Parquet ({error}): {_HINT}") from error
    if sorted(found.column_names) != sorted(schema.names):
        lacks, has = (set(schema.names) - {*found.column_names}, {*found.column_names} - set(schema.names))
        said = [f"{what} {', '.join(sorted(names))}" for what, names in (("lacks", lacks), ("has", has)) if names]
        raise UserError(f"{file} is no table of {table}: it {' and '.join(said) or 'has a column twice'}: {_HINT}")
    try:
        # Others than this project write them too, with other types for the same texts.
        return found.select(schema.names).cast(schema).to_pylist()
    except (pa.ArrowException, ValueError) as error:
        raise UserError(f"{file} is no table of {table} ({error}): {_HINT}") from error


def _whole(row: Row, table: str) -> Row:
    """`row` with empty lists and texts for null ones."""
    blank: dict[pa.DataType, Callable] = {pa.string(): str, pa.list_(pa.string()): list}
    return {
        name: blank[kind]() if (value := row.get(name)) is None and kind in blank else value
        for name, kind in zip(SCHEMAS[table].names, SCHEMAS[table].types, strict=True)
    }


def _faults(found: Iterable[tuple[str, Row]], table: str) -> Iterator[tuple[str, Row, str]]:
    """Rows that say what can't be, each with its file and its first fault."""
    for file, row in found:
        if fault := _person(row, table) or _SAID[table](row):
            yield file, row, fault


def _person(row: Row, table: str) -> str:
    if missing := [name for name in (*KEYS[table], "annotator") if row[name] in ("", None)]:
        return f"{missing[0]} is empty"
    if row["role"] not in ROLES:
        return f"the role {row['role']!r} is none of {', '.join(ROLES)}"
    try:
        when = datetime.fromisoformat(row["decided_at"])
    except ValueError:
        when = None
    if when is None or when.utcoffset() != timedelta(0):
        return f"decided_at is {row['decided_at']!r}: it must be a time in ISO 8601 and UTC"
    return ""


def _pair(row: Row) -> str:
    if row["decision"] not in DECISIONS:
        return f"the decision {row['decision']!r} is none of {', '.join(DECISIONS)}"
    if unknown := [name for name in row["failed_criteria"] if name not in CRITERIA]:
        return f"the criterion {unknown[0]!r} is none of {', '.join(CRITERIA)}"
    if row["decision"] == "reject":
        return "" if row["failed_criteria"] or row["reason"].strip() else "rejected without a reason or a criterion"
    if wrong := [url for url in row["evidence_urls"] if not (url and is_page(url))]:
        return f"{wrong[0]!r} is no http(s) address, nor one of the local corpus"
    if len(set(map(canonical, row["evidence_urls"]))) < PAGES:
        return f"{row['decision']} needs the addresses of {PAGES} different pages as evidence"
    if row["decision"] == "correct" and not row["answer"].strip():
        return "corrected without an answer"
    return ""


def _grade(row: Row) -> str:
    return "" if row["grade"] in GRADES else f"the grade {row['grade']!r} is none of {', '.join(GRADES)}"


def _named(column: str) -> Callable[[Row], str]:
    return lambda row: "" if row[column].strip() else f"the {column} is empty"


_SAID: dict[str, Callable[[Row], str]] = {
    "pair_decisions": _pair,
    "grade_decisions": _grade,
    "dialogue_decisions": _named("task"),
    "domain_decisions": _named("domain"),
}


def _clashes(found: Iterable[tuple[str, Row]], table: str) -> Iterator[tuple[str, Row, str]]:
    """Rows that can't stand beside one before them."""
    earlier: dict[tuple, list[Row]] = defaultdict(list)
    for file, row in found:
        before = earlier[_key(row, table)]
        own = [other for other in before if other["annotator"] == row["annotator"]]
        thirds = [other for other in before if other["role"] == "adjudicator"]
        if own and own[0]["role"] == row["role"]:
            yield file, row, "decided twice by the same person: keep one of the two"
        elif own:
            yield file, row, "annotated and adjudicated by the same person: somebody else has to settle it"
        elif thirds and row["role"] == "adjudicator":
            yield file, row, f"adjudicated by {thirds[0]['annotator']} already: keep one of the two"
        before.append(row)


def _key(row: Mapping, table: str) -> tuple:
    return tuple(row[name] for name in KEYS[table])


def _about(row: Mapping, table: str) -> str:
    return f"{_THINGS.get(table, 'question')} {' '.join(map(str, _key(row, table)))}"
