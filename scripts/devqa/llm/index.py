"""Where the records of a shelf are: what a process knows about its segments after it has read them once."""

import logging
import time
from binascii import unhexlify
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path

from devqa.llm import segments

_log = logging.getLogger(__name__)

# A segment that has not grown for so long has no writer any more: whatever is damaged in it stays so.
SETTLED_S = 3600
# A place is a segment's number and an offset in one integer, which takes a third of a tuple's memory.
_OFFSET_BITS = 44
_OFFSET = (1 << _OFFSET_BITS) - 1


@dataclass
class _Scanned:
    """How far a segment was read, and its size and time at that moment."""

    number: int
    upto: int = 0
    seen: tuple[int, int] | None = None


class Index:
    """The places of all records in a folder's segments, some 200 bytes for each.

    Segments only grow, so each byte is read once. From the first damaged line of a segment that may still grow,
    reading starts anew when it has: what looks torn may be on its way.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._warned: set[str] = set()
        self.forget()

    def refresh(self) -> None:
        """Read what is new in the folder.

        Raises:
            Vanished: a segment went while it was being read.
            UserError: a segment can't be read.
        """
        for name in segments.listed(self.folder):
            self._scan(name)

    def __contains__(self, key: str) -> bool:
        """Whether there is a record for `key` (sha256 in hex), as of the last `refresh`."""
        return unhexlify(key) in self._first

    def lines(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """All lines that are kept for `keys` (sha256 in hex), each with the name of its segment.

        Raises:
            Vanished: a segment has gone since the last `refresh`.
            UserError: a segment can't be read.
        """
        wanted = [key for key in map(unhexlify, keys) if key in self._first]
        places = chain((self._first[key] for key in wanted), *(self._further.get(key, ()) for key in wanted))
        for number, group in groupby(sorted(places), lambda place: place >> _OFFSET_BITS):
            name = self._names[number]
            with segments.opened(self.folder / name) as file:
                for place in group:
                    file.seek(place & _OFFSET)
                    yield name, file.readline()

    def beyond(self, keys: Iterable[str], names: Collection[str]) -> list[str]:
        """Those of `keys` (sha256 in hex) that have a record outside the segments `names`, as of the last `refresh`."""
        numbers = {known.number for name, known in self._scanned.items() if name in names}
        return [key for key in keys if any(place >> _OFFSET_BITS not in numbers for place in self._places(key))]

    def _places(self, key: str) -> Iterator[int]:
        packed = unhexlify(key)
        if packed in self._first:
            yield self._first[packed]
            yield from self._further.get(packed, ())

    def forget(self) -> None:
        """Start anew at the next `refresh`."""
        self._names: list[str] = []
        self._scanned: dict[str, _Scanned] = {}
        self._first: dict[bytes, int] = {}
        self._further: dict[bytes, list[int]] = {}

    def _scan(self, name: str) -> None:
        path = self.folder / name
        seen = size, changed_ns = segments.state(path)
        known = self._scanned.get(name) or self._new(name)
        if seen == known.seen:
            return
        if size < known.upto:
            # Another file under the same name.
            raise segments.Vanished(name)
        known.upto = self._add(path, known, settled=time.time() - changed_ns / 1e9 > SETTLED_S)
        known.seen = seen

    def _new(self, name: str) -> _Scanned:
        scanned = self._scanned[name] = _Scanned(len(self._names))
        self._names.append(name)
        return scanned

    def _add(self, path: Path, known: _Scanned, settled: bool) -> int:
        """Add the places of all records from `known.upto` on; returns from where to read next time."""
        upto, damaged = known.upto, None
        number = known.number << _OFFSET_BITS
        for offset, line, good in segments.read(path, known.upto):
            if good:
                self._put(unhexlify(line[: segments.KEY]), number | offset)
            else:
                damaged = offset if damaged is None else damaged
                if settled or line.endswith(b"\n"):
                    self._warn(path)
            upto = offset + len(line)
        return upto if settled or damaged is None else damaged

    def _put(self, key: bytes, place: int) -> None:
        if self._first.setdefault(key, place) != place:
            further = self._further.setdefault(key, [])
            if place not in further:
                further.append(place)

    def _warn(self, path: Path) -> None:
        if path.name not in self._warned:
            self._warned.add(path.name)
            _log.warning("cache segment %s holds damaged or half-written records: they are skipped", path)
