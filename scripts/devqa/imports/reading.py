"""Rows of tables from elsewhere, CSV, JSON lines or Parquet, with the columns that the configuration names.

What stands in a cell is not interpreted: "NA", "None" or "" in a CSV file are texts, and `text` and `number` below say
how a value is taken. A file is read as a stream.
"""

import csv
import decimal
import difflib
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.imports.files import CELL_LIMIT, SEPARATED
from devqa.ingest import jsonlines
from devqa.text import whole

_LINE_LIMIT = 64 << 20  # bytes of a line of JSON
_HEADER_LIMIT = 1 << 20  # characters in which the header of a CSV file ends
_BATCH = 512  # rows of a Parquet file
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")

# What a reader of one format is told once it knows the file's columns.
_Seen = Callable[[Collection[str]], None]


@dataclass(frozen=True, slots=True)
class Record:
    """One row. `number` counts from 1 without the header, in JSON lines it is the line.

    `values` are by role, as `Columns` names them; a role whose column is not there is missing.
    """

    file: str
    number: int
    values: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file}, row {self.number}"


@dataclass(frozen=True)
class Columns:
    """Which column of a file is what.

    Args:
        names: role → column. A role without a column (None) is not read.
        named: the roles whose column the configuration names: it must be there. The others are taken if they are
            there, but for a column that has another role by the configuration.
        needed: of each group of roles at least one must be there.
    """

    names: Mapping[str, str | None]
    named: Collection[str] = ()
    needed: Sequence[Sequence[str]] = ()

    def roles(self) -> dict[str, str]:
        """The roles that are read, and their columns."""
        taken = {self.names[role] for role in self.named}
        return {
            role: column
            for role, column in self.names.items()
            if column is not None and (role in self.named or column not in taken)
        }

    def check(self, file: str, there: Collection[str]) -> None:
        """Refuse a file without a column that must be there.

        Raises:
            UserError: names the file, the column, and the nearest one or all that are there.
        """
        roles = self.roles()
        groups = [(role,) for role in self.named if role in roles] + [tuple(group) for group in self.needed]
        for group in groups:
            columns = [roles[role] for role in group if role in roles]
            if not any(column in there for column in columns):
                names = " or ".join(f"'{column}'" for column in columns) or "left"
                raise UserError(f"{file} has no column {names} for {' or '.join(group)}: {_hint(columns, there)}")


def records(files: Iterable[str], columns: Columns) -> Iterator[Record]:
    """The rows of `files`, one after the other.

    Raises:
        UserError: a file can't be read to its end, holds no row, or lacks a column that must be there.
    """
    roles = columns.roles()
    for file in files:
        count = 0
        for number, row in _rows(file, set(roles.values()), lambda there, file=file: columns.check(file, there)):
            count += 1
            yield Record(file, number, {role: row[column] for role, column in roles.items() if column in row})
        if not count:
            raise UserError(f"{file} holds no row: give a file that does, or take it out of the configuration")


def text(record: Record, role: str) -> str | None:
    """A value as text: a text as it stands, a number or truth value as JSON writes it, whole numbers without a point.

    None where there is none, which NaN stands for too (pandas writes it for null). Half a surrogate pair, which no
    table holds, becomes U+FFFD.

    Raises:
        UserError: it is a list, bytes, or the like.
    """
    value = record.values.get(role)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | decimal.Decimal):
        return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)
    raise UserError(f"{record}: {role} is of type {type(value).__name__}, not text: convert it")


def stripped(record: Record, role: str) -> str:
    """A value as text without outer white space; "" where there is none.

    Raises:
        UserError: as of `text`.
    """
    return (text(record, role) or "").strip()


