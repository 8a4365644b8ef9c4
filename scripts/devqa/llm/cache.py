"""The response cache: append-only segments that any number of processes write and read without locks.

    <folder>/<model>-<hash of endpoint and model>/<unique name>.seg

Every attempt of a job writes a segment of its own and reads all. One record is one line (see `segments`), written by
one `write` call, so that a killed process loses nothing that it had written. A torn or damaged line is skipped with a
warning. All outcomes are recorded, only `ok` ones are served. Of several good records of one key the earliest is
served, whoever wrote it, so that everyone reads the same.
"""

import errno
import functools
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from devqa.errors import UserError
from devqa.files import unique_name
from devqa.llm import segments
from devqa.llm.index import SETTLED_S, Index
from devqa.llm.segments import Record, decode, encode

__all__ = ["Cache", "Record", "Shelf", "Writer", "decode", "encode", "responses"]

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

    def shelves(self) -> list["Shelf"]:
        """All parts that there are, in the order of their names."""
        return [Shelf(folder) for folder in sorted(self.folder.glob("*")) if folder.is_dir()]


def responses(cache_dir: str | os.PathLike) -> Cache:
    """The response cache in the configuration's `cache_dir`."""
    return Cache(Path(cache_dir) / "responses")


class Shelf:
    """All segments of one model."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._index = _index(folder.absolute())

    def lookup(self, keys: Iterable[str], beyond: "Writer | None" = None) -> dict[str, Record]:
        """The records with outcome `ok` of those `keys` (sha256 in hex) that have one.

        With `beyond` only of those keys that have a record which this writer has not written.

        Each segment is read once in this process, whatever is looked up; what was written since is read then.

        Raises:
            UserError: a segment can't be read.
        """
        wanted = set(keys)
        for _ in segments.chances(self.folder) if wanted else ():
            try:
                self._index.refresh()
                among = wanted if beyond is None else self._index.beyond(wanted, beyond.names)
                return _earliest(self._index.lines(among))
            except segments.Vanished:
                self._index.forget()
        return {}

    def asked(self, keys: Iterable[str]) -> bool:
        """Was each of `keys` (sha256 in hex) asked before, with whatever outcome? As of the last `lookup`."""
        return all(key in self._index for key in keys)

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """All intact lines, each once though several segments may hold it, with the name of its segment.

        Raises:
            UserError: a segment can't be read.
        """
        given: set[bytes] = set()
        read: set[str] = set()
        for _ in segments.chances(self.folder):
            rest = [name for name in segments.listed(self.folder) if name not in read]
            for name in rest:
                try:
                    for _, line, good in segments.read(self.folder / name):
                        if good and line[: segments.MARK] not in given:
                            given.add(line[: segments.MARK])
                            yield name, line
                    read.add(name)
                except segments.Vanished:
                    # Its records are in another segment, which the next listing shows.
                    continue
            if read.issuperset(rest):
                return

    def records(self) -> Iterator[tuple[str, Record]]:
        """All records of whatever outcome, with their keys, in no particular order: for statistics.

        Raises:
            UserError: a segment can't be read.
        """
        for _, line in self.lines():
            if (record := decode(line)) is not None:
                yield line[: segments.KEY].decode(), record

    def writer(self, step: str) -> "Writer":
        """A new segment for one attempt of one job; the file is made by the first record."""
        return Writer(self.folder, step)


@functools.cache
def _index(folder: Path) -> Index:
    """One for all shelves of a folder, so that a job in which a model plays two parts reads its segments once."""
    return Index(folder)


def _earliest(lines: Iterable[tuple[str, bytes]]) -> dict[str, Record]:
    """By key the record that is served: of those with outcome `ok`, the earliest.

    Args:
        lines: the name of a segment and a line of it; what is damaged is passed over.
    """
    found: dict[str, tuple[float, str, Record]] = {}
    for name, line in lines:
        record = decode(line)
        if record is None or record["outcome"] != "ok":
            continue
        key, moment = line[: segments.KEY].decode(), record["time"]
        if key not in found or (moment, name) < found[key][:2]:
            found[key] = (moment, name, record)
    return {key: record for key, (_, _, record) in found.items()}


class Writer:
    """Appends records to one segment. Use as a context manager.

    After a pause, in which readers may have come to take the segment for finished, it goes on in a new one.

    Attributes:
        path: the segment.
        names: its name, and those of the segments before it.
    """

    def __init__(self, folder: Path, step: str):
        self.path = folder / f"{unique_name()}.seg"
        self.names = {self.path.name}
        self._step = step
        self._descriptor: int | None = None
        self._wrote = 0.0

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._close()

    def write(self, key: str, record: Record) -> None:
        """Append `record` with the step and the time.

        Raises:
            UserError: the disk is full, or the folder can't be written to.
        """
        self.keep(encode(key, {**record, "step": self._step, "time": time.time()}))

    def keep(self, line: bytes) -> None:
        """Append a whole `line`, such as one of another segment.

        Raises:
            UserError: the disk is full, or the folder can't be written to.
        """
        if self._descriptor is not None and time.time() - self._wrote > SETTLED_S / 2:
            self._close()
            self.path = self.path.with_name(f"{unique_name()}.seg")
            self.names.add(self.path.name)
        try:
            if self._descriptor is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            self._append(self._descriptor, line)
        except OSError as error:
            raise UserError(_cannot_write(self.path, error)) from error
        self._wrote = time.time()

    def _append(self, descriptor: int, line: bytes) -> None:
        rest = line
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            # Takes back the half line, so that what is still on its way begins on a line of its own.
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - (len(line) - len(rest)))
            raise

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        try:
            if descriptor is not None:
                os.close(descriptor)
        except OSError as error:
            # Where a shared file system says only now that it could not keep what it took.
            raise UserError(_cannot_write(self.path, error)) from error


def _cannot_write(path: Path, error: OSError) -> str:
    if error.errno in _DISK_FULL:
        return (
            f"the disk is full: {path} can't grow (cache_dir). Every answer written so far is kept: "
            "make room and run again"
        )
    return f"the cache can't be written: {path}: {error.strerror} (cache_dir)"
