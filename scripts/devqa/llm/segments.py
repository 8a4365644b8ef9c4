"""The files of the response cache: one record a line, and reading them whatever state they are in.

    <key: 64 hex digits> <crc32 of key and JSON: 8 hex digits> <JSON>\n

A line is torn where its writer was killed or the disk was full, and damaged where its bytes were changed. Neither
hides what follows: a whole record that stands behind half of another on one line is found too.
"""

import errno
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from devqa.errors import UserError

Record = dict[str, Any]

KEY = 64
# A key and its checksum: what tells one record from all others.
MARK = KEY + 1 + 8
_HEAD = MARK + 1
_START = re.compile(rb"[0-9a-f]{64} [0-9a-f]{8} \{")
_BUFFER = 1 << 16
# Clients of a shared file system may list a name for a minute after it has gone.
_PAUSES_S = (0.0, 0.0, 0.1, 0.5, 1, 3, 5, 10, 20, 30)


class Vanished(Exception):
    """A segment that was listed is gone: its records are in another one by now."""


def encode(key: str, record: Record) -> bytes:
    """One line of a segment. `key` is a sha256 in hex, `record` anything that JSON can hold."""
    body = orjson.dumps(record)
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(key.encode() + body), body)


def decode(line: bytes) -> Record | None:
    """The record of one line of a segment, or None where the line is torn, damaged or no record at all."""
    if not intact(line):
        return None
    try:
        record = orjson.loads(line[_HEAD:-1])
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def intact(line: bytes) -> bool:
    """Whether `line` is as it was written: its form and its checksum are right."""
    if not line.endswith(b"}\n") or not _START.match(line):
        return False
    return int(line[KEY + 1 : MARK], 16) == zlib.crc32(line[_HEAD:-1], zlib.crc32(line[:KEY]))


def read(path: Path, start: int = 0) -> Iterator[tuple[int, bytes, bool]]:
    """The lines of a segment from byte `start` on, which must be the beginning of a line.

    Yields each line's offset, its bytes, and whether it is intact; after a line that is not, the whole record in
    it if there is one, as a line of its own.

    Raises:
        Vanished: the file is gone.
        UserError: it can't be read.
    """
    with opened(path) as file:
        file.seek(start)
        offset = start
        for line in file:
            good = intact(line)
            yield offset, line, good
            if not good:
                yield from ((offset + inner, line[inner:], True) for inner in _inside(line))
            offset += len(line)


def _inside(line: bytes) -> Iterator[int]:
    return (head.start() for head in _START.finditer(line, 1) if intact(line[head.start() :]))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A segment, open for reading.

    Raises:
        Vanished: the file is gone, now or while it is read.
        UserError: it can't be read.
    """
    with _explained(path), path.open("rb", buffering=_BUFFER) as file:
        yield file


def state(path: Path) -> tuple[int, int]:
    """A segment's size in bytes and the time of its last change in nanoseconds.

    Raises:
        Vanished: the file is gone.
        UserError: it can't be looked at.
    """
    with _explained(path):
        status = path.stat()
    return status.st_size, status.st_mtime_ns


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):
            raise Vanished(path.name) from error
        raise UserError(f"cache segment {path} can't be read: {error.strerror}") from error


def listed(folder: Path) -> list[str]:
    """The names of the segments in `folder`, sorted; none where there is no such folder.

    Listed until two listings agree: one that is made while segments come and go may miss both a new one and
    those that it replaces.

    Raises:
        UserError: the folder can't be read.
    """
    names: list[str] | None = None
    while (again := _names(folder)) != names:
        names = again
    return names


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.suffix == ".seg")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cache folder {folder} can't be read: {error.strerror}") from error


def chances(folder: Path) -> Iterator[None]:
    """Once for each try to read the segments of `folder`, with growing pauses: to be left when one has succeeded.

    Raises:
        UserError: after the last one.
    """
    for pause in _PAUSES_S:
        time.sleep(pause)
        yield
    raise UserError(f"{folder} lists segments that are not there: remove broken links and look at the file system")
