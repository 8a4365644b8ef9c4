"""Table `blocks`, looked up by path: the pinned version's definitions."""

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from devqa import tables
from devqa.pull_requests.code.definitions import Definition, name_of
from devqa.pull_requests.context.defined import Defined

_COLUMNS = ["path", "node", "kind", "language", "start_line", "end_line", "blob", "tokens", "quiet", "status", "reason"]
# Columns in which the same few values stand again and again.
_REPEATED = ["path", "kind", "language", "blob", "reason"]


class PinnedFile(NamedTuple):
    """A file of the pinned version: what is `defined` in it and, beside each definition, its `tokens`; those of the
    whole file are `all_tokens`. `unread` says why it was not read.
    """

    path: str
    language: str
    blob: str
    lines: int
    all_tokens: int
    unread: str
    defined: Defined
    tokens: list[int]

    @property
    def definitions(self) -> Sequence[Definition]:
        """Its definitions; the table does not tell their `parent`."""
        return self.defined.definitions


class Pinned:
    """The files of a table `blocks`. It is kept by columns: of a million definitions about 100 MB.

    Raises:
        UserError: the file is unreadable or no such table.
    """

    def __init__(self, path: str | os.PathLike):
        # That it is what it should be; a table without rows is.
        next(tables.batches(path, "blocks", 1, ["status"]), None)
        self._table = pq.read_table(path, columns=_COLUMNS, read_dictionary=_REPEATED)
        # A file's own row comes first, then those of its definitions.
        starts = np.flatnonzero(pc.equal(self._table["kind"].cast("string"), "file").to_numpy())
        counts = np.diff(starts, append=self._table.num_rows)
        own = self._table.take(starts)
        places = zip(starts.tolist(), counts.tolist(), strict=True)
        self._places = dict(zip(own["path"].to_pylist(), places, strict=True))
        self._paths = dict(zip(own["blob"].to_pylist(), own["path"].to_pylist(), strict=True))
        self.file = lru_cache(2_000)(self._file)

    def path_of(self, blob: str) -> str | None:
        """A file that holds `blob`."""
        return self._paths.get(blob)

    def _file(self, path: str) -> PinnedFile | None:
        """The file at `path`, None where there is none."""
        if path not in self._places:
            return None
        whole, *rows = self._table.slice(*self._places[path]).to_pylist()
        unread = "" if whole["status"] == "ok" else whole["reason"]
        quiet = whole["quiet"] or []
        found = [
            Definition(name_of(row["node"], path), row["kind"], row["start_line"], row["end_line"], None)
            for row in rows
        ]
        return PinnedFile(
            path,
            whole["language"],
            whole["blob"],
            whole["end_line"] or 0,
            whole["tokens"] or 0,
            unread,
            Defined(found, list(zip(quiet[::2], quiet[1::2], strict=True))),
            [row["tokens"] for row in rows],
        )
