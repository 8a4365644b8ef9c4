"""filtered and raw dialogues → seeds: the conversations that a benchmark starts from (SimpleDevQA, 3.1: 3,000 of them).

The raw files are read again, because the tables of the study only hold what the user said, cut. Everything is scrubbed
(`devqa.study.scrubbing`) before it is written.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from devqa import tables
from devqa.errors import UserError
from devqa.ingest.normalise import normalise
from devqa.ingest.run import records
from devqa.ingest.sources import labels
from devqa.study.scrubbing import scrub
from devqa.tables import Row

_COLUMNS = ["dialogue_id", "source", "language", "origin", "status"]
_BATCH = 10_000


def drawn(filtered: Iterable[str], count: int, seed: int) -> list[Row]:
    """`count` dialogues of table `filtered` with status `ok`, all if there are fewer: id, source, language, origin.

    Those whose hash with `seed` is smallest: of the dialogues that come to it later, only as many as are among the
    smallest then take the places of others. Memory is in proportion to `count`.
    """
    rows = (
        {name: row[name] for name in _COLUMNS}
        for batch in tables.batches(filtered, "filtered", _BATCH, _COLUMNS)
        for row in batch
        if row["status"] == "ok"
    )
    return heapq.nsmallest(count, rows, key=lambda row: _place(row, seed))


def seeds(chosen: Sequence[Row], files: Mapping[str, Sequence[str]], limits: Mapping[str, int]) -> Iterator[Row]:
    """Rows of table `seeds`: the whole conversations of the `chosen` dialogues, scrubbed, one after the other.

    In the order of `files`, which are those of each source, and of the records in each: every file with a dialogue in
    it is read once, up to the last of them. One conversation is in memory at a time.

    Raises:
        UserError: a file can't be read, or does not hold what it held when it was scanned.
    """
    for source, own in files.items():
        names = labels(list(own))
        wanted: dict[str, dict[int, Row]] = {name: {} for name in names.values()}
        for row in chosen:
            if row["source"] == source:
                name, _, number = row["origin"].rpartition(":")
                wanted.setdefault(name, {})[int(number)] = row
        for file in own:
            yield from _of_file(file, names[file], source, wanted.pop(names[file]), limits)
        for name in (name for name, rows in wanted.items() if rows):
            raise UserError(f"study.sources.{source}: the file {name} of a seed dialogue is gone: run again")


def _of_file(file: str, label: str, source: str, wanted: dict[int, Row], limits: Mapping[str, int]) -> Iterator[Row]:
    left = dict(wanted)
    if not left:
        return
    for record in records(file, dict(limits)):
        row = left.pop(record.number, None)
        if row:
            found = normalise(record, label, source, dict(limits))
            if (found["status"], found["dialogue_id"]) != ("ok", row["dialogue_id"]):
                raise _changed(file, record.number)
            yield _seed(found, row["language"])
        if not left:
            return
    raise _changed(file, min(left))


def _seed(dialogue: Row, language: str) -> Row:
    messages = [{**message, "content": scrub(message["content"])[0]} for message in dialogue["messages"]]
    return {
        "conversation_hash": dialogue["dialogue_id"],
        "model": dialogue["model"],
        "language": language,
        "conversation": messages,
    }


def _changed(file: str, number: int) -> UserError:
    return UserError(f"{file}: record {number} is not what it was when the file was scanned: run again")


def _place(row: Row, seed: int) -> tuple[bytes, str]:
    """Where a dialogue stands in the drawing; a tie is as good as impossible, and decided all the same."""
    key = f"{seed}\0{row['source']}\0{row['dialogue_id']}"
    return hashlib.sha256(key.encode()).digest(), row["origin"]
