"""A question → passages of the pages that a search with it finds, and that fit it best."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from devqa.steps.clean import clean
from devqa.steps.fetch import fetch
from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row
from devqa.usage import searched
from devqa.web.engines.base import Engine, Found, Hit, SearchFailed
from devqa.web.engines.opening import open_engine
from devqa.web.fetching.fetch import open_fetcher
from devqa.web.fetching.fetched import Fetcher
from devqa.web.merging import merge
from devqa.web.passages import Passage, cut_up, rank
from devqa.web.store import NotKept, Store

if TYPE_CHECKING:
    from devqa.job import Job


def searching(this: "Job") -> dict[str, Any]:
    """All that `passages_for` takes beside the questions, as the configuration and the job's options have it.

    Raises:
        UserError: the table of the local corpus can't be read.
    """
    return {
        "engine": open_engine(this),
        "fetcher": open_fetcher(this),
        "store": Store(this.cache / "web"),
        **{name: this.options[name] for name in ("pages", "passages", "passage_tokens")},
        "cleaning": this.config["clean"],
        "concurrency": this.config["search"]["concurrency"],
        "workers": this.threads,
    }


def passages_for(
    questions: Sequence[Row],
    engine: Engine,
    fetcher: Fetcher,
    store: Store,
    *,
    pages: int,
    passages: int,
    passage_tokens: int,
    cleaning: Mapping[str, Any],
    concurrency: int,
    workers: int,
) -> list[Row]:
    """For each of `questions` (rows with question and language): `passages`, `usage`, `status` and `reason`.

    They are the best `passages` of the best `pages` for it, best first. A question without passages is rejected, or has
    failed where the search did or a page could not be had or read. Equal questions are searched for once.
    """
    asked = list(dict.fromkeys((row["question"], row["language"]) for row in questions))
    with ThreadPoolExecutor(concurrency) as pool:
        answers = list(pool.map(lambda each: _searched(engine, *each, pages), asked))
    found = {hit.url: hit for (hits, _), _ in answers for hit in hits}
    references = _references(found.values(), fetcher, store, cleaning, concurrency, workers)
    # Each page is cut once, though many questions find it.
    cuts = {
        url: cut_up(url, row["title"], row["text"], passage_tokens)
        for url, row in references.items()
        if row["status"] == "ok"
    }
    rows = {}
    for (question, language), ((hits, requests), fault) in zip(asked, answers, strict=True):
        best = _best(question, [references[hit.url] for hit in hits], cuts, fault, passages)
        rows[question, language] = {**best, "usage": searched(engine.name, requests)}
    return [dict(rows[row["question"], row["language"]]) for row in questions]


def _searched(engine: Engine, question: str, language: str, pages: int) -> tuple[Found, str]:
    """What the question finds, or why the search failed."""
    try:
        hits, requests = engine.search(question, language, pages)
    except SearchFailed as error:
        return Found([], 0), str(error)
    except NotKept as error:
        return Found([], 0), f"offline: the cache holds no answer to {error}"
    # Merged though it is one list: a page that is found under several fragments is one page.
    return Found(merge([hits], pages), requests), ""


def _references(
    hits: Iterable[Hit], fetcher: Fetcher, store: Store, cleaning: Mapping[str, Any], concurrency: int, workers: int
) -> dict[str, Row]:
    """Every page that was found, by its address: cleaned or, where it could not be had, with the reason."""
    # Each page stands alone: it is no duplicate of what another question has found.
    cleaning = {name: value for name, value in cleaning.items() if name != "duplicate_similarity"}
    results = [{"rank": 0, "url": hit.url, "title": hit.title} for hit in hits]
    pages = fetch([{"dialogue_id": "", "results": results}], fetcher, store, concurrency)
    cleaned = clean([page for page in pages if page["status"] == "ok"], store, cleaning, workers)
    return {row["url"]: row for row in [*pages, *cleaned]}


def _best(
    question: str, references: Sequence[Row], cuts: Mapping[str, list[Passage]], fault: str, passages: int
) -> Row:
    candidates = [passage for row in references for passage in cuts.get(row["url"], [])]
    broken = [row["reason"] for row in references if row["status"] == "failed"]
    # What is offline comes first in a reason: it has a remedy of its own.
    offline = [reason for reason in broken if reason.startswith("offline")]
    fault = fault or (offline[0] if offline else f"a page could not be read: {broken[0]}" if broken else "")
    found = rank(question, candidates, passages)
    verdict = OK if found else failed(fault) if fault else rejected("no passage was found for the question")
    return {"passages": found, **verdict}
