"""Search engines: the local corpus and SearXNG."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from devqa import tables
from devqa.errors import UserError
from devqa.web.bm25 import Index
from devqa.web.store import NotKept, Store
from devqa.web.words import words

log = logging.getLogger(__name__)

_SNIPPET_CHARACTERS = 300
_RANK_CONSTANT = 60
_MOST_PAGES = 10
_TRIES = 4


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    url: str
    title: str
    snippet: str


class SearchFailed(Exception):
    """The engine gave no answer this time; it may another time."""


class Engine(Protocol):
    """What a search step needs of an engine."""

    def search(self, query: str, language: str, limit: int) -> list[Hit]:
        """At most `limit` pages for `query`, best first; `language` is ISO 639-1 or "" where it is not known.

        Raises:
            SearchFailed: no answer this time.
            UserError: the engine needs setting up.
        """


class LocalEngine:
    """BM25 over the pages of table `corpus` that are `ok` (columns url, title, text, words, status).

    `language` is not used: words of another language match no page.
    """

    def __init__(self, corpus_rows: Iterable[tables.Row]):
        self._hits: list[Hit] = []
        self._index = Index(self._words(corpus_rows))

    def search(self, query: str, language: str, limit: int) -> list[Hit]:
        """At most `limit` pages that hold a word of `query`, best first."""
        return [self._hits[number] for number, _ in self._index.search(words(query), limit)]

    def _words(self, rows: Iterable[tables.Row]) -> Iterable[str]:
        # Row by row, so that a corpus that is read in batches is never in memory as a whole.
        for row in rows:
            if row["status"] == "ok":
                self._hits.append(Hit(row["url"], row["title"], row["text"][:_SNIPPET_CHARACTERS]))
                yield row["words"]


class SearxngEngine:
    """A SearXNG server (https://docs.searxng.org/dev/search_api.html).

    Every answer is kept in `store` for good, so nothing is asked twice. `timeout_s` bounds each wait for the server.
    With `offline` nothing is asked at all: then a search raises `NotKept` where its answer is not in `store`.
    """

    def __init__(self, url: str, timeout_s: float, store: Store, offline: bool = False):
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._store = store
        self._offline = offline

    def search(self, query: str, language: str, limit: int) -> list[Hit]:
        """At most `limit` pages for `query`, best first; further pages of results are asked for as needed.

        Raises:
            SearchFailed: no answer after several tries, or none of SearXNG's own engines answered it.
            UserError: there is no server, or it doesn't give JSON.
        """
        hits: dict[str, Hit] = {}
        if not query.strip():
            return []
        for number in range(1, _MOST_PAGES + 1):
            new = [hit for hit in self._page(query, language, number) if hit.url not in hits]
            hits.update((hit.url, hit) for hit in new)
            if not new or len(hits) >= limit:
                break
        return list(hits.values())[:limit]

    def _page(self, query: str, language: str, number: int) -> list[Hit]:
        asked = {"q": query, "language": language or "all", "pageno": number}
        key = "search:" + orjson.dumps(["searxng", self._url, asked], option=orjson.OPT_SORT_KEYS).decode()
        answer = self._store.get(key)
        if answer is None:
            if self._offline:
                raise NotKept(query)
            answer = self._ask(asked)
            hits = self._hits(answer)
            self._store.put(key, answer)
            return hits
        return self._hits(answer)

    def _ask(self, asked: dict[str, Any]) -> bytes:
        import requests
        import stamina

        retried = (_Busy, requests.Timeout, requests.ConnectionError)
        try:
            for attempt in stamina.retry_context(on=retried, attempts=_TRIES, timeout=None):
                with attempt:
                    return self._ask_once(asked)
        except requests.ConnectionError as error:
            raise UserError(
                f"search.url: there is no SearXNG at {self._url} ({type(error).__name__}): start it or mend the address"
            ) from error
        except (_Busy, requests.RequestException) as error:
            raise SearchFailed(f"SearXNG gave no answer: {error}") from error
        raise AssertionError("retry_context either returns or raises")

    def _ask_once(self, asked: dict[str, Any]) -> bytes:
        import requests

        with requests.Session() as session:
            session.trust_env = False
            response = session.get(
                f"{self._url}/search",
                params={**asked, "format": "json"},
                timeout=self._timeout_s,
                allow_redirects=False,
            )
        if response.status_code == 429 or response.status_code >= 500:
            raise _Busy(f"HTTP {response.status_code}")
        if response.status_code == 403:
            raise UserError(
                f"search.url: the SearXNG at {self._url} refuses JSON (HTTP 403): "
                "in its settings.yml add 'json' to search.formats, and restart it"
            )
        if response.status_code == 400:
            raise SearchFailed("SearXNG did not take the query (HTTP 400)")
        if response.status_code != 200:
            raise UserError(f"search.url: {self._url}/search answered HTTP {response.status_code}: is that a SearXNG?")
        return response.content

    def _hits(self, answer: bytes) -> list[Hit]:
        try:
            parsed = orjson.loads(answer)
            hits = [
                Hit(str(result["url"]), str(result.get("title") or ""), str(result.get("content") or ""))
                for result in parsed["results"]
                if result.get("url")
            ]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"search.url: {self._url}/search did not answer with SearXNG's JSON: mend the address, or "
                "in its settings.yml add 'json' to search.formats"
            ) from error
        if not hits and parsed.get("unresponsive_engines"):
            raise SearchFailed(f"none of SearXNG's engines answered: {parsed['unresponsive_engines']}")
        return hits


class _Busy(Exception):
    """The server asks to be left alone, or has a fault."""


def merge(hit_lists: list[list[Hit]], limit: int) -> list[Hit]:
    """The results of several queries as one list of at most `limit` pages, best first.

    Reciprocal rank fusion with k = 60 (Cormack, Clarke, Büttcher 2009). The same URL but for its fragment is
    the same page and keeps the first hit's title and snippet; equal scores come in the order of first appearance.
    """
    scores: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in hit_lists:
        pages = list(dict.fromkeys(_without_fragment(hit.url) for hit in hits))
        for hit in hits:
            url = _without_fragment(hit.url)
            first.setdefault(url, Hit(url, hit.title, hit.snippet))
        for rank, url in enumerate(pages, start=1):
            scores[url] = scores.get(url, 0.0) + 1 / (_RANK_CONSTANT + rank)
    # `sorted` is stable, and the dict keeps the order of first appearance.
    best = sorted(scores, key=lambda url: -round(scores[url], 12))
    return [first[url] for url in best[:limit]]


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def open_engine(search: dict[str, Any], corpus_path: str | None, store: Store, offline: bool = False) -> Engine:
    """The engine that section `search` of the configuration names.

    `corpus_path` is the file of table `corpus`, for the local engine. With `offline` nothing is sent.

    Raises:
        UserError: the table is unreadable.
    """
    if search["engine"] == "searxng":
        return SearxngEngine(search["url"], search["timeout_s"], store, offline)
    columns = ["url", "title", "text", "words", "status"]
    return LocalEngine(row for batch in tables.batches(corpus_path, "corpus", 500, columns) for row in batch)
