"""Pages cut into passages, and the passages that fit a question best."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from devqa import tokens as tokenizer
from devqa.tables import Row
from devqa.web import bm25
from devqa.web.words import words

_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) ")
_LINE_OR_SENTENCE_END = re.compile(r"\n|[.!?…]\s|[。！？；]")
_SPACE = re.compile(r"\s")
_SEPARATOR = "\n\n"
# Stands where something was left out.
GAP = "[…]"
# Documents that don't all fit are shown in passages of this many tokens. For a small budget they are smaller, so that
# several fit, but not so small that most sentences don't fit into one.
PASSAGE_TOKENS = 300
_PASSAGES_IN_A_BUDGET = 4
_SMALL_PASSAGE_TOKENS = 50
# Of a passage's size, what the headings above it may take.
_HEADINGS_SHARE = 0.25
# A smaller part of a passage is not worth its place where nothing of it was wanted: a date, a name.
_LEAST_SHARE = 0.25


def passages(text: str, tokens: int) -> list[str]:
    """`text` (plain or Markdown) in pieces of at most `tokens` estimated tokens, in its order, nothing left out.

    Cut before headings and between paragraphs, never inside fenced code unless that alone is too long;
    then, as in paragraphs that are too long, between lines, then sentences, then words, and at last anywhere. Small
    sections stay together with what follows as long as all fits.
    """
    return [piece for piece, _ in _sections(text, tokens)]


@dataclass(frozen=True)
class Passage:
    """A piece of a page, the lines of the headings that it stands under, and the counts of what it is found by."""

    url: str
    title: str
    text: str
    above: tuple[str, ...]
    words: Counter[str]


def cut_up(url: str, title: str, text: str, tokens: int) -> list[Passage]:
    """A page in passages of at most `tokens` estimated tokens.

    Each is found by the words of the page's title and of the headings above it too.
    """
    return [
        Passage(url, title, piece, above, Counter(words("\n".join([title, *above, piece]))))
        for piece, above in _sections(text, tokens)
    ]


def rank(question: str, candidates: Sequence[Passage], limit: int) -> list[dict[str, Any]]:
    """The `limit` passages that fit `question` best, by BM25: each `{url, title, text, score}`, best first."""
    hits = bm25.best([candidate.words for candidate in candidates], words(question), limit)
    found = ((candidates[number], score) for number, score in hits)
    return [{"url": best.url, "title": best.title, "text": best.text, "score": score} for best, score in found]


def packed(documents: Sequence[Row], wanted: str, tokens: int) -> list[str]:
    """What is shown of each of `documents` (rows with url, title and text) within `tokens` estimated tokens in all.

    All texts as they are, where they fit. Else their passages that fit `wanted` best by BM25, whatever document they
    are of; where `wanted` finds no more, the beginnings. A document's passages come in its order, with the nearest
    headings that are out of sight, and `GAP` stands for what was left out. "" for a document of which nothing is shown.
    """
    texts = [document["text"] for document in documents]
    if sum(map(tokenizer.estimate, texts)) <= tokens:
        return texts
    size = min(PASSAGE_TOKENS, max(tokens // _PASSAGES_IN_A_BUDGET, min(_SMALL_PASSAGE_TOKENS, tokens // 2)))
    cuts = [cut_up(document["url"], document["title"], document["text"], size) for document in documents]
    cost = cache(lambda part: tokenizer.estimate(part + _SEPARATOR))
    shown: list[list[str]] = [[] for _ in documents]
    chosen: list[frozenset[int]] = [frozenset() for _ in documents]
    left = tokens
    for number, place in _best_first(cuts, wanted, size):
        # With the headings right before it, or without where they are too dear.
        for added in (_with_headings(cuts[number], place), frozenset([place])):
            more = chosen[number] | added
            parts = _parts(cuts[number], more, int(size * _HEADINGS_SHARE))
            dearer = sum(map(cost, parts)) - sum(map(cost, shown[number]))
            if dearer <= left:
                shown[number], chosen[number], left = parts, more, left - dearer
                break
    return [_SEPARATOR.join(parts) for parts in shown]


def _best_first(cuts: Sequence[Sequence[Passage]], wanted: str, size: int) -> list[tuple[int, int]]:
    """The places (document, passage) of what is worth showing: what fits `wanted`, then the others from the tops."""
    places = [
        (number, place)
        for number, cut in enumerate(cuts)
        for place, passage in enumerate(cut)
        if not _is_heading(passage.text)
    ]
    found = bm25.best([cuts[number][place].words for number, place in places], words(wanted), len(places))
    fitting = [places[hit] for hit, _ in found]
    others = [
        (number, place)
        for number, place in set(places) - set(fitting)
        if len(cuts[number]) == 1 or tokenizer.estimate(cuts[number][place].text) >= _LEAST_SHARE * size
    ]
    return fitting + sorted(others, key=lambda each: (each[1], each[0]))


def _with_headings(cut: Sequence[Passage], place: int) -> frozenset[int]:
    """The place of a passage with those of the headings that stand right before it as passages of their own."""
    first = place
    while first and _is_heading(cut[first - 1].text):
        first -= 1
    return frozenset(range(first, place + 1))


def _is_heading(text: str) -> bool:
    return all(_HEADING.match(line) for line in text.splitlines() if line)


def _parts(cut: Sequence[Passage], chosen: frozenset[int], heading_tokens: int) -> list[str]:
    """The `chosen` passages of a document in their order, with gaps and with the headings that are out of sight."""
    parts: list[str] = []
    following = 0
    in_sight: tuple[str, ...] = ()
    for place in sorted(chosen):
        if place != following:
            parts += [GAP, *_headings(cut[place], in_sight, heading_tokens)]
        parts.append(cut[place].text)
        following = place + 1
        in_sight = cut[following].above if following < len(cut) else ()
    return parts if following == len(cut) else [*parts, GAP]


def _headings(passage: Passage, in_sight: Sequence[str], tokens: int) -> list[str]:
    """The headings above a passage that are news, the nearest that have at most `tokens` together."""
    news = [line for line in passage.above if line not in in_sight and line.lstrip("# ") != passage.title]
    while news and tokenizer.estimate("\n".join(news)) > tokens:
        news = news[1:]
    return ["\n".join(news)] if news else []


def _sections(text: str, tokens: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The pieces of `text`, each with the lines of the headings that it stands under."""
    current, above = "", ()
    path: tuple[str, ...] = ()
    for block in _headed(text, tokens):
        before, path = path, _below(path, block)
        joined = current + _SEPARATOR + block if current else block
        begins = _HEADING.match(block) and (_is_substantial(current, tokens) or _is_heading(block))
        if tokenizer.estimate(joined) <= tokens and not (current and begins):
            current, above = joined, above if current else before
            continue
        if current:
            yield current, above
        *whole, current = _pieces(block, tokens)
        above = before
        for piece in whole:
            yield piece, above
            above = path
    if current:
        yield current, above


