"""The dialogues that a run will start from, where they are still to be read from their sources.

Reading them asks no model, so it is done for the bill, and the first step's requests are known to the letter.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from devqa import tables
from devqa.bill.plan import Planned
from devqa.bill.rates import of_this_version
from devqa.errors import UserError
from devqa.ingest.run import ingest
from devqa.ingest.sources import source_files

# Reading this much takes some ten seconds. Of larger sources the records are only counted.
MOST_BYTES = 200_000_000
_BUFFER = 1 << 20


@dataclasses.dataclass(frozen=True)
class Dialogues:
    """How many dialogues a run will start from.

    Attributes:
        count: all of them.
        new: those that are in no table of an earlier run.
        altered: those that are in none, or stand there otherwise.
        read: they were read; else `count` is the number of records, `altered` all of them, and `new` the difference.
    """

    count: int
    new: int
    altered: int
    read: bool


# Where the benchmark comes from elsewhere.
NONE = Dialogues(0, 0, 0, True)


def ingested(jobs: Sequence[Planned], config: Mapping[str, Any], folder: Path) -> tuple[list[Planned], Dialogues]:
    """The dialogues of all sources, and `jobs` in which those that ask about dialogues alone can be counted exactly.

    Args:
        folder: where tables are made of sources that Snakemake would read again.

    Raises:
        UserError: a source can't be read.
    """
    found, ready = [], []
    for source, settings in config["dialogues"].items():
        first = [job for job in jobs if job.rule == "queries" and job.wildcards["source"] == source]
        files = source_files(settings["path"])
        if all(job.basis == "exact" for job in first):
            found.append(_as_they_are([job.input["dialogues"] for job in first]))
        elif sum(Path(file).stat().st_size for file in files) > MOST_BYTES:
            found.append(_counted(files, source))
        else:
            made = _read(files, source, settings["shards"], config["ingest"], folder)
            found.append(_compared(made.values(), source))
            ready += [(job, made[job.wildcards["shard"]]) for job in first]
    exact = {id(job): dataclasses.replace(job, input={"dialogues": file}, basis="exact") for job, file in ready}
    return [exact.get(id(job), job) for job in jobs], _together(found)


def _read(files: list[str], source: str, shards: int, limits: dict[str, int], folder: Path) -> dict[str, str]:
    """A source's shards of table `dialogues`: the name of each with its file."""
    made = {name: folder / source / f"{name}.parquet" for name in (f"{n}-of-{shards}" for n in range(shards))}
    ingest(files, source, list(made.values()), limits)
    return {name: str(file) for name, file in made.items()}


def _as_they_are(files: Sequence[str]) -> Dialogues:
    return Dialogues(sum(1 for _ in _contents(files)), 0, 0, True)


def _compared(files: Iterable[str], source: str) -> Dialogues:
    now = dict(_contents(files))
    before = dict(_contents(_earlier(source)))
    altered = sum(before.get(identifier) != content for identifier, content in now.items())
    return Dialogues(len(now), len(now.keys() - before.keys()), altered, True)


def _counted(files: Sequence[str], source: str) -> Dialogues:
    count = sum(map(records, files))
    before = len(dict(_contents(_earlier(source))))
    return Dialogues(count, max(0, count - before), count, False)


def _earlier(source: str) -> list[Path]:
    """The source's tables of earlier runs, whatever their number of shards was."""
    return of_this_version(sorted(Path("results/dialogues", source).glob("*.parquet")), "dialogues")


def _contents(files: Iterable[str | Path]) -> Iterator[tuple[str, int]]:
    """The id of each usable dialogue, and a hash of what is in it."""
    for batch in tables.batches(files, "dialogues", 1_000, ["dialogue_id", "language", "messages", "status"]):
        for row in batch:
            if row["status"] == "ok":
                yield row["dialogue_id"], hash(orjson.dumps(row))


def records(file: str) -> int:
    """The number of records in a file of dialogues.

    Raises:
        UserError: it can't be read.
    """
    try:
        if file.lower().endswith(".parquet"):
            return pq.read_metadata(file).num_rows
        with pa.input_stream(file, compression="detect", buffer_size=_BUFFER) as stream:
            return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(_BUFFER), b""))
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{file} can't be read ({error}): replace it with a whole copy") from error


def _together(found: Sequence[Dialogues]) -> Dialogues:
    return Dialogues(
        sum(each.count for each in found),
        sum(each.new for each in found),
        sum(each.altered for each in found),
        all(each.read for each in found),
    )
