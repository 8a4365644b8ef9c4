"""scanned → unique: of dialogues that say the same, the first one alone goes on; a million of them in bounded memory.

What decides is a few numbers per dialogue (two hashes and a sketch: 144 bytes) that are held for all of them. Texts
are read again, a batch at a time, once it is known who goes on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from devqa import tables
from devqa.errors import UserError
from devqa.files import replacing
from devqa.ingest.shards import shard_of, stable_hash
from devqa.steps.outcomes import OK, rejected
from devqa.study.sketches import PERMUTATIONS, similarity
from devqa.tables import Row

# Texts that share a band of their sketches are compared. The longer the bands, the fewer are compared in vain, and
# the more pairs are missed: of those that are just similar enough, no more than this share may be.
_LONGEST_BAND, _MOST_MISSED = 8, 0.1
# A text is compared with no more than this many kept ones that share the same band with it: those of one template, of
# which each fills in something else, would all be compared with each other.
_COMPARED = 500
_BATCH = 5_000
# Shards that are written at the same time, and rows that each of them holds until it writes.
_OPEN = 64
_HELD = 500

# Reasons; the last two end with where the one stands that says the same.
ID, EXACT, NEAR = "duplicate id", "duplicate", "near duplicate"


class Found:
    """What became of the dialogues that the first pass let through, in the order of the files.

    Attributes:
        reasons: "" where the dialogue is kept, else one of `ID`, `EXACT`, `NEAR`.
        first: the number, in the same order, of the kept one that says the same; -1 for those without.
    """

    def __init__(self, size: int):
        self.reasons = np.full(size, "", dtype=object)
        self.first = np.full(size, -1, np.int64)

    def mark(self, reason: str, numbers: np.ndarray, first: np.ndarray) -> None:
        """`numbers` are no longer kept, for the `reason`; what each of them repeats is in `first`."""
        self.reasons[numbers] = reason
        self.first[numbers] = first

    def kept(self) -> np.ndarray:
        """The numbers of those that are kept."""
        return np.flatnonzero(self.reasons == "")


def unique(
    scanned: Sequence[str], outputs: Sequence[Path], least: float, scrub: Callable[[str], tuple[str, list[str]]]
) -> dict[str, int]:
    """Write table `unique`, one row per dialogue of `scanned` with status ok, in shards by its id.

    In the order of the files: of dialogues with one id the first is kept ("duplicate id", as in `devqa.ingest`); of
    those that say the same, but for case and white space, the first ("duplicate: of <source>/<origin>"); and of those
    each that is not similar to one before it that is kept ("near duplicate: of <source>/<origin>"). What counts is what
    users said. Texts that are kept are scrubbed; the others have none.

    Similarity is that of Jaccard as sketches estimate it, with a standard error of up to 0.044 (0.035 at 0.8:
    `devqa.study.sketches.similarity`): what is just similar enough is kept as often as not. Pairs are looked for by
    bands of their sketches: with `least` 0.8 that finds 94.7 % of the pairs of similarity 0.8, 99.2 % of 0.85, all of
    0.9 (`band_length`).

    Args:
        scanned: the files of table `scanned`, those to be preferred first.
        outputs: one file per shard.
        least: the least similarity of near duplicates, from 0.5 to 1.
        scrub: text → text without secrets and personal data, and the kinds of what it had
            (`devqa.study.scrubbing.scrub`).

    Returns:
        The number of rows by "ok" and reason.

    Raises:
        UserError: a file can't be read, or is no table `scanned` of this version.
    """
    identifiers, exact, sketches, origins = _numbers(scanned)
    found = Found(len(identifiers))
    for reason, values in ((ID, identifiers), (EXACT, exact)):
        kept = found.kept()
        first = _first_equal(values[kept])
        again = first != np.arange(len(kept))
        found.mark(reason, kept[again], kept[first[again]])
    kept = found.kept()
    first = near_duplicates(sketches, kept, least)
    found.mark(NEAR, kept[first >= 0], first[first >= 0])
    for begin in range(0, len(outputs), _OPEN):
        _write(scanned, outputs, range(begin, min(begin + _OPEN, len(outputs))), found, origins, scrub)
    return {reason or "ok": count for reason, count in sorted(Counter(found.reasons).items())}


def near_duplicates(sketches: np.ndarray, numbers: np.ndarray, least: float) -> np.ndarray:
    """For each of `numbers`, ascending rows of `sketches`, the first before it that is kept and similar; -1 for none.

    Whoever is similar to nobody who is kept is kept: so no chain of small differences makes two texts one that are not
    alike.
    """
    places, bands = _sharing(sketches, numbers, band_length(least))
    first = np.full(len(numbers), -1, np.int64)
    kept: dict[int, list[int]] = {}
    borders = np.flatnonzero(np.diff(places, prepend=-1, append=-1)).tolist()
    for begin, end in pairwise(borders):
        place, shared = places[begin], bands[begin:end].tolist()
        others = sorted({other for band in shared for other in kept.get(band, ())})
        if others:
            alike = similarity(sketches[numbers[place]], sketches[others]) >= least
            if alike.any():
                first[place] = others[int(alike.argmax())]
                continue
        number = int(numbers[place])
        for band in shared:
            members = kept.setdefault(band, [])
            if len(members) < _COMPARED:
                members.append(number)
    return first


def band_length(least: float) -> int:
    """How many bytes of a sketch make a band, so that of pairs of similarity `least` nine in ten share one or more.

    With bands of b bytes, of which n = 128 // b fit into a sketch, a pair of similarity s shares one with probability
    1 - (1 - s^b)^n.
    """

    def missed(length: int) -> float:
        return (1 - least**length) ** (PERMUTATIONS // length)

    return max(length for length in range(1, _LONGEST_BAND + 1) if missed(length) <= _MOST_MISSED)


def _sharing(sketches: np.ndarray, numbers: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Who shares a band with whom: places in `numbers`, in ascending order, each with a number of a band it shares."""
    places, bands, count = [np.empty(0, np.int32)], [np.empty(0, np.int32)], 0
    for begin in range(0, PERMUTATIONS - length + 1, length):
        band = np.zeros((len(numbers), _LONGEST_BAND), np.uint8)
        band[:, :length] = sketches[numbers, begin : begin + length]
        keys = band.view(np.uint64).ravel()
        order = np.argsort(keys, kind="stable").astype(np.int32)
        as_before, as_after = np.zeros((2, len(keys)), bool)
        as_before[1:] = as_after[:-1] = keys[order[1:]] == keys[order[:-1]]
        shared = as_before | as_after
        places.append(order[shared])
        bands.append((count + np.cumsum(~as_before[shared])).astype(np.int32))
        count += int(np.count_nonzero(~as_before[shared]))
    together = np.concatenate(places)
    order = np.argsort(together, kind="stable")
    return together[order], np.concatenate(bands)[order]


