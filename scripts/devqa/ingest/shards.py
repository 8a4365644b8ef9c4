"""Splitting rows into shards by a stable hash, in bounded memory, and writing all shards or none.

Rows go to one spill file per shard first, as JSON lines, because a Parquet writer per shard would keep a file
open and a footer in memory for each of up to 10,000 shards, and would make row groups of a few rows.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pyarrow as pa

from devqa import tables
from devqa.files import replacing
from devqa.tables import Row

_BUFFERED = 16 << 20  # bytes, of all shards together
_GROUP_BYTES = 4 << 20
_GROUP_ROWS = 2_000


def stable_hash(identifier: str) -> int:
    """64 bits of SHA-256: the same on every machine and in every run, unlike Python's own hash."""
    return int.from_bytes(hashlib.sha256(identifier.encode()).digest()[:8], "big")


def shard_of(identifier: str, shards: int) -> int:
    """The number of the shard, from 0, that holds the dialogue with this id."""
    return stable_hash(identifier) % shards


class ShardedRows:
    """Rows of the table `dialogues` on their way into shards; a context manager, and outputs appear at `write`."""

    def __init__(self, outputs: list[Path]) -> None:
        self._outputs = [Path(output) for output in outputs]
        self._buffers: dict[int, bytearray] = {}
        self._buffered = 0

    def __enter__(self) -> "ShardedRows":
        folder = self._outputs[0].parent
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(dir=folder, prefix=".spill-")
        return self

    def __exit__(self, *_) -> None:
        self._folder.cleanup()

    def add(self, row: Row) -> None:
        """Take one row; rows of a shard keep the order in which they came."""
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        self._buffers.setdefault(shard_of(row["dialogue_id"], len(self._outputs)), bytearray()).extend(line)
        self._buffered += len(line)
        if self._buffered >= _BUFFERED:
            self._spill()

    def write(self) -> None:
        """Write every shard, also the empty ones, then give all of them their names."""
        self._spill()
        with ExitStack() as stack:
            for shard, output in enumerate(self._outputs):
                self._write_shard(shard, stack.enter_context(replacing(output)))

    def _spill(self) -> None:
        for shard, lines in self._buffers.items():
            with self._spill_file(shard).open("ab") as file:
                file.write(lines)
        self._buffers.clear()
        self._buffered = 0

    def _spill_file(self, shard: int) -> Path:
        return Path(self._folder.name) / str(shard)

    def _write_shard(self, shard: int, path: Path) -> None:
        schema = tables.SCHEMAS["dialogues"]
        with tables.writer(path, "dialogues") as file:
            for rows in _groups(self._spill_file(shard)):
                file.write_table(pa.Table.from_pylist(rows, schema=schema))
        self._spill_file(shard).unlink(missing_ok=True)


def _groups(spilled: Path) -> Iterator[list[Row]]:
    """The rows of a spill file in groups, cut by a rule that depends on the rows alone."""
    if not spilled.exists():
        return
    rows, size = [], 0
    with spilled.open("rb") as file:
        for line in file:
            rows.append(orjson.loads(line))
            size += len(line)
            if size >= _GROUP_BYTES or len(rows) >= _GROUP_ROWS:
                yield rows
                rows, size = [], 0
    if rows:
        yield rows
