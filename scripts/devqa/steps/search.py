"""queries → search: ten pages for each dialogue from the configured engine (SimpleDevQA, 4.1)."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row, picked
from devqa.usage import searched
from devqa.web.engines.base import Engine, Hit, SearchFailed
from devqa.web.merging import merge
from devqa.web.store import NotKept, nothing_kept

_OFFLINE = "offline"


def search(queries: Sequence[Row], engine: Engine, results: int, concurrency: int) -> list[Row]:
    """Rows of table `search`, one per dialogue: the `results` best pages over all its queries.

    The lists of the queries are merged by reciprocal rank, a page that several queries find stands once. Where one
    query of a dialogue gets no answer the whole row has failed, whatever the others found: a row that is `ok` is never
    searched again, and which pages a dialogue has must not depend on the engine's health. What the others found is
    kept, so that the next run asks only for what is missing.

    Raises:
        UserError: the engine needs setting up, its quota is exhausted, the budget is reached, or nothing may be sent
            and the cache holds no answer at all.
    """
    queries = sorted(queries, key=lambda row: row["dialogue_id"])
    stopped = threading.Event()

    def searched_for(row: Row) -> Row:
        # What stops the step stops every search that has not begun, not only those of later rows.
        if stopped.is_set():
            return row
        try:
            return _row(row, engine, results)
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(concurrency) as pool:
        rows = list(pool.map(searched_for, queries))
    if rows and all(row["reason"].startswith(_OFFLINE) for row in rows):
        raise nothing_kept(len(rows), "dialogues' searches")
    return rows


def _row(row: Row, engine: Engine, results: int) -> Row:
    lists: list[list[Hit]] = []
    requests = 0
    outcome = None
    try:
        for query in row["queries"]:
            found = engine.search(query, row["language"], results)
            lists.append(found.hits)
            requests += found.requests
    except SearchFailed as error:
        lists, outcome = [], failed(str(error))
    except NotKept as error:
        lists, outcome = [], failed(f"{_OFFLINE}: the cache holds no answer to {error}")
    hits = [
        {"rank": rank, "url": hit.url, "title": hit.title, "snippet": hit.snippet}
        for rank, hit in enumerate(merge(lists, results), 1)
    ]
    outcome = outcome or (OK if hits else rejected("the search found nothing"))
    return {**picked(row, "search"), "results": hits, "usage": searched(engine.name, requests), **outcome}