def _headed(text: str, tokens: int) -> Iterator[str]:
    """Blocks, each with the headings right above it; those are blocks of their own where only the block fits."""
    headings = ""
    for block in _blocks(text):
        joined = headings + _SEPARATOR + block if headings else block
        if _is_heading(block):
            headings = joined
            continue
        if headings and tokenizer.estimate(joined) > tokens >= tokenizer.estimate(block):
            yield headings
            joined = block
        yield joined
        headings = ""
    if headings:
        yield headings


def _below(path: tuple[str, ...], block: str) -> tuple[str, ...]:
    """The headings that stand above what follows `block`."""
    for line in filter(None, block.splitlines()):
        heading = _HEADING.match(line)
        if not heading:
            break
        path = (*(each for each in path if len(_HEADING.match(each)[1]) < len(heading[1])), line)
    return path


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
        piece = _between_words(block, piece) or block[0]
        pieces.append(piece.rstrip("\n"))
        block = block[len(piece) :]
    return [*pieces, block]


def _between_words(block: str, piece: str) -> str:
    """`piece`, a beginning of `block`, without the line, sentence or word that it breaks off in, if enough is left."""
    following = block[len(piece)]
    if piece.endswith("\n") or following == "\n":
        return piece
    seen = piece + following if following.isspace() else piece
    for boundary, least in ((_LINE_OR_SENTENCE_END, 0.25), (_SPACE, 0.5)):
        ends = [match.end() for match in boundary.finditer(seen)]
        if ends and ends[-1] >= least * len(piece):
            return piece[: ends[-1]]
    return piece
