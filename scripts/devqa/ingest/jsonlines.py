"""Reading JSON lines, plain or compressed, without ever holding more than one line of bounded length."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pyarrow as pa

from devqa.errors import UserError
from devqa.ingest.record import Record

_BUFFER = 1 << 20
_BOM = b"\xef\xbb\xbf"
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def read(path: str, line_limit: int) -> Iterator[Record]:
    """The records of a file with one JSON value per line; blank lines are no records.

    A byte-order mark at the start and carriage returns at line ends are accepted. A line that is longer than
    `line_limit` bytes, is not UTF-8 or not JSON becomes a record with a problem.

    Raises:
        UserError: the file can't be read to its end (truncated, corrupt), or is one JSON array.
    """
    number = 0
    try:
        with opened(path) as stream:
            for number, line in _lines(stream, line_limit):
                if number == 1:
                    _refuse_array(path, line)
                if line is None:
                    yield Record(number, None, f"line too long: more than {line_limit} bytes")
                elif line.strip():
                    yield _record(number, line)
    except OSError as error:  # also what pyarrow raises for truncated and corrupt streams
        raise UserError(
            f"{path} can't be read after line {number} ({error}): replace it with a whole copy, or take it out of the "
            "source"
        ) from error


@contextmanager
def opened(path: str) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked if its name says that they are packed.

    Raises:
        OSError: it can't be read; while it is read, also where it is truncated or corrupt.
    """
    packing = next((name for suffix, name in _COMPRESSIONS.items() if path.lower().endswith(suffix)), None)
    with pa.input_stream(path, compression=packing, buffer_size=_BUFFER) as stream:
        yield io.BufferedReader(stream, _BUFFER)


def _lines(stream: io.BufferedReader, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Lines and their numbers; None for a line of more than `limit` bytes, which is skipped in pieces."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        too_long = len(line) > limit
        rest = line
        while too_long and rest and not rest.endswith(b"\n"):
            rest = stream.readline(_BUFFER)
        if number == 1:
            line = line.removeprefix(_BOM)
        yield number, None if too_long else line


def _record(number: int, line: bytes) -> Record:
    try:
        return Record(number, _parsed(line))
    except UnicodeDecodeError as error:
        return Record(number, None, f"invalid UTF-8: at byte {error.start + 1} of the line")
    except RecursionError:
        return Record(number, None, "broken JSON: nested too deeply")
    except json.JSONDecodeError as error:
        return Record(number, None, f"broken JSON: {error.msg} at character {error.pos + 1}")
    except ValueError:  # Python's bound on the digits of a whole number
        return Record(number, None, "broken JSON: a number of too many digits")


def _parsed(line: bytes) -> Any:
    """The value of a line. What Python itself writes but JSON does not allow (NaN, Infinity) is accepted, and so
    are lone surrogates: whether they matter depends on where they stand, which is not known here."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line.decode("utf-8"))


def _refuse_array(path: str, line: bytes | None) -> None:
    """A `.json` file may be a single array, of which every line would be rejected; `.jsonl` says that it is none."""
    name = path.lower()
    if ".json." in name and (line is None or line.lstrip().startswith(b"[")):
        raise UserError(f"{path} is one JSON value, not one per line: convert it, for instance with `jq -c '.[]'`")
