"""How alike two pieces of code are."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

# Words that are compared in their order: the time for more grows with their square.
_MOST_WORDS = 600
# Of names that are not in ASCII, too, whatever they are encoded in.
_WORD = re.compile(rb"[\w\x80-\xff]+")
_TEXT = re.compile(r"[\w\ufffd]")


def words(lines: Sequence[bytes], first: int, last: int) -> list[bytes]:
    """The words in lines `first` to `last` of a file; lines count from 1."""
    return _WORD.findall(b"\n".join(lines[first - 1 : last]))


def without(name: str, those: Sequence[bytes]) -> list[bytes]:
    """Words without those of a name."""
    own = set(_WORD.findall(name.encode()))
    return [each for each in those if each not in own]


def has_word(line: bytes) -> bool:
    """Is there a letter or digit in it, of any script? What can't be decoded is taken for one."""
    return _TEXT.search(line.decode("utf-8", "replace")) is not None


def in_any_order(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """From 0 to 1: the share of words that both have."""
    return 1.0 if one == other else 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))


def likeness(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """From 0 (nothing in common) to 1 (equal): the share of words that both have in the same order (difflib's ratio);
    never more than in any order.
    """
    if one == other:
        return 1.0
    if not (unordered := in_any_order(one, other)):
        return 0.0
    matcher = SequenceMatcher(None, one[:_MOST_WORDS], other[:_MOST_WORDS], autojunk=False)
    return min(unordered, matcher.ratio())
