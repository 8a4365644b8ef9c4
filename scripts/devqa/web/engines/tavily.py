"""Tavily."""

from collections.abc import Mapping
from typing import Any

from devqa.web.engines.answers import hits
from devqa.web.engines.online import Fault, OnlineEngine, Page
from devqa.web.engines.sites import Bounds, whole_hosts

# The longest lists that it takes.
_MOST_INCLUDED = 300
_MOST_EXCLUDED = 150


class TavilyEngine(OnlineEngine):
    """Tavily's search for programs (https://docs.tavily.com/documentation/api-reference/endpoint/search).

    One page of at most 20 results, whatever `search.results` says, for one credit (search depth `basic`). It has no
    parameter for the language and goes by the query's. Sites are lists of their own, not operators. HTTP 432 and 433
    say that the plan's or the pay-as-you-go limit is reached, 429 that requests come too fast.
    """

    name = "tavily"
    label = "Tavily"
    address = "https://api.tavily.com"
    path = "/search"
    method = "POST"
    page_size = 20
    max_pages = 1
    bounds = Bounds(characters=400, words=400)
    marks = {"results": list, "images": list}

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        # Longer lists are left out: results are filtered in any case.
        included, excluded = list(self.sites.include), whole_hosts(self.sites.exclude)[:_MOST_EXCLUDED]
        return {
            "query": text,
            "max_results": self.page_size,
            "search_depth": "basic",
            **({"include_domains": included} if 0 < len(included) <= _MOST_INCLUDED else {}),
            **({"exclude_domains": excluded} if excluded else {}),
        }

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"}

    def operators(self) -> tuple[str, str]:
        return "", ""

    def read(self, answer: Mapping[str, Any]) -> Page:
        return Page(hits(answer.get("results"), "url", "content"), more=False)

    def message(self, answer: Any) -> str:
        detail = answer["detail"]
        return detail["error"] if isinstance(detail, dict) else detail

    def fault(self, status: int, answer: Any) -> Fault | None:
        return Fault.QUOTA if status in (432, 433) else None
