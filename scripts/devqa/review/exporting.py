"""People's decisions as Parquet files, which the workflow takes as input."""

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from devqa import tables
from devqa.errors import UserError
from devqa.review.decisions import decisions
from devqa.review.items import KINDS
from devqa.review.store import Store
from devqa.tables import Row

# Decisions come one after the other: the files are written when nothing has come for so long, or after so many of them.
_PAUSE_S = 1.0
_PAUSES = 10


def path(folder: str | os.PathLike, kind: str) -> Path:
    """The file of decisions of `kind`."""
    return Path(folder) / f"{kind}.parquet"


class Exporter:
    """Keeps the files in `folder` as the store is.

    Raises:
        UserError: a file in `folder` is no file of decisions, or says what can't be.
    """

    def __init__(self, store: Store, folder: str | os.PathLike):
        self._store, self._folder = store, folder
        files = {kind: path(folder, kind) for kind in KINDS}
        self._written: dict[str, list[Row]] = {
            kind: decisions(str(file), KINDS[kind].decisions) if file.exists() else [] for kind, file in files.items()
        }
        self._one_at_a_time = threading.Lock()
        self._noting = threading.Lock()
        self._pending: set[str] = set()
        self._changed = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def take_in(self) -> int:
        """Decisions that the files have and the store lacks, as after the store was lost: how many.

        Raises:
            UserError: they can't be: two people settle the same thing.
        """
        return sum(self._store.take_in_decisions(kind, rows) for kind, rows in self._written.items())

    def write(self, kinds: Iterable[str] = tuple(KINDS)) -> None:
        """Write the files of `kinds` whose rows are others by now; one without decisions, before and now, has no file.

        Raises:
            UserError: a file can't be written.
        """
        with self._one_at_a_time:
            for kind in kinds:
                rows = self._store.rows(kind)
                if rows != self._written[kind]:
                    tables.write(rows, KINDS[kind].decisions, path(self._folder, kind))
                    self._written[kind] = rows

    def start(self) -> None:
        """From now on write a moment after each change."""
        self._thread.start()

    def changed(self, kind: str) -> None:
        """There are other decisions of `kind` now."""
        with self._noting:
            self._pending.add(kind)
        self._changed.set()

    def stop(self) -> None:
        """Write what is not written yet, and end.

        Raises:
            UserError: a file can't be written.
        """
        self._over.set()
        self._changed.set()
        self._thread.join()
        self.write()

    def _work(self) -> None:
        while not self._over.is_set():
            self._changed.wait()
            for _ in range(_PAUSES):
                self._changed.clear()
                if self._over.wait(_PAUSE_S) or not self._changed.is_set():
                    break
            with self._noting:
                kinds, self._pending = self._pending, set()
            try:
                self.write(sorted(kinds))
            except UserError as error:
                # The store has it all: with the next change, or at the end, the file is written again.
                sys.stderr.write(f"{error}\n")
