"""Is a question searchable: does plain search for one of its words find the code that it rests on (DeepCodeBench)?"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from devqa.pull_requests.questions.stopwords import STOP_WORDS

SHORTEST_WORD = 3
# Characters of a file that are looked at together; hostile files are one line of 50 MB.
_WINDOW = 1 << 20
_WORD = re.compile(r"\w+")
_GAP = re.compile(r"\W")


class Found(NamedTuple):
    """What plain search finds of a question.

    Attributes:
        by: the words that find a file which holds a block of the question, sorted.
        files: how many such files they find together.
    """

    by: list[str]
    files: int


def keywords(question: str) -> set[str]:
    """The words that somebody might search for: lower-cased, names of code whole, no stop words and no numbers."""
    found = _WORD.findall(question.lower())
    return {word for word in found if len(word) >= SHORTEST_WORD and word not in STOP_WORDS and not word.isdecimal()}


def searched(
    questions: Mapping[str, str],
    paths: Mapping[str, Iterable[str]],
    files: Iterable[tuple[str, bytes]],
    rare: int,
) -> dict[str, Found]:
    """What plain search finds of each of `questions`, by their keys.

    A word finds something if at most `rare` files have it, as a whole word in any case (`grep -iw`), and one of them
    is of the question's `paths`. Each file is looked at once for all questions.

    Args:
        files: path and content of each file of the repository; one is in memory at a time.
    """
    wanted = {key: keywords(question) for key, question in questions.items()}
    places: dict[str, list[str]] = {word: [] for words in wanted.values() for word in words}
    for path, content in files if places else ():
        for word in _standing_in(content, places.keys()):
            # More than `rare` of them tell nothing further.
            if len(places[word]) <= rare:
                places[word].append(path)
    return {key: _found(words, set(paths[key]), places, rare) for key, words in wanted.items()}


def _found(words: Iterable[str], paths: set[str], places: Mapping[str, list[str]], rare: int) -> Found:
    hits = {word: paths.intersection(places[word]) for word in words if len(places[word]) <= rare}
    by = sorted(word for word, found in hits.items() if found)
    return Found(by, len(set().union(*(hits[word] for word in by))))


def _standing_in(content: bytes, wanted: Iterable[str]) -> set[str]:
    """Those of `wanted` that stand in a file."""
    text = content.decode("utf-8", "replace")
    found: set[str] = set()
    start = 0
    while start < len(text):
        # A window ends between two words.
        gap = _GAP.search(text, start + _WINDOW)
        end = gap.end() if gap else len(text)
        found |= wanted & set(_WORD.findall(text[start:end].lower()))
        start = end
    return found
