"""Google's results, from Serper."""

from collections.abc import Mapping
from typing import Any

from devqa.web.engines.answers import hits
from devqa.web.engines.online import Fault, OnlineEngine, Page, language_code
from devqa.web.engines.sites import Bounds

# Languages of Google's own pages, as parameter hl takes them.
_LANGUAGES = (
    "af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu hi hr hu hy id is it ja ka kk km kn ko ky "
    "lo lt lv mk ml mn mr ms my ne nl no pa pl ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi"
)
_NAMES = {"zh": "zh-cn", "pt": "pt-br", "he": "iw", "nb": "no", "nn": "no"}


class SerperEngine(OnlineEngine):
    """Google's results as JSON, with a key of https://serper.dev (its playground is the documentation).

    Pages of ten results: a page of more takes two credits, and accounts without payment get none of them with search
    operators. The language is that of Google's own page, which prefers results in it. When no credit is left the
    answer is HTTP 400, as for a bad query: its message tells them apart.
    """

    name = "serper"
    label = "Serper"
    address = "https://google.serper.dev"
    path = "/search"
    method = "POST"
    page_size = 10
    max_pages = 10
    # Google looks at 32 words.
    bounds = Bounds(characters=2_000, words=32)
    marks = {"searchParameters": dict, "organic": list}

    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        code = language_code(language, _LANGUAGES, _NAMES)
        return {
            "q": text,
            "page": page,
            # Names of programs look misspelt to it.
            "autocorrect": False,
            **({"hl": code} if code else {}),
        }

    def headers(self, key: str) -> dict[str, str]:
        return {"X-API-KEY": key}

    def read(self, answer: Mapping[str, Any]) -> Page:
        return Page(hits(answer.get("organic"), "link", "snippet"))

    def message(self, answer: Any) -> str:
        return answer["message"]

    def fault(self, status: int, answer: Any) -> Fault | None:
        return Fault.QUOTA if answer and "not enough credits" in str(answer.get("message")).lower() else None
