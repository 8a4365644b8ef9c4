"""Rows of the workflow's tables as things to be decided: what there is of each kind, and what is shown of it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devqa import tables
from devqa.config.root import Config
from devqa.review.deciding import KEYS
from devqa.tables import Row


@dataclass(frozen=True)
class Kind:
    """One kind of thing that people decide about.

    Attributes:
        name: in addresses, and of the file of decisions.
        decisions: the table of decisions.
        table: the workflow's table that things come from.
        shown: the columns that the page may use. What the judge or a model said of grades, dialogues and domains is
            none of them: a page can't show by mistake what the store does not hold.
        title: for people.
    """

    name: str
    decisions: str
    table: str
    shown: tuple[str, ...]
    title: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that a person's decision fills."""
        others = {*KEYS[self.decisions], "annotator", "role", "decided_at"}
        return tuple(name for name in tables.SCHEMAS[self.decisions].names if name not in others)

    def key(self, row: Mapping[str, Any]) -> str:
        """What tells the thing of `row` apart, as a JSON list of its key columns."""
        return json.dumps([row[column] for column in KEYS[self.decisions]], ensure_ascii=False)

    def payload(self, row: Mapping[str, Any]) -> str:
        """What is shown of `row`, as JSON."""
        return json.dumps({column: row[column] for column in self.shown}, ensure_ascii=False)

    def key_columns(self, key: str) -> Row:
        """The key columns of a `key`."""
        return dict(zip(KEYS[self.decisions], json.loads(key), strict=True))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("pairs", "pair_decisions", "review", tuple(tables.SCHEMAS["review"].names), "Question–answer pairs"),
        Kind(
            "grades",
            "grade_decisions",
            "review_grades",
            ("id", "setting", "model", "repeat", "question", "answer", "prediction", "language"),
            "Graded answers",
        ),
        Kind("dialogues", "dialogue_decisions", "classified", ("dialogue_id", "language", "text"), "Dialogues"),
        Kind("domains", "domain_decisions", "benchmark", ("id", "question", "language"), "Knowledge domains"),
    )
}


@dataclass(frozen=True)
class Item:
    """A thing to be decided: its `key`, and what is shown of it as JSON."""

    key: str
    payload: str


def sources(config: Config) -> dict[str, Path]:
    """Where the things of each kind come from. Domains are there only where the configuration has names of them."""
    results = Path("results")
    found = {
        "pairs": results / "review.parquet",
        "grades": results / "review_grades.parquet",
        "dialogues": results / "study/classified.parquet",
    }
    if config.evaluation.domains:
        found["domains"] = results / ("questions.parquet" if config.builds() else "imported_benchmark.parquet")
    return found


def items(kind: Kind, path: Path) -> Iterator[Item]:
    """The things of `kind` in the table at `path`, in its order; of the key of two rows the first counts.

    Raises:
        UserError: the file is not such a table.
    """
    seen: set[str] = set()
    for rows in tables.batches(path, kind.table, 1_000, list(kind.shown)):
        for row in rows:
            if (key := kind.key(row)) not in seen:
                seen.add(key)
                yield Item(key, kind.payload(row))
