"""Pages cut into passages, and the passages that fit a question best."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from devqa import tokens as tokenizer
from devqa.web.bm25 import Index
from devqa.web.words import words

_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6} ")
_SEPARATOR = "\n\n"


def passages(text: str, tokens: int) -> list[str]:
    """`text` (plain or Markdown) in pieces of at most `tokens` estimated tokens, in its order, nothing left out.

    Cut before headings and between paragraphs, never inside fenced code unless that alone is too long;
    then, as in paragraphs that are too long, between lines, and at last anywhere. Small sections stay together with
    what follows as long as all fits.
    """
    found: list[str] = []
    current = ""
    for block in _blocks(text):
        joined = current + _SEPARATOR + block if current else block
        if tokenizer.estimate(joined) <= tokens and not (_HEADING.match(block) and _is_substantial(current, tokens)):
            current = joined
            continue
        if current:
            found.append(current)
        *whole, current = _pieces(block, tokens)
        found += whole
    return [*found, current] if current else found


@dataclass(frozen=True)
class Passage:
    """A piece of a page, with the words that it is found by."""

    url: str
    title: str
    text: str
    words: list[str]


def cut_up(url: str, title: str, text: str, tokens: int) -> list[Passage]:
    """A page in passages of at most `tokens` estimated tokens. The page's title counts as part of each of them."""
    return [Passage(url, title, piece, words(f"{title}\n{piece}")) for piece in passages(text, tokens)]


def rank(question: str, candidates: Sequence[Passage], limit: int) -> list[dict[str, Any]]:
    """The `limit` passages that fit `question` best, by BM25: each `{url, title, text, score}`, best first."""
    index = Index(candidate.words for candidate in candidates)
    found = ((candidates[number], score) for number, score in index.search(words(question), limit))
    return [{"url": best.url, "title": best.title, "text": best.text, "score": score} for best, score in found]


def _is_substantial(text: str, tokens: int) -> bool:
    return tokenizer.estimate(text) * 2 > tokens


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, headings and whole code fences."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        marker = _FENCE.match(line.strip())
        if fence:
            lines.append(line)
            if line.strip() == fence:
                fence = ""
        elif marker:
            fence = marker[1]
            lines.append(line)
        elif not line.strip():
            if lines:
                yield "\n".join(lines)
            lines = []
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _pieces(block: str, tokens: int) -> list[str]:
    """A block that may be too long, in pieces that fit."""
    pieces = []
    while (piece := tokenizer.cut(block, tokens)) != block:
        # At least one character, so that an absurd limit can't loop for ever.
        piece = piece or block[0]
        pieces.append(piece.rstrip("\n"))
        block = block[len(piece) :]
    return [*pieces, block]
