"""Dropping what no job of the current configuration reads.

The records of a shelf that stay are copied into one new segment, then the old ones are removed. At every moment each
of them is in a segment with its final name, and a reader whose segment has gone finds it in the new one, so that
nothing is lost to a kill or to those who read and write meanwhile. Segments to which somebody may still be writing
are left alone, as is what can't be judged.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devqa.errors import UserError
from devqa.files import replacing, unique_name
from devqa.llm import segments
from devqa.llm.cache import Record, Shelf, responses
from devqa.llm.index import SETTLED_S
from devqa.llm.pricing import money
from devqa.stock.layout import amount, size, table
from devqa.stock.selection import Selection, select
from devqa.stock.tally import Tally
from devqa.stock.wanted import Names, Wanted, names

_HEADER = ("model", "step", "answers that go", "failed requests", "tokens in", "tokens out", "USD")


@dataclass(frozen=True)
class Pruning:
    """What would become of one shelf.

    Attributes:
        settled: its segments that have no writer any more, each with its state when it was read.
        growing: how many others it has.
        stays: the records that are kept.
        goes: what is dropped, by step.
    """

    shelf: Shelf
    settled: Mapping[str, tuple[int, int]]
    growing: int
    stays: Selection
    goes: Mapping[str, Tally]

    @property
    def idle(self) -> bool:
        """Is there nothing to do?"""
        return not (self.goes or self.stays.repeats or self.stays.damaged) and len(self.settled) < 2


def prunings(config: Mapping[str, Any], wanted: Wanted) -> list[Pruning]:
    """What would become of each shelf of the cache of the validated configuration; nothing is changed.

    Raises:
        UserError: a segment can't be read.
    """
    called = names(config)
    return [_pruning(shelf, wanted, called) for shelf in responses(config["cache_dir"]).shelves()]


def _pruning(shelf: Shelf, wanted: Wanted, called: Names) -> Pruning:
    name = shelf.folder.name
    for _ in segments.chances(shelf.folder):
        goes: defaultdict[str, Tally] = defaultdict(Tally)

        def passed_over(record: Record, goes: defaultdict[str, Tally] = goes) -> None:
            goes[record["step"]].add(record, called.prices.get(name))

        try:
            states = {each: segments.state(shelf.folder / each) for each in segments.listed(shelf.folder)}
            settled = {each: state for each, state in states.items() if time.time() - state[1] / 1e9 > SETTLED_S}
            stays = select(shelf, settled, lambda step, key: wanted.may_need(name, step, key), passed_over)
            return Pruning(shelf, settled, len(states) - len(settled), stays, dict(sorted(goes.items())))
        except segments.Vanished:
            continue
    raise AssertionError("chances ends with an error")


def apply(found: list[Pruning]) -> int:
    """Do what `prunings` found; returns how many bytes the cache has shrunk by.

    Raises:
        UserError: the disk is full or can't be written to, or the cache was pruned by somebody else meanwhile. What
            was not done is left as it was.
    """
    return sum(_apply(pruning) for pruning in found if not pruning.idle)


def _apply(pruning: Pruning) -> int:
    folder = pruning.shelf.folder
    try:
        written = _compact(pruning) if pruning.stays.chosen else 0
        removed = sum(_remove(folder / name, state) for name, state in pruning.settled.items())
        _remove_left_over(folder)
    except (segments.Vanished, FileNotFoundError) as error:
        raise UserError(f"{folder} was pruned by somebody else meanwhile: run cache_prune again") from error
    except OSError as error:
        raise UserError(f"{folder} can't be pruned: {error.strerror}: mend its permissions") from error
    return removed - written


def _remove(path: Path, state: tuple[int, int]) -> int:
    """Remove a segment whose records are elsewhere, unless it has grown all the same; returns its bytes."""
    if segments.state(path) != state:
        return 0
    path.unlink()
    return state[0]


def _compact(pruning: Pruning) -> int:
    """Write what stays into one segment, which is on the disk when this returns; returns its bytes."""
    folder = pruning.shelf.folder
    with replacing(folder / f"{unique_name()}.seg") as temporary, temporary.open("wb") as file:
        file.writelines(pruning.stays.lines())
        file.flush()
        os.fsync(file.fileno())
        written = file.tell()
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return written


def _remove_left_over(folder: Path) -> None:
    """Remove what a killed compaction has left."""
    for path in folder.glob(".*.seg.*"):
        if time.time() - path.stat().st_mtime > SETTLED_S:
            path.unlink(missing_ok=True)


def report(config: Mapping[str, Any], found: list[Pruning], wanted: Wanted) -> str:
    """What goes and what stays, for people."""
    return "\n".join(_lines(names(config), found, wanted)) + "\n"


def _lines(called: Names, found: list[Pruning], wanted: Wanted) -> Iterator[str]:
    rows = [
        (
            called.of(pruning.shelf.folder.name),
            step,
            f"{tally.outcomes['ok']:,}",
            f"{tally.failed:,}",
            amount(tally.input_tokens),
            amount(tally.output_tokens),
            "?" if tally.usd is None else money(tally.usd),
        )
        for pruning in found
        for step, tally in pruning.goes.items()
    ]
    yield from table(_HEADER, rows) if rows else ["No answer goes: the current configuration may read all of them."]
    yield ""
    yield from _sums(found)
    kept = [
        (called.of(shelf), step, ", ".join(sorted(rules)))
        for (shelf, step), rules in sorted(wanted.unsure.items())
        if any(pruning.shelf.folder.name == shelf for pruning in found)
    ]
    if kept:
        yield from [
            "",
            "Kept, as not all that is asked can be told where inputs or usable answers are missing or will change:",
        ]
        yield from table(("model", "step", "for jobs of"), kept, left=3)
    if any(tally.usd is None for pruning in found for tally in pruning.goes.values()):
        yield "?  The configuration has no such model, and so no price for it."


def _sums(found: list[Pruning]) -> Iterator[str]:
    taken = sum(state[0] for pruning in found for state in pruning.settled.values())
    kept = sum(len(pruning.stays.chosen) for pruning in found)
    repeats = sum(pruning.stays.repeats for pruning in found)
    damaged = sum(pruning.stays.damaged for pruning in found)
    yield f"{kept:,} answers stay, of {size(taken)} in {sum(len(pruning.settled) for pruning in found):,} segments."
    if repeats or damaged:
        yield f"{repeats:,} repeats of answers that stay and {damaged:,} damaged lines go too."
    if growing := sum(pruning.growing for pruning in found):
        yield f"{growing:,} segments that are younger than an hour are left alone."
