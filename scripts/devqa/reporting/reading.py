"""What the reports read and write."""

import csv
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from devqa.evaluation.knowledge import grouped
from devqa.evaluation.runs import questions
from devqa.files import content, replacing
from devqa.tables import Row, batches
from devqa.usage import COUNTS

# Of table `benchmark`. Not the references' texts: they are long, and no report shows them.
_SHOWN = ["id", "question", "answer", "language", "difficulty", "source"]
_SHOWN += ["references.list.element.url", "references.list.element.title"]
_NUMBERS = ("rows_in", "rows_out", *COUNTS)


def asked_rows(
    benchmark: str,
    domains: str | Iterable[str],
    difficulties: Collection[str],
    groups: Mapping[str, Sequence[str]],
) -> list[Row]:
    """The rows of table `benchmark` that were asked, with what is shown of them, sorted by id.

    Args:
        domains: the file of table `domains`, or none.
        groups: of domains, as `evaluation.knowledge.grouped` takes them.
    """
    domain = {row["id"]: row["domain"] for row in questions(benchmark, domains, difficulties)}
    rows = (row for batch in batches(benchmark, "benchmark", 10_000, _SHOWN) for row in batch)
    asked = [{**row, "domain": domain[row["id"]]} for row in rows if row["id"] in domain]
    return sorted(grouped(asked, groups), key=lambda row: row["id"])


def read_json(path: str | os.PathLike) -> Any:
    """The values in a JSON file that this workflow wrote."""
    return orjson.loads(content(path))


def read_funnel(path: str | os.PathLike) -> list[Row]:
    """The rows of funnel.csv, with numbers as numbers."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [
            {**row, **{key: int(row[key]) for key in _NUMBERS}, "usd": float(row["usd"])}
            for row in csv.DictReader(file)
        ]


def read_columns(paths: str | Iterable[str], name: str, columns: list[str]) -> list[Row]:
    """All rows of table `name`, with some of its columns."""
    return [row for batch in batches(paths, name, 10_000, columns) for row in batch]


def write_json(value: Any, path: str | os.PathLike) -> None:
    """Write `value` as JSON, whole or not at all."""
    write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), path)


def write(written: str | bytes, path: str | os.PathLike) -> None:
    """Write a text or bytes, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(written.encode() if isinstance(written, str) else written)
