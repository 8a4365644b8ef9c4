"""Ingesting a source: every record that its files hold becomes a row in exactly one shard."""

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from devqa.ingest import jsonlines, parquet
from devqa.ingest.normalise import kind, normalise
from devqa.ingest.record import Record
from devqa.ingest.shards import ShardedRows, stable_hash
from devqa.ingest.sources import labels
from devqa.tables import Row

_log = logging.getLogger(__name__)

# A line of JSON lines may be this long: twelve bytes for a character outside the basic plane that is escaped
# (two \uXXXX), and room for everything in a record that is no message.
_BYTES_PER_CHARACTER = 12
_BYTES_BESIDE_MESSAGES = 4 << 20
_PROGRESS = 50_000  # records between two messages to the log


def ingest(files: list[str], source: str, outputs: list[Path], limits: dict[str, int]) -> dict[str, int]:
    """Read `files`, and write `len(outputs)` shards of the table `dialogues`, all or none.

    A dialogue's shard is a stable hash of its id modulo the number of shards; rows of a shard are in the order
    of the files. `limits` are `max_message_characters` and `max_dialogue_characters`. Of several usable
    dialogues with one id the first is kept.

    Memory does not grow with the files, but for a set of 64-bit hashes of the ids seen (about 100 bytes per
    dialogue). Disk space for the rows as JSON is needed beside the outputs while it runs.

    Returns:
        The number of rows by status and kind of reason: `ok`, and `rejected: <kind>`; sorted by name. Their
        sum is the number of records read.

    Raises:
        UserError: a file can't be read to its end, or holds no dialogues.
    """
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    with ShardedRows(outputs) as shards:
        for number, row in enumerate(_rows(files, source, limits), start=1):
            if row["status"] == "ok" and _is_repeated(row["dialogue_id"], seen):
                row |= {"messages": [], "status": "rejected", "reason": "duplicate id"}
            counts["ok" if row["status"] == "ok" else f"{row['status']}: {kind(row['reason'])}"] += 1
            shards.add(row)
            if number % _PROGRESS == 0:
                _log.info("%d records", number)
        shards.write()
    return dict(sorted(counts.items()))


def _rows(files: list[str], source: str, limits: dict[str, int]) -> Iterator[Row]:
    names = labels(files)
    for file in files:
        _log.info("reading %s", names[file])
        for record in records(file, limits):
            yield normalise(record, names[file], source, limits)


def records(file: str, limits: dict[str, int]) -> Iterator[Record]:
    """The records of one file, of any form, in their order; `limits` as of `ingest`.

    Raises:
        UserError: the file can't be read to its end.
    """
    if file.lower().endswith(".parquet"):
        return parquet.read(file)
    return jsonlines.read(file, limits["max_dialogue_characters"] * _BYTES_PER_CHARACTER + _BYTES_BESIDE_MESSAGES)


def _is_repeated(identifier: str, seen: set[int]) -> bool:
    """Whether the id was seen before; it is from now on."""
    hashed = stable_hash(identifier)
    if hashed in seen:
        return True
    seen.add(hashed)
    return False
