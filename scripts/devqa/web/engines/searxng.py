"""A SearXNG server of one's own."""

from collections.abc import Mapping
from typing import Any

from devqa.errors import UserError
from devqa.text import whole
from devqa.web.engines.answers import hits
from devqa.web.engines.base import SearchFailed
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
    marks = {"results": list, "unresponsive_engines": list}
    absent = "start it or mend the address"
    hint = "mend the address"
    no_json = "mend the address, or in its settings.yml add 'json' to search.formats, and restart it"

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        return {"q": text, "language": language or "all", "pageno": page}

    def read(self, answer: Mapping[str, Any]) -> Page:
        found = hits(answer.get("results"), "url", "content")
        if not found and (silent := answer.get("unresponsive_engines")):
            raise SearchFailed(f"none of SearXNG's engines answered: {whole(str(silent))}")
        return Page(found)

    def refused(self, said: str) -> UserError:
        return UserError(
            f"search.url: the SearXNG at {self._address} refuses JSON ({said}): "
            "in its settings.yml add 'json' to search.formats, and restart it"
        )
