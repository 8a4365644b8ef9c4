"""The response cache: append-only segments that any number of processes write and read without locks.

    <folder>/<model>-<hash of endpoint and model>/<unique name>.seg

Every attempt of a job writes a segment of its own and reads all. One record is one line,

    <key: 64 hex digits> <crc32 of key and JSON: 8 hex digits> <JSON>\n

written by one `write` call, so that a killed process loses nothing that it had written. A torn or damaged line
is skipped with a warning. All outcomes are recorded, only `ok` ones are served. Of several good records of
one key the earliest is served, whoever wrote it, so that everyone reads the same.
"""

import errno
import hashlib
import logging
import os
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from devqa.errors import UserError
from devqa.files import unique_name

_log = logging.getLogger(__name__)

Record = dict[str, Any]

_KEY = 64
_HEAD = _KEY + 1 + 8 + 1
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class Cache:
    """The cache below `folder`, which is made when something is written."""

    def __init__(self, folder: str | os.PathLike):
        self.folder = Path(folder)

    def shelf(self, endpoint: str, model: str) -> "Shelf":
        """The part that holds the answers of one model of one endpoint."""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:60] or "model"
        digest = hashlib.sha256(f"{endpoint}\n{model}".encode()).hexdigest()[:12]
        return Shelf(self.folder / f"{slug}-{digest}")


class Shelf:
    """All segments of one model."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._warned: set[str] = set()

    def lookup(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records with outcome `ok` of those `keys` (sha256 in hex) that have one.

        Raises:
            UserError: a segment can't be read.
        """
        wanted = {key.encode() for key in keys}
        found: dict[bytes, tuple[float, str, Record]] = {}
        for segment in self._segments() if wanted else ():
            for key, record in self._records(segment, wanted):
                if record["outcome"] != "ok":
                    continue
                rank = (record["time"], segment.name)
                if key not in found or rank < found[key][:2]:
                    found[key] = (*rank, record)
        return {key.decode(): record for key, (_, _, record) in found.items()}

    def writer(self, step: str) -> "Writer":
        """A new segment for one attempt of one job; the file is made by the first record."""
        return Writer(self.folder / f"{unique_name()}.seg", step)

    def _segments(self) -> list[Path]:
        return sorted(self.folder.glob("*.seg"))

    def _records(self, segment: Path, wanted: set[bytes]) -> Iterator[tuple[bytes, Record]]:
        try:
            with segment.open("rb") as lines:
                for line in lines:
                    if line[:_KEY] in wanted and (record := decode(line)) is not None:
                        yield line[:_KEY], record
                    elif line[:_KEY] in wanted or not _well_formed(line):
                        self._warn(segment)
        except FileNotFoundError:
            # Pruned by someone else since the folder was listed.
            return
        except OSError as error:
            raise UserError(f"cache segment {segment} can't be read: {error.strerror}") from error

    def _warn(self, segment: Path) -> None:
        if segment.name not in self._warned:
            self._warned.add(segment.name)
            _log.warning("cache segment %s holds damaged or half-written records: they are skipped", segment)


class Writer:
    """Appends records to one segment. Use as a context manager."""

    def __init__(self, path: Path, step: str):
        self.path = path
        self._step = step
        self._descriptor: int | None = None

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def write(self, key: str, record: Record) -> None:
        """Append `record` with the step and the time.

        Raises:
            UserError: the disk is full, or the folder can't be written to.
        """
        line = encode(key, {**record, "step": self._step, "time": time.time()})
        try:
            if self._descriptor is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            self._append(self._descriptor, line)
        except OSError as error:
            raise UserError(_cannot_write(self.path, error)) from error

    def _append(self, descriptor: int, line: bytes) -> None:
        rest = line
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            # Takes back the half line, so that what is still on its way begins on a line of its own.
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - (len(line) - len(rest)))
            raise


def encode(key: str, record: Record) -> bytes:
    """One line of a segment. `key` is a sha256 in hex, `record` anything that JSON can hold."""
    body = orjson.dumps(record)
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(key.encode() + body), body)


def decode(line: bytes) -> Record | None:
    """The record of one line of a segment, or None where the line is torn or damaged."""
    if not _well_formed(line):
        return None
    body = line[_HEAD:-1]
    if line[_KEY + 1 : _HEAD - 1] != b"%08x" % zlib.crc32(line[:_KEY] + body):
        return None
    return orjson.loads(body)


def _well_formed(line: bytes) -> bool:
    return len(line) > _HEAD + 1 and line.endswith(b"}\n") and line[_KEY] == line[_HEAD - 1] == ord(" ")


def _cannot_write(path: Path, error: OSError) -> str:
    if error.errno in _DISK_FULL:
        return (
            f"the disk is full: {path} can't grow (cache_dir). Every answer written so far is kept: "
            "make room and run again"
        )
    return f"the cache can't be written: {path}: {error.strerror} (cache_dir)"
