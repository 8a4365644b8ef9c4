"""A SearXNG server of one's own."""

from typing import Any

from devqa.errors import UserError
from devqa.web.engines.base import Hit, SearchFailed
from devqa.web.engines.online import OnlineEngine, Page


class SearxngEngine(OnlineEngine):
    """A SearXNG server (https://docs.searxng.org/dev/search_api.html).

    It hands the query to engines of its own, with the operators for sites in it, and says which of them failed.
    """

    name = "searxng"
    label = "SearXNG"
    path = "/search"
    constant = {"format": "json"}
    # How much a page holds depends on the engines that the server asks.
    page_size = 1
    max_pages = 10
    hint = "start it, mend the address, or in its settings.yml add 'json' to search.formats"

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        return {"q": text, "language": language or "all", "pageno": page}

    def read(self, answer: Any) -> Page:
        hits = [
            Hit(str(result["url"]), str(result.get("title") or ""), str(result.get("content") or ""))
            for result in answer["results"]
            if result.get("url")
        ]
        if not hits and answer.get("unresponsive_engines"):
            raise SearchFailed(f"none of SearXNG's engines answered: {answer['unresponsive_engines']}")
        return Page(hits)

    def refused(self, said: str) -> UserError:
        return UserError(
            f"search.url: the SearXNG at {self._address} refuses JSON ({said}): "
            "in its settings.yml add 'json' to search.formats, and restart it"
        )
