"""Where extractors disagree about a page, its parts are kept by vote.

An extractor's text votes for a part of the page if it holds most of the part's word triples, so no two extractors need
to write a part the same way, and the time is linear in the length of page and texts.
"""

import re
from collections import Counter
from collections.abc import Iterable

from lxml.html import HtmlElement

from devqa.web.cleaning.markup import BLOCKS

_CHINESE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CHINESE}]|[^\W_{_CHINESE}]+")
_LEAST_SHARE = 0.6
_SHORT = 3
_LEAST_MARK = 5
_BREAKING = BLOCKS | {"br"}


def tokens(text: str) -> list[str]:
    """Words and numbers in lower case; Chinese and Japanese by character."""
    return _TOKEN.findall(text.lower())


def likeness(one: str, other: str) -> float:
    """The F1 of the tokens of two texts, 0 to 1."""
    a, b = Counter(tokens(one)), Counter(tokens(other))
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


class Ballot:
    """What one extractor's text holds, to be asked about parts of the page."""

    def __init__(self, text: str) -> None:
        words = tokens(text)
        self.size = len(words)
        self._triples = set(zip(words, words[1:], words[2:], strict=False))
        self._lines = {tuple(tokens(line)) for line in text.splitlines()}

    def holds(self, words: list[str]) -> bool:
        """Is a part with these tokens in the text? A part of fewer than three must be a line of its own."""
        if len(words) < _SHORT:
            return tuple(words) in self._lines
        triples = list(zip(words, words[1:], words[2:], strict=False))
        return sum(triple in self._triples for triple in triples) >= _LEAST_SHARE * len(triples)


def parts(document: HtmlElement) -> list[tuple[HtmlElement, list[str]]]:
    """The elements of `document` that hold text of their own, with its tokens, in document order.

    Text belongs to the nearest element around it that stands on lines of its own; a row of a table is one part.
    """
    holders = _holders(document)
    texts: dict[HtmlElement, list[str]] = {}
    for element, holder in holders.items():
        space = " " if element.tag in _BREAKING else ""
        if isinstance(element.tag, str):
            texts.setdefault(holder, []).append(space + (element.text or ""))
        if element is not document and element.tail:
            texts.setdefault(holders[element.getparent()], []).append(space + element.tail)
    found = ((element, tokens("".join(pieces))) for element, pieces in texts.items() if element.tag != "head")
    return [(element, words) for element, words in found if words]


def _holders(document: HtmlElement) -> dict[HtmlElement, HtmlElement]:
    """The part that each element of `document` belongs to, itself or one around it, in document order."""
    found = {document: document}
    for element in document.iterdescendants():
        is_part = element.tag == "head" or (element.tag in BLOCKS and element.tag not in ("td", "th"))
        found[element] = element if is_part else found[element.getparent()]
    return found


def majority(voters: list[list[bool]]) -> list[bool]:
    """Of each part, whether more than half of the voters are for it; of two voters one is enough."""
    need = len(voters) // 2 + 1 if len(voters) > 2 else 1
    return [sum(votes) >= need for votes in zip(*voters, strict=True)]


def between(trusted: list[bool], others: list[bool], sizes: list[int]) -> list[bool]:
    """What is `trusted`, and from its first part to its last what `others` says.

    Junk that is taken for content lies before and after it, content that is taken for junk (lists, tables, quotations)
    in its midst. Parts of a few words mark no end: they may stand in a menu too.
    """
    marks = [i for i, (one, size) in enumerate(zip(trusted, sizes, strict=True)) if one and size >= _LEAST_MARK]
    if not marks:
        return trusted
    return [
        one or (other and marks[0] <= i <= marks[-1])
        for i, (one, other) in enumerate(zip(trusted, others, strict=True))
    ]


def keep(document: HtmlElement, wanted: Iterable[HtmlElement]) -> None:
    """Drop all parts of `document` but `wanted`, and what holds none of them."""
    kept = set(wanted)
    holding = set(kept)
    for element in kept:
        for ancestor in element.iterancestors():
            if ancestor in holding:
                break
            holding.add(ancestor)
    holders = _holders(document)
    for element, holder in holders.items():
        if holder not in kept:
            element.text = None
        if element is not document and holders[element.getparent()] not in kept:
            element.tail = None
    for element, holder in holders.items():
        parent = element.getparent()
        if parent is not None and element not in holding and (holder is element or holder not in kept):
            element.drop_tree()
