"""filtered → sampled: a stratified sample of the dialogues about software development."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

from devqa import tables
from devqa.allotting import allotted
from devqa.ingest.shards import stable_hash
from devqa.steps.outcomes import OK, rejected
from devqa.tables import Row

# Characters of a dialogue from which it is called medium and long. Fixed, so that a further dialogue moves none from
# one stratum to another.
MEDIUM, LONG = 1_500, 5_000
_BATCH = 1_000


def sample_size(population: int, confidence: float, interval: float) -> int:
    """How many of `population` a share must be estimated from to be within ± `interval` of the truth with `confidence`.

    Cochran's formula for a share of one half, the worst case, with the correction for a finite population (Cochran,
    Sampling Techniques, 1977, 4.4), rounded up: 103,112 at 95 % and ± 1 % give 8,786.
    """
    if population < 1:
        return 0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    unlimited = z**2 / 4 / interval**2
    return min(population, math.ceil(unlimited / (1 + (unlimited - 1) / population)))


def stratum(row: Row, strata: Sequence[str]) -> str:
    """The name of a dialogue's stratum: its values of `strata` (language, length, model), with | between them."""
    length = row["characters"]
    values = {
        "language": row["language"] or "unknown",
        "length": "short" if length < MEDIUM else "medium" if length < LONG else "long",
        "model": row["model"] or "unknown",
    }
    return " | ".join(values[name] for name in strata)


def drawn(rows: Iterable[Row], options: Mapping[str, Any]) -> dict[str, float]:
    """The ids that are drawn of a population, with the weight of each: how many of the population it stands for.

    Strata get their parts of the sample in proportion to their sizes, by largest remainders, and at least one where
    the sample is large enough, so that weights add up to the population (`devqa.allotting.allotted`). In each
    stratum those with the smallest seeded hash of their ids are drawn: a dialogue that is drawn stays so when others
    are added, unless as many new ones of its stratum are drawn in its place or the stratum's part shrinks. The weight
    is what the stratum holds, divided by how many of it are drawn.

    Args:
        rows: with `dialogue_id`, `language`, `characters`, `model`.
        options: `confidence`, `interval`, `strata`, `seed`.
    """
    strata = defaultdict(list)
    for row in rows:
        identifier = row["dialogue_id"]
        strata[stratum(row, options["strata"])].append((stable_hash(f"{options['seed']}\n{identifier}"), identifier))
    sizes = {name: len(members) for name, members in strata.items()}
    parts = allotted(sizes, sample_size(sum(sizes.values()), options["confidence"], options["interval"]))
    return {
        identifier: sizes[name] / parts[name]
        for name, members in strata.items()
        for _, identifier in sorted(members)[: parts[name]]
    }


def sampled(filtered: Sequence[str], options: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of table `sampled`: the population, that is the rows of `filtered` with status ok, in the files' order.

    Those drawn are ok and have their weight and text; the others are rejected as "not drawn". The files are read
    twice, so that no text is held.

    Raises:
        UserError: a file can't be read.
    """
    weights = drawn(_population(filtered, ["dialogue_id", "language", "characters", "model", "status"]), options)
    carried_on = [name for name in tables.SCHEMAS["filtered"].names if name in tables.SCHEMAS["sampled"].names]
    for row in _population(filtered, carried_on):
        weight = weights.get(row["dialogue_id"])
        own = {**row, "stratum": stratum(row, options["strata"]), "weight": weight}
        yield {**own, **OK} if weight else {**own, "text": None, **rejected("not drawn")}


def _population(filtered: Sequence[str], columns: list[str]) -> Iterator[Row]:
    for batch in tables.batches(filtered, "filtered", _BATCH, columns):
        yield from (row for row in batch if row["status"] == "ok")
