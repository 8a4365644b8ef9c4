"""What data sets say of a dialogue beside its text: is it toxic, has somebody redacted it?

WildChat has both flags on each record and on each turn; one that is set anywhere counts. A flag is set if it is true, a
number other than 0, or the text "true"; everything else, also what has a wrong type, is no flag.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.ingest import fields

FLAGS = ("toxic", "redacted")
_BATCH = 10_000


def of_value(value: Any) -> tuple[bool, bool]:
    """The flags (toxic, redacted) of a record as JSON has it."""
    if not isinstance(value, dict):
        return False, False
    turns = next((value[name] for name in fields.CONVERSATION if isinstance(value.get(name), list)), [])
    places = [value, *(turn for turn in turns if isinstance(turn, dict))]
    toxic, redacted = (any(_is_set(place.get(flag)) for place in places) for flag in FLAGS)
    return toxic, redacted


def of_parquet(path: str) -> Iterator[tuple[bool, bool]]:
    """The flags (toxic, redacted) of each row of a Parquet file.

    Read apart from the texts (`devqa.ingest.parquet`), column by column: as part of each turn they would cost more
    time than the texts do.

    Raises:
        UserError: the file can't be read to its end.
    """
    try:
        with pq.ParquetFile(path) as file:
            paths = [file.schema.column(index).path for index in range(len(file.schema))]
            columns = [leaf for leaf in paths if _is_flag(leaf.split("."))]
            if not columns:
                yield from ((False, False) for _ in range(file.metadata.num_rows))
                return
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False):
                toxic, redacted = (_rows(batch, flag) for flag in FLAGS)
                yield from zip(toxic.tolist(), redacted.tolist(), strict=True)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} can't be read as Parquet ({error}): replace it with a whole copy") from error


def _is_flag(parts: list[str]) -> bool:
    """Whether a leaf may be a flag of the record (toxic) or of a turn (conversation.list.element.toxic)."""
    return parts[-1] in FLAGS and (len(parts) == 1 or parts[0] in fields.CONVERSATION)


def _rows(batch: pa.RecordBatch, flag: str) -> np.ndarray:
    """For each row of `batch`, whether `flag` is set on it or on one of its turns."""
    found = np.zeros(batch.num_rows, bool)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name == flag:
            found |= _set(column)
        elif _has_turns(column.type) and column.type.value_type.get_field_index(flag) >= 0:
            flags = _set(column.flatten().field(flag))
            found[np.asarray(column.value_parent_indices())[flags]] = True
    return found


def _has_turns(kind: pa.DataType) -> bool:
    """Whether a column of that type is a list of objects."""
    return (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_struct(kind.value_type)


def _set(column: pa.Array) -> np.ndarray:
    """`_is_set` of each value of a column."""
    if pa.types.is_boolean(column.type):
        return column.fill_null(False).to_numpy(zero_copy_only=False)
    return np.fromiter(map(_is_set, column.to_pylist()), bool, len(column))


def _is_set(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() == "true"
    return isinstance(value, bool | int | float) and bool(value) and not math.isnan(value)
