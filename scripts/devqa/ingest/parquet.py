"""Reading dialogues from Parquet in small batches, and only the columns that are used."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.ingest import fields
from devqa.ingest.record import Record

_BATCH = 64  # rows: with the longest dialogues that are accepted by default about 25 MB
_BUFFER = 1 << 20


def read(path: str) -> Iterator[Record]:
    """The rows of a Parquet file as records.

    Memory depends on the size of pages and of single values, not on that of the file or its row groups.
    A row that can't be turned into Python values (text that is not UTF-8) becomes a record with a problem.

    Raises:
        UserError: the file can't be read to its end, or has no column with dialogues.
    """
    number = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            columns = _columns(path, file)
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False):
                for value in _values(batch):
                    number += 1
                    if isinstance(value, dict):
                        yield Record(number, value)
                    else:
                        yield Record(number, None, value)
    except (pa.ArrowException, OSError) as error:
        raise UserError(
            f"{path} can't be read as Parquet after row {number} ({error}): replace it with a whole copy, or take it "
            "out of the source"
        ) from error


def _columns(path: str, file: pq.ParquetFile) -> list[str]:
    """The leaf columns that are used.

    Real WildChat carries moderation scores, headers and timestamps in structs inside each turn: they are
    several times the size of the text.
    """
    names = file.schema_arrow.names
    if not any(name in names for name in fields.CONVERSATION):
        raise UserError(
            f"{path} has no column with dialogues: it needs one of {', '.join(fields.CONVERSATION)}; "
            f"it has {', '.join(names) or 'no columns'}"
        )
    paths = [file.schema.column(index).path for index in range(len(file.schema))]
    return [leaf for leaf in paths if _used(leaf.split("."))]


def _used(parts: list[str]) -> bool:
    """Whether a leaf such as conversation.list.element.content is used."""
    if parts[0] in fields.CONVERSATION:
        return len(parts) <= 3 or parts[3] in fields.TURN
    return parts[0] in (*fields.ID, fields.LANGUAGE, fields.MODEL)


def _values(batch: pa.RecordBatch) -> list[dict[str, Any] | str]:
    """The rows of a batch as dicts; where one can't be converted, what is wrong with it."""
    try:
        return batch.to_pylist()
    except (ValueError, OverflowError):
        return [_value(batch.slice(index, 1)) for index in range(batch.num_rows)]


def _value(row: pa.RecordBatch) -> dict[str, Any] | str:
    try:
        return row.to_pylist()[0]
    except UnicodeDecodeError as error:
        return f"invalid UTF-8: {error.reason}"
    except (ValueError, OverflowError) as error:
        return f"wrong type: {error}"
