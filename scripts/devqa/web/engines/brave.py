"""Brave Search."""

from collections.abc import Mapping
from typing import Any

from devqa.web.engines.answers import hits, part
from devqa.web.engines.online import Fault, OnlineEngine, Page, language_code
from devqa.web.engines.sites import Bounds, either, hosts, none_of, whole_hosts

# https://api-dashboard.search.brave.com/api-reference/web/search/get, parameter search_lang.
_LANGUAGES = (
    "ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv "
    "ta te th tr uk vi"
)
_NAMES = {"ja": "jp", "zh": "zh-hans", "pt": "pt-br", "no": "nb", "nn": "nb"}
_NO_KEY = {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_TOKEN_MISSING", "SUBSCRIPTION_NOT_FOUND", "OPTION_NOT_IN_PLAN"}


class BraveEngine(OnlineEngine):
    """Brave's index, with a key of its plan Search (https://api-dashboard.search.brave.com/documentation).

    Pages of 20 results, ten at most; a request has its price whatever it finds. A refused key is HTTP 422, as is a
    bad query: the error's code tells them apart. An exhausted quota is HTTP 429, as is a rate limit.
    """

    name = "brave"
    label = "Brave Search"
    address = "https://api.search.brave.com"
    path = "/res/v1/web/search"
    page_size = 20
    max_pages = 10
    bounds = Bounds(characters=400, words=50)
    marks = {"query": dict, "web": dict, "mixed": dict}

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        code = language_code(language, _LANGUAGES, _NAMES)
        return {
            "q": text,
            "count": self.page_size,
            # In pages.
            "offset": page - 1,
            # By default, of the United States.
            "country": "ALL",
            "result_filter": "query,web",
            # Names of programs look misspelt to it, and it searches for what it takes them for.
            "spellcheck": "false",
            "text_decorations": "false",
            **({"search_lang": code} if code else {}),
        }

    def headers(self, key: str) -> dict[str, str]:
        return {"X-Subscription-Token": key}

    def operators(self) -> tuple[str, str]:
        # It knows hosts only: of a part of one the host is asked for, and nothing left out.
        return either(hosts(self.sites.include)), none_of(whole_hosts(self.sites.exclude), "NOT ")

    def read(self, answer: Mapping[str, Any]) -> Page:
        found = hits(part(answer, "web").get("results"), "url", "description")
        return Page(found, part(answer, "query").get("more_results_available") is not False)

    def message(self, answer: Any) -> str:
        return _error(answer).get("detail", "")

    def fault(self, status: int, answer: Any) -> Fault | None:
        if answer is None:
            return None
        error = _error(answer)
        code = error.get("code")
        if code in _NO_KEY or (code == "VALIDATION" and "x-subscription-token" in str(error.get("meta"))):
            return Fault.KEY
        return Fault.QUOTA if code == "QUOTA_LIMITED" else None

    def told_to_wait_s(self, headers: Mapping[str, str]) -> float | None:
        """Seconds until the plan's window of one second ends; `X-RateLimit-Reset: 1, 1419704` has the month's too."""
        first = headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
        return float(first) if first.isdecimal() else None


def _error(answer: Any) -> Mapping[str, Any]:
    # The documentation has `errors`, the service answers with `error`.
    return answer["error"] if "error" in answer else answer["errors"][0]
