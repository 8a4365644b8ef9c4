"""Pages whose texts are nearly the same."""

import re
import unicodedata
from collections.abc import Iterable

_WORDS_PER_SHINGLE = 4
_HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A Chinese character is a word here: where words are cut depends on what stands beside them, so a change of one
# character would spoil more shingles.
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")


def shingles(text: str) -> frozenset[int]:
    """The runs of four words of a text, as hashes that are good in this process; letter case and marks don't count."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    words = _WORD.findall(plain.casefold())
    if len(words) <= _WORDS_PER_SHINGLE:
        return frozenset([hash(tuple(words))])
    return frozenset(map(hash, zip(*(words[start:] for start in range(_WORDS_PER_SHINGLE)), strict=False)))


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Jaccard's: the share of all their shingles that both have, 0 to 1."""
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def copy_of(text: frozenset[int], kept: Iterable[frozenset[int]], least: float) -> int | None:
    """The number of the first of `kept` that is at least so similar to `text` (`least` above 0); None if none is."""
    for number, other in enumerate(kept):
        smaller, larger = sorted((len(text), len(other)))
        if smaller >= least * larger and similarity(text, other) >= least:
            return number
    return None
