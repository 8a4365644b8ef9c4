"""Google's Custom Search JSON API."""

import re
from collections.abc import Mapping
from typing import Any

from devqa.web.engines.answers import hits, part
from devqa.web.engines.online import Fault, OnlineEngine, Page, language_code
from devqa.web.engines.sites import Bounds

# https://developers.google.com/custom-search/docs/xml_results_appendices#languageCollections
_LANGUAGES = "ar bg ca cs da de el en es et fi fr hr hu id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv tr"
_NAMES = {"zh": "zh-CN", "he": "iw", "nb": "no", "nn": "no"}
_NO_KEY = {"keyInvalid", "keyExpired", "API_KEY_INVALID"}
_TOO_FAST = {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"}
_PER_DAY = re.compile(r"per\s?day", re.IGNORECASE)


class GoogleEngine(OnlineEngine):
    """Google through a Programmable Search Engine (https://developers.google.com/custom-search/v1/overview).

    It is what SimpleDevQA used. It takes no new customers, and ends for the whole web on 2027-01-01: to repeat the
    paper, not to build on.

    Pages of ten results, 100 results at most. The key is sent as header `X-goog-api-key`
    (https://cloud.google.com/docs/authentication/api-keys-use), not in the address. Of its two kinds of HTTP 429 one
    names a limit per day: that quota is used up until midnight in California.

    Args:
        engine_id: the id of the search engine (cx).
    """

    name = "google"
    label = "Google's Custom Search"
    address = "https://customsearch.googleapis.com"
    path = "/customsearch/v1"
    page_size = 10
    max_pages = 10
    # Google looks at 32 words, and a request has 2,048 characters, of which a Chinese one takes nine.
    bounds = Bounds(characters=200, words=32)
    marks = {"queries": dict, "items": list, "searchInformation": dict}
    hint = "mend search.engine_id or search.url"

    def __init__(self, engine_id: str, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._engine_id = engine_id

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        code = language_code(language, _LANGUAGES, _NAMES)
        return {
            "cx": self._engine_id,
            "q": text,
            "num": self.page_size,
            "start": 1 + (page - 1) * self.page_size,
            **({"lr": f"lang_{code}"} if code else {}),
        }

    def headers(self, key: str) -> dict[str, str]:
        return {"X-goog-api-key": key}

    def read(self, answer: Mapping[str, Any]) -> Page:
        return Page(hits(answer.get("items"), "link", "snippet"), "nextPage" in part(answer, "queries"))

    def message(self, answer: Any) -> str:
        return answer["error"]["message"]

    def fault(self, status: int, answer: Any) -> Fault | None:
        if answer is None:
            return None
        error = answer["error"]
        entries = [*error.get("errors", []), *error.get("details", [])]
        reasons = {entry.get("reason") for entry in entries}
        if reasons & _NO_KEY:
            return Fault.KEY
        if "dailyLimitExceeded" in reasons:
            return Fault.QUOTA
        if status == 429 or reasons & _TOO_FAST:
            return Fault.QUOTA if _PER_DAY.search(f"{error['message']} {entries}") else Fault.BUSY
        return None
