"""checked → evidence: passages found with the question alone, not with the documents it was made from (4.3)."""

from collections.abc import Sequence
from typing import Any

from devqa.steps.passages import passages_for
from devqa.tables import Row, picked
from devqa.web.engines.base import Engine
from devqa.web.fetching.fetched import Fetcher
from devqa.web.store import Store


def evidence(pairs: Sequence[Row], engine: Engine, fetcher: Fetcher, store: Store, **budgets: Any) -> list[Row]:
    """Rows of table `evidence`, one per pair, sorted by pair; `budgets` as `passages_for` takes them.

    A pair without passages is rejected, or has failed where the search did or a page could not be had or read.
    """
    pairs = sorted(pairs, key=lambda row: row["pair_id"])
    found = passages_for(pairs, engine, fetcher, store, **budgets)
    return [{**picked(row, "evidence"), **passages} for row, passages in zip(pairs, found, strict=True)]