def _first_equal(values: np.ndarray) -> np.ndarray:
    """For each value the place at which it stands first."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return first[inverse]


def _numbers(scanned: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, pa.ChunkedArray]:
    """Of the dialogues that go on: hashes of their ids and texts, their sketches, and where each stands."""
    columns = ["dialogue_id", "source", "exact", "sketch", "origin", "status"]
    identifiers, exact, sketches, origins = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [], []
    for batch in _arrow(scanned, columns):
        going_on = batch.filter(pc.equal(batch["status"], "ok"))
        hashed = map(stable_hash, going_on["dialogue_id"].to_pylist())
        identifiers.append(np.fromiter(hashed, np.uint64, going_on.num_rows))
        exact.append(going_on["exact"].to_numpy())
        sketches.append(b"".join(going_on["sketch"].to_pylist()))
        origins.append(pc.binary_join_element_wise(going_on["source"], going_on["origin"], "/"))
    joined = np.frombuffer(b"".join(sketches), np.uint8).reshape(-1, PERMUTATIONS)
    return np.concatenate(identifiers), np.concatenate(exact), joined, pa.chunked_array(origins, pa.string())


def _arrow(scanned: Sequence[str], columns: list[str]) -> Iterator[pa.RecordBatch]:
    for path in scanned:
        try:
            with pq.ParquetFile(path) as file:
                if not file.schema_arrow.equals(tables.SCHEMAS["scanned"]):
                    raise UserError(f"{path} is not a table 'scanned' of this version: delete it and run again")
                yield from file.iter_batches(batch_size=_BATCH, columns=columns, use_threads=False)
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{path} can't be read as Parquet ({error}): delete it and run again") from error


def _write(
    scanned: Sequence[str],
    outputs: Sequence[Path],
    shards: range,
    found: Found,
    origins: pa.ChunkedArray,
    scrub: Callable[[str], tuple[str, list[str]]],
) -> None:
    """Write some of the shards: as many as can be open at once."""
    with ExitStack() as stack:
        files, held = {}, {shard: [] for shard in shards}
        for shard in shards:
            path = stack.enter_context(replacing(outputs[shard]))
            files[shard] = stack.enter_context(tables.writer(path, "unique"))
        for number, row in enumerate(_going_on(scanned)):
            shard = shard_of(row["dialogue_id"], len(outputs))
            if shard in held:
                held[shard].append(_outcome(row, number, found, origins, scrub))
                if len(held[shard]) >= _HELD:
                    _flush(files[shard], held[shard])
        for shard in shards:
            if held[shard]:
                _flush(files[shard], held[shard])


def _going_on(scanned: Sequence[str]) -> Iterator[Row]:
    columns = [name for name in tables.SCHEMAS["scanned"].names if name in tables.SCHEMAS["unique"].names]
    for batch in tables.batches(scanned, "scanned", _HELD, columns):
        yield from (row for row in batch if row["status"] == "ok")


def _outcome(
    row: Row, number: int, found: Found, origins: pa.ChunkedArray, scrub: Callable[[str], tuple[str, list[str]]]
) -> Row:
    """The row of table `unique` for the dialogue with that `number`."""
    reason = found.reasons[number]
    if not reason:
        text, kinds = scrub(row["text"])
        return {**row, "text": text, "scrubbed": kinds, **OK}
    if reason != ID:
        reason = f"{reason}: of {origins[found.first[number]].as_py()}"
    return {**row, "text": None, "scrubbed": [], **rejected(reason)}


def _flush(file: Any, rows: list[Row]) -> None:
    file.write_table(pa.Table.from_pylist(rows, schema=tables.SCHEMAS["unique"]))
    rows.clear()
