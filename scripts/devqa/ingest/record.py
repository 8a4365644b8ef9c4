"""One record as it was read, before anything is known about its form."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a JSON lines file or a row of a Parquet file.

    `number` is the line or row, from 1. `problem` says why the record could not be read; `value` is then None.
    """

    number: int
    value: Any
    problem: str = ""