def number(value: Any) -> float | None:
    """A number, or a text that is one; None for anything else, for NaN and for infinity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | decimal.Decimal):
        return None
    # Python itself takes more for a number: "1_000", "٣", "nan".
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _rows(file: str, wanted: set[str], seen: _Seen) -> Iterator[tuple[int, Mapping[str, Any]]]:
    name = file.lower()
    if name.endswith(".parquet"):
        return _parquet(file, wanted, seen)
    if name.endswith(SEPARATED):
        return _separated(file, wanted, seen)
    return _json_lines(file, seen)


def _separated(file: str, wanted: set[str], seen: _Seen) -> Iterator[tuple[int, dict[str, str]]]:
    """CSV as RFC 4180 has it: cells with delimiters, quotes or line ends are quoted, quotes in them doubled."""
    csv.field_size_limit(CELL_LIMIT)
    delimiter = _delimiter(file, wanted)
    number, line = 0, "the header"
    try:
        with _decoded(file) as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, [])
            seen(header)
            _refuse_repeated(file, header, wanted)
            places = [(place, column) for place, column in enumerate(header) if column in wanted]
            line = f"row {number + 1}"
            for cells in reader:
                if not cells:
                    continue
                number += 1
                if len(cells) != len(header):
                    raise UserError(
                        f"{file}, row {number} (line {reader.line_num}) has {len(cells)} cells, and the header "
                        f"{len(header)}: cells with delimiters, quotes or line ends must be quoted"
                    )
                yield number, {column: cells[place] for place, column in places}
                line = f"row {number + 1}"
    except csv.Error as error:
        raise UserError(f"{file}, {line} is no well-formed CSV ({error}): double the quotes in cells") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}, {line} or soon after is not UTF-8 ({error.reason}): save it as UTF-8") from error
    except OSError as error:  # also what pyarrow raises for truncated and corrupt streams
        raise UserError(f"{file} can't be read after row {number} ({error}): replace it with a whole copy") from error


def _delimiter(file: str, wanted: set[str]) -> str:
    """The delimiter with which the header has most of the `wanted` columns; else the one that splits it most."""
    try:
        with _decoded(file) as lines:
            start = lines.read(_HEADER_LIMIT)
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 ({error.reason}): save the file as UTF-8") from error
    except OSError as error:
        raise UserError(f"{file} can't be read ({error}): replace it with a whole copy") from error
    if not start.strip():
        raise UserError(f"{file} is empty: it needs a header with the names of its columns")
    usual = "\t,;" if ".tsv" in Path(file).name.lower() else ",;\t"
    headers = {mark: _header(start, mark) for mark in usual}
    return max(usual, key=lambda mark: (len(wanted.intersection(headers[mark])), len(headers[mark])))


def _header(start: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


@contextmanager
def _decoded(file: str) -> Iterator[io.TextIOWrapper]:
    """A file as text: line ends as they are, no byte-order mark."""
    with jsonlines.opened(file) as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def _json_lines(file: str, seen: _Seen) -> Iterator[tuple[int, dict[str, Any]]]:
    there: dict[str, None] = {}
    for record in jsonlines.read(file, _LINE_LIMIT):
        if record.problem:
            raise UserError(f"{file}, line {record.number}: {record.problem}")
        if not isinstance(record.value, dict):
            raise UserError(f"{file}, line {record.number} is no JSON object with columns as keys")
        there |= dict.fromkeys(record.value)
        yield record.number, record.value
    if there:
        seen(there)


def _parquet(file: str, wanted: set[str], seen: _Seen) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    try:
        with pq.ParquetFile(file, pre_buffer=False) as table:
            names = table.schema_arrow.names
            seen(names)
            _refuse_repeated(file, names, wanted)
            columns = [name for name in names if name in wanted]
            for batch in table.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{file} can't be read as Parquet after row {number} ({error}): replace it with a whole copy"
        ) from error


def _hint(columns: Sequence[str], there: Iterable[str]) -> str:
    for column in columns:
        if close := difflib.get_close_matches(column, there, n=1):
            return f"did you mean '{close[0]}'?"
    return f"it has {', '.join(repr(each) for each in there) or 'none'}; name the right one under `columns`"


def _refuse_repeated(file: str, names: Sequence[str], wanted: set[str]) -> None:
    counts = Counter(names)
    if twice := sorted(name for name in wanted if counts[name] > 1):
        raise UserError(f"{file} has the column '{twice[0]}' {counts[twice[0]]} times: rename all but one")
