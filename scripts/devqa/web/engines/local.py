"""Search in a corpus of one's own."""

from collections.abc import Iterable

from devqa import tables
from devqa.web.bm25 import Index
from devqa.web.engines.base import Found, Hit
from devqa.web.engines.sites import Sites
from devqa.web.words import words

_SNIPPET_CHARACTERS = 300


class LocalEngine:
    """BM25 over the pages of table `corpus` that are `ok` (columns url, title, text, words, status) and of `sites`.

    `language` is not used: words of another language match no page.
    """

    name = "local"

    def __init__(self, corpus_rows: Iterable[tables.Row], sites: Sites | None = None):
        self._sites = sites or Sites()
        self._hits: list[Hit] = []
        self._index = Index(self._words(corpus_rows))

    def search(self, query: str, language: str, limit: int) -> Found:
        """At most `limit` pages that hold a word of `query`, best first."""
        return Found([self._hits[number] for number, _ in self._index.search(words(query), limit)], 0)

    def _words(self, rows: Iterable[tables.Row]) -> Iterable[str]:
        # Row by row, so that a corpus that is read in batches is never in memory as a whole.
        for row in rows:
            if row["status"] == "ok" and self._sites.allow(row["url"]):
                self._hits.append(Hit(row["url"], row["title"], row["text"][:_SNIPPET_CHARACTERS]))
                yield row["words"]
