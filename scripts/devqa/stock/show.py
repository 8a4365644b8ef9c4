"""What the cache holds, for people."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa.llm import segments
from devqa.llm.cache import Shelf, responses
from devqa.llm.pricing import money
from devqa.stock.layout import age, amount, size, table
from devqa.stock.tally import Tally, tallies
from devqa.stock.wanted import Wanted, names

_HEADER = (
    "model",
    "step",
    "requests",
    "failed",
    "answers",
    "hits",
    "tokens in",
    "tokens out",
    "USD",
    "newest",
    "oldest",
)


def shown(config: Mapping[str, Any], wanted: Wanted) -> str:
    """A page about the cache of the validated configuration: its size, outcomes, and a table by model and step.

    Args:
        wanted: what the configuration reads: these answers are hits.

    Raises:
        UserError: a segment can't be read.
    """
    called = names(config)
    shelves = responses(config["cache_dir"]).shelves()
    found = [
        (called.of(shelf.folder.name), step, tally)
        for shelf in shelves
        for step, tally in tallies(
            shelf, wanted.keys.get(shelf.folder.name, ()), called.prices.get(shelf.folder.name)
        ).items()
    ]
    now = time.time()
    rows = [_row(label, step, tally, now) for label, step, tally in found]
    lines = [f"Cache {config['cache_dir']}", *_sizes(Path(config["cache_dir"]), shelves)]
    if found:
        lines += [_outcomes(tally for _, _, tally in found), "", *table(_HEADER, rows), "", *_explained(wanted)]
    return "\n".join(lines) + "\n"


def _sizes(folder: Path, shelves: Sequence[Shelf]) -> Iterator[str]:
    paths = [shelf.folder / name for shelf in shelves for name in segments.listed(shelf.folder)]
    taken = sum(segments.state(path)[0] for path in paths)
    yield f"  responses  {size(taken)} in {len(paths):,} segments of {len(shelves):,} models"
    files, taken = _files(folder / "web")
    yield f"  web        {size(taken)} in {files:,} files (search results and pages)"


def _files(folder: Path) -> tuple[int, int]:
    """How many files there are below `folder`, and their bytes."""
    count = taken = 0
    for path, _, files in os.walk(folder):
        for file in files:
            try:
                taken += Path(path, file).stat().st_size
                count += 1
            except FileNotFoundError:
                # A temporary file that has got its name.
                continue
    return count, taken


def _outcomes(found: Iterator[Tally]) -> str:
    total: Counter[str] = Counter()
    for tally in found:
        total.update(tally.outcomes)
    return "  outcomes   " + ", ".join(f"{count:,} {outcome}" for outcome, count in total.most_common())


def _row(label: str, step: str, tally: Tally, now: float) -> tuple[str, ...]:
    return (
        label,
        step,
        f"{tally.requests:,}",
        f"{tally.failed:,}",
        f"{tally.answers:,}",
        f"{tally.hits:,}",
        amount(tally.input_tokens),
        amount(tally.output_tokens),
        "?" if tally.usd is None else money(tally.usd),
        age(now - tally.newest),
        age(now - tally.oldest),
    )


def _explained(wanted: Wanted) -> Iterator[str]:
    yield "Hits are answers that the current configuration reads. USD is at its prices; ? where it has no such model."
    if rules := wanted.rules():
        yield f"What these jobs read can't be told in full before they have run: {', '.join(rules)}."
