"""How many requests a dialogue leads to at each step: as in earlier runs, else as in SimpleDevQA (arXiv 2512.08867).

The paper, sections 4.1 to 4.3: 3,000 dialogues gave 9,000 pairs, of which 6,020 passed the checks: 3,231 hard ones and
2,789 easy ones.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa import tables
from devqa.ledger import Stage, stage

# Of the paper's pairs those that passed both checks; how many passed the first one alone it does not say.
_PASSED_BOTH = 6_020 / 9_000
_DIFFICULTY = {"hard": 3_231 / 6_020, "easy": 2_789 / 6_020}
# Not from the paper: the queries of a dialogue, pages that are long enough to be condensed, and answers from evidence
# that need a comparison.
_QUERIES = 3.0
_LONG = 0.5
_COMPARED = 0.8
_TABLES = ("dialogues", "search", "condensed", "pairs", "checked", "verified", "rated")


def _rows(account: Stage) -> int:
    return account.rows


def _passed(account: Stage) -> int:
    return account.passed


def _calls(account: Stage) -> int:
    return sum(entry["calls"] for spent in account.spent.values() for entry in spent)


def _second_calls(account: Stage) -> int:
    return _calls(account) - account.rows


# What is counted in which table, and in parts of what.
_LINKS = {
    "searched": (("search", _passed), ("dialogues", _passed)),
    "long": (("condensed", _calls), ("search", _passed)),
    "grounded": (("pairs", _calls), ("search", _passed)),
    "pairs": (("pairs", _passed), ("search", _passed)),
    "checked": (("checked", _passed), ("checked", _rows)),
    "compared": (("verified", _second_calls), ("verified", _rows)),
    "verified": (("verified", _passed), ("verified", _rows)),
}
# The links that lead from a dialogue to the requests of each rule.
_WAYS = {
    "queries": (),
    "search": ("queried",),
    "condense": ("searched", "long"),
    "generate": ("searched", "grounded"),
    "check": ("searched", "pairs"),
    "evidence": ("searched", "pairs", "checked"),
    "verify": ("searched", "pairs", "checked"),
    "difficulty": ("searched", "pairs", "checked", "verified"),
    "retrieve": ("searched", "pairs", "checked", "verified"),
    "answer": ("searched", "pairs", "checked", "verified", "asked"),
}


@dataclass(frozen=True)
class Rates:
    """Requests per dialogue; of `search`, `evidence` and `retrieve` searches, each of which may take several.

    Attributes:
        requests: by rule; for one model in one part (of `answer`: in one setting and repeat).
        earlier: the rules whose figure rests on tables of earlier runs alone.
    """

    requests: dict[str, float]
    earlier: frozenset[str]


def rates(results: Path, config: Mapping[str, Any]) -> Rates:
    """The rates for `config`, from the tables that are in `results`.

    Raises:
        UserError: a table can't be read.
    """
    pairs, pages = config["steps"]["generate"]["pairs"], config["search"]["results"]
    wanted = config["evaluation"]["difficulties"]
    paper = {
        "queried": _QUERIES,
        "searched": 1.0,
        "long": pages * _LONG,
        "grounded": 1.0,
        "pairs": float(pairs),
        "checked": math.sqrt(_PASSED_BOTH),
        "compared": _COMPARED,
        "verified": math.sqrt(_PASSED_BOTH),
        "asked": sum(_DIFFICULTY[difficulty] for difficulty in wanted),
    }
    measured = _measured(results, wanted)
    link = paper | measured
    requests = {rule: math.prod(link[name] for name in way) for rule, way in _WAYS.items()}
    requests["verify"] *= 1 + link["compared"]
    return Rates(requests, frozenset(rule for rule, way in _WAYS.items() if set(way) <= measured.keys()))


def _measured(results: Path, difficulties: list[str]) -> dict[str, float]:
    """What one row has led to at the next step, as far as there are tables, over the shards that both steps have."""
    accounts = {name: _accounts(results / name) for name in _TABLES}
    found = {}
    for name, ((part, count), (whole, of)) in _LINKS.items():
        shards = accounts[part].keys() & accounts[whole].keys()
        if total := sum(of(accounts[whole][shard]) for shard in shards):
            found[name] = sum(count(accounts[part][shard]) for shard in shards) / total
    if queries := of_this_version(sorted((results / "queries").glob("*/*.parquet")), "queries"):
        counts = [
            len(row["queries"] or []) if row["status"] == "ok" else 0
            for batch in tables.batches(queries, "queries", 10_000, ["queries", "status"])
            for row in batch
        ]
        found |= {"queried": sum(counts) / len(counts)} if counts else {}
    benchmark = results / "benchmark.parquet"
    if of_this_version([benchmark], "benchmark") and (total := sum(map(_passed, accounts["rated"].values()))):
        rows = tables.batches(benchmark, "benchmark", 10_000, ["difficulty"])
        found["asked"] = sum(row["difficulty"] in difficulties for batch in rows for row in batch) / total
    return found


def _accounts(folder: Path) -> dict[str, Stage]:
    """The account of each shard of a table, but for what an earlier version wrote."""
    table = folder.name
    files = of_this_version(sorted(folder.glob("*/*.parquet")), table)
    return {str(file.relative_to(folder)): stage(table, [file]) for file in files}


def of_this_version(files: Iterable[Path], table: str) -> list[Path]:
    """Those of `files` that are there and have the schema of `table`: the others will be made again."""
    return [file for file in files if _schema(file) == tables.SCHEMAS[table]]


def _schema(file: Path) -> pa.Schema | None:
    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError):
        return None
