"""What became of source files on the way to the pinned commit: one pass over the mainline, kept out of memory."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from devqa.pull_requests.code.definitions import language_of
from devqa.pull_requests.repositories.repository import Entry, RawChange, Repository

_TABLE = """
CREATE TABLE changes (
    line TEXT, step INTEGER, status TEXT,
    old_path TEXT, old_blob TEXT, old_size INTEGER, new_path TEXT, new_blob TEXT, new_size INTEGER
)
"""
_AFTER = """
SELECT * FROM changes WHERE old_path = ? AND (line = '' AND step > ? OR line = ? AND line != '')
ORDER BY step, line DESC
"""


class File(NamedTuple):
    """A version of a file."""

    path: str
    blob: str
    size: int


class Place(NamedTuple):
    """A moment, and the change that led there: `step` counts the mainline's commits from 0. `line` is "" on the
    mainline itself; else it is the commit, off the mainline, that comes onto it with that step.
    """

    line: str
    step: int


class Change(NamedTuple):
    """What became of a file at a place: `old` is None where it was added, `new` where it went."""

    at: Place
    status: str
    old: File | None
    new: File | None


class Timeline:
    """The changes of source files in `repository` from the first of the commits `heads` on.

    They are in a temporary database of SQLite, which goes to the disk where it grows. Heads that are not on the way to
    the pinned commit have no place.
    """

    def __init__(self, repository: Repository, heads: Iterable[str]):
        self._mainline = repository.mainline()
        positions = {commit: step for step, commit in enumerate(self._mainline)}
        self._places: dict[str, Place] = {}
        self._db = sqlite3.connect("")
        self._db.execute(_TABLE)
        for head in sorted(set(heads)):
            landing = repository.landing(head)
            if landing is None:
                continue
            self._places[head] = place = Place("" if landing == head else head, positions[landing])
            if place.line:
                self._keep(place, repository.changes(head, landing))
        if self._places:
            # The first step is none of this: it leads to where the first pull request was.
            first = min(place.step for place in self._places.values())
            for step in repository.steps(self._mainline[first]):
                self._keep(Place("", positions[step.commit]), step.changes)
        self._db.execute("CREATE INDEX of_paths ON changes (old_path, step)")
        self._db.execute("CREATE INDEX of_steps ON changes (step)")

    def close(self) -> None:
        """Let the database go."""
        self._db.close()

    def place(self, head: str) -> Place | None:
        """Where the commit `head` is."""
        return self._places.get(head)

    def commit(self, place: Place) -> str:
        """The mainline's commit with that step."""
        return self._mainline[place.step]

    def versions(self, file: File, place: Place) -> Iterator[tuple[Place, File | None]]:
        """Each version of a file from `place` on, where it is `file`, to the pinned commit, and the place of the change
        that made it; renames are followed. None is the last one where it is deleted.
        """
        yield place, file
        following = True
        while following:
            following = False
            rows = self._db.execute(_AFTER, (file.path, place.step, place.line)).fetchall()
            for change in map(_change, rows):
                yield change.at, change.new
                place = Place("", change.at.step)
                if change.new is None:
                    return
                if change.new.path != file.path:
                    file, following = change.new, True
                    break

    def changes(self, place: Place) -> list[Change]:
        """All that changed at `place`, sorted by path."""
        order = "SELECT * FROM changes WHERE step = ? AND line = ? ORDER BY new_path, old_path"
        return [_change(row) for row in self._db.execute(order, (place.step, place.line))]

    def _keep(self, place: Place, changes: Iterable[RawChange]) -> None:
        rows = []
        for status, old, new in changes:
            files = _file(old), _file(new)
            if any(files):
                rows.append((*place, status, *(files[0] or (None,) * 3), *(files[1] or (None,) * 3)))
        self._db.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _file(entry: Entry | None) -> File | None:
    if entry is None or entry.kind != "file" or language_of(entry.path) is None:
        return None
    return File(entry.path, entry.blob, entry.size)


def _change(row: tuple) -> Change:
    line, step, status, *files = row
    old, new = (File(*part) if part[0] is not None else None for part in (files[:3], files[3:]))
    return Change(Place(line, step), status, old, new)
