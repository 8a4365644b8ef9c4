"""queries → search: ten pages for each dialogue from the configured engine (SimpleDevQA, 4.1)."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row, picked
from devqa.web.search import Engine, SearchFailed, merge


def search(queries: Sequence[Row], engine: Engine, results: int, concurrency: int) -> list[Row]:
    """Rows of table `search`, one per dialogue: the `results` best pages over all its queries.

    The lists of the queries are merged by reciprocal rank, a page that several queries find stands once.
    """
    queries = sorted(queries, key=lambda row: row["dialogue_id"])
    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(lambda row: _row(row, engine, results), queries))


def _row(row: Row, engine: Engine, results: int) -> Row:
    try:
        hits = merge([engine.search(query, row["language"], results) for query in row["queries"]], results)
    except SearchFailed as error:
        return {**picked(row, "search"), "results": [], **failed(str(error))}
    found = [
        {"rank": rank, "url": hit.url, "title": hit.title, "snippet": hit.snippet} for rank, hit in enumerate(hits, 1)
    ]
    return {**picked(row, "search"), "results": found, **(OK if found else rejected("the search found nothing"))}
