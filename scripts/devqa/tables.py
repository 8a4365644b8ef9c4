"""Reading and writing tables (`devqa.schemas`) so that the same rows give the same bytes.

Rows travel through the steps as plain dicts, one per row, with the schema's column names as keys.
"""

import importlib.abc
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.files import replacing
from devqa.schemas import SCHEMAS

Row = dict[str, Any]


class _NoPandas(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Called by the import system for each module that is not loaded yet."""
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def _tell_pyarrow_that_there_is_no_pandas() -> None:
    """Spare each job the import of pandas, which takes longer than that of all else.

    pyarrow imports it at the first list that it gets, only to know whether the list is one of pandas' own, and it looks
    no second time. All else imports pandas as ever.
    """
    sys.meta_path.insert(0, finder := _NoPandas())
    pa.array([])
    sys.meta_path.remove(finder)


if "pandas" not in sys.modules:
    _tell_pyarrow_that_there_is_no_pandas()


def read(paths: str | os.PathLike | Iterable[str | os.PathLike], name: str) -> list[Row]:
    """All rows of one table that lies in one file or in several, in the files' order.

    Raises:
        UserError: a file is unreadable or does not have the schema of table `name`.
    """
    return [row for batch in batches(paths, name, 10_000) for row in batch]


def read_ok(paths: str | os.PathLike | Iterable[str | os.PathLike], name: str) -> list[Row]:
    """The rows that a next step takes: those with status `ok`."""
    return [row for row in read(paths, name) if row["status"] == "ok"]


def batches(
    paths: str | os.PathLike | Iterable[str | os.PathLike], name: str, size: int, columns: list[str] | None = None
) -> Iterator[list[Row]]:
    """The rows of one table, at most `size` at a time, optionally only some `columns`.

    Raises:
        UserError: a file is unreadable or does not have the schema of table `name`.
    """
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        try:
            with pq.ParquetFile(path) as file:
                if not file.schema_arrow.equals(SCHEMAS[name]):
                    raise UserError(f"{path} is not a table '{name}' of this version: delete it and run again")
                for batch in file.iter_batches(batch_size=size, columns=columns):
                    yield batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} can't be read as Parquet ({error}): delete it and run again") from error


def write(rows: Iterable[Row], name: str, path: str | os.PathLike, at_a_time: int = 100_000) -> None:
    """Write `rows` as table `name`, whole or not at all (temporary file, then rename).

    A key that a row lacks becomes null; a key that the schema lacks raises `ValueError`, because it would
    be lost silently. Of rows that are made as they are written, `at_a_time` are in memory.
    """
    rows, schema = iter(rows), SCHEMAS[name]
    known = set(schema.names)
    with replacing(path) as temporary, writer(temporary, name) as file:
        while portion := list(islice(rows, at_a_time)):
            for row in portion:
                if unknown := row.keys() - known:
                    raise ValueError(f"table '{name}' has no column {', '.join(sorted(unknown))}")
            file.write_table(pa.Table.from_pylist(portion, schema=schema))


def writer(path: str | os.PathLike, name: str) -> pq.ParquetWriter:
    """A Parquet writer with the options that make the same rows the same bytes."""
    return pq.ParquetWriter(path, SCHEMAS[name], compression="zstd", version="2.6", write_statistics=True)


def picked(row: Row, name: str) -> Row:
    """What table `name` carries on of a `row` of the table before it: the columns of both but the step's account."""
    own = {"status", "reason", "outcome", "raw", "usage"}
    return {key: value for key, value in row.items() if key in SCHEMAS[name].names and key not in own}
