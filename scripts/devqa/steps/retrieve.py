"""benchmark → retrieved: the passages that the setting `rag` shows with each question (SimpleDevQA, 7.2).

They are found with the question alone, as the evidence for verifying a pair is.
"""

from collections.abc import Sequence
from typing import Any

from devqa.steps.passages import passages_for
from devqa.tables import Row
from devqa.web.engines.base import Engine
from devqa.web.fetching.fetched import Fetcher
from devqa.web.store import Store


def retrieve(benchmark: Sequence[Row], engine: Engine, fetcher: Fetcher, store: Store, **budgets: Any) -> list[Row]:
    """Rows of table `retrieved`, one per row of the benchmark, in its order; `budgets` as `passages_for` takes them.

    A question that finds nothing is rejected. One whose search failed, or whose pages could not be had or read, has
    failed: it may find something another time.
    """
    # An imported benchmark may not say the language: engines want "" then.
    questions = [{"question": row["question"], "language": row["language"] or ""} for row in benchmark]
    found = passages_for(questions, engine, fetcher, store, **budgets)
    return [{"id": row["id"], **passages} for row, passages in zip(benchmark, found, strict=True)]
