"""Where a sentence that supports an answer stands in the text of its page.

Models copy imperfectly, and the smallest change can turn a fact over: a digit, "not", the hyphen of an option, a letter
of a name. No threshold of similarity tells such a change from a harmless one: two sentences of fifty words that differ
in "not" alone are 99 % the same. So the words must be the same, and only how they are set may differ.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from devqa.steps.sentences import pieces, says_something
from devqa.text import plain

EXACT = "exact"
NEAR = "near"

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_BULLETS = re.compile(r"^(?:[-*•‣◦·]\s+)+")
# Inline code, which stays as it is; emphasis; links and images. The bounds keep hostile pages linear.
_MARKED = re.compile(
    r"(`[^`\n]*`)"
    r"|(?<![\w*])(\*{1,3})(?=[^\s*])((?:[^*`\n]|`[^`\n]*`)+?)(?<=[^\s*])\2(?![\w*])"
    r"|!?\[([^\[\]\n]*)\]\([^)\s]{0,500}\)"
)
# Raised and lowered digits and fractions: as plain digits 10² would be 102.
_RAISED = re.compile(r"[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u215f\u2189]")
# What models type otherwise than pages have it, or leave out.
_SIGNS = "‘’‚‛“”„‟‐‑‒–—―−\u00ad\u200b\u200c\u200d\u2060\ufeff"
_TYPED = str.maketrans({**{sign: plain(sign) for sign in _SIGNS}, "。": "."})
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"
_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")
# Not "!" and "?": in Ruby, save! is not save.
_STOPS = ".,;:"
# Stands for a line of code between the words of prose.
_CODE = "\x00"


class Page:
    """The cleaned text of a page, in which sentences are looked for."""

    def __init__(self, text: str):
        self._text = text
        self._known: dict[str, str | None] = {}

    def match(self, span: str) -> str | None:
        """How `span` stands in the page, as one sentence or several, none of them in part.

        `exact`: to the letter, but for white space. `near`: in prose, the same words in the same order, but for code
        marks, emphasis and targets of links, bullets of lists, the form of quotation marks, dashes and ligatures,
        stops at the ends of words, and white space around Chinese. None: it does not stand there. A part of a
        sentence does not count, because what was left out may turn it over ("not", "unless", "# ").
        """
        if span not in self._known:
            self._known[span] = self._match(span)
        return self._known[span]

    def _match(self, span: str) -> str | None:
        if self._letters.hold(_letters(span)):
            return EXACT
        return NEAR if self._words.hold(_words(span)) else None

    @cached_property
    def _letters(self) -> "_Sentences":
        return _Sentences(_letters(piece) for line in self._text.splitlines() for piece in pieces(line))

    @cached_property
    def _words(self) -> "_Sentences":
        return _Sentences(_CODE if is_code else _words(piece) for piece, is_code in _marked(self._text))


class _Sentences:
    """Sentences one after the other, separated by spaces."""

    def __init__(self, sentences: Iterable[str]):
        sentences = [sentence for sentence in sentences if sentence]
        self._text = " ".join(sentences)
        self._starts: list[int] = []
        self._ends: set[int] = set()
        place = 0
        for sentence in sentences:
            self._starts.append(place)
            self._ends.add(place + len(sentence))
            place += len(sentence) + 1

    def hold(self, wanted: str) -> bool:
        """Is `wanted` one of the sentences, or several that follow each other?"""
        place = self._text.find(wanted) if wanted else -1
        while place >= 0:
            following = bisect_right(self._starts, place)
            if self._starts[following - 1] == place and place + len(wanted) in self._ends:
                return True
            if following == len(self._starts):
                return False
            place = self._text.find(wanted, self._starts[following])
        return False


def standing(text: str, page: Page) -> str:
    """`text` without the sentences and headings that do not stand in `page`; "" where none does.

    What is too short to state anything, such as a line with a bracket, stays between what does.
    """
    lines = []
    stands = False
    for line in text.splitlines():
        found = [(piece, says_something(piece)) for piece in pieces(line)]
        kept = [(piece, says) for piece, says in found if not says or page.match(piece.strip())]
        stands = stands or any(says for _, says in kept)
        if kept:
            lines.append(" ".join(piece for piece, _ in kept))
    return "\n".join(lines).strip() if stands else ""


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """Every piece of every line of `text`, and whether it is a line of fenced code."""
    fence = ""
    for line in text.splitlines():
        marker = _FENCE.match(line)
        if fence or marker:
            yield line, True
            fence = "" if line.strip() == fence else fence or marker[1]
        else:
            yield from ((piece, False) for piece in pieces(line))


def _letters(text: str) -> str:
    return " ".join(text.split())


def _words(piece: str) -> str:
    """The words of a piece of prose as they are compared, separated by spaces."""
    text = _MARKED.sub(lambda found: found[1] or found[3] or found[4] or "", piece.translate(_TYPED).strip())
    text = text if _RAISED.search(text) else unicodedata.normalize("NFKC", text)
    return " ".join(map(_word, _WORD.findall(_BULLETS.sub("", text))))


def _word(chunk: str) -> str:
    # What is nothing but a stop is a word: the dot of `git add .`
    return chunk.rstrip(_STOPS).replace("`", "") or chunk
