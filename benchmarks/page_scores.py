"""How a page's text is scored against what is expected of it."""

import re
import unicodedata
from collections import Counter

from page_sources import Page

_CHINESE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CHINESE}]|[^\W_{_CHINESE}]+")
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,}).*$", re.MULTILINE)


def tokens(text: str) -> Counter[str]:
    """Words and numbers in lower case, Chinese and Japanese by character; fences and their languages are no words."""
    return Counter(_TOKEN.findall(_FENCE.sub("", unicodedata.normalize("NFC", text)).lower()))


def f1(page: Page, text: str) -> float:
    """Harmonic mean of precision and recall, 0 to 1: of tokens, or of pieces where only pieces are known.

    Pieces are counted as trafilatura's own evaluation counts them: a piece that is wanted and there is a true positive,
    one that is unwanted and there a false positive, one that is wanted and not there a false negative.
    """
    if page.wanted:
        flat = _flat(text)
        found = sum(_flat(piece) in flat for piece in page.wanted)
        return _harmonic(found, found + sum(_flat(piece) in flat for piece in page.unwanted), len(page.wanted))
    got, expected = tokens(text), tokens(page.expected)
    return _harmonic((got & expected).total(), got.total(), expected.total())


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def code_kept(page: Page, text: str) -> float | None:
    """Share of the page's code blocks that are in `text` line by line, None where it has none.

    White space within lines and blank lines don't count, and so that code in a list or quotation is found, neither do
    signs of quotation before lines.
    """
    if not page.code:
        return None
    there = f"\n{_lines(text)}\n"
    return sum(f"\n{_lines(block)}\n" in there for block in page.code) / len(page.code)


def _lines(text: str) -> str:
    lines = ("".join(line.split()).lstrip(">") for line in text.splitlines())
    return "\n".join(filter(None, lines))


def _harmonic(common: int, got: int, expected: int) -> float:
    return 2 * common / (got + expected) if got + expected else 1.0
