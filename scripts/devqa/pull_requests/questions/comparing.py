"""Facts compared with each other and with their question. A symbol may be all that a fact is about: symbols count."""

import re
from collections.abc import Collection

from devqa.pull_requests.listing.wording import line_of
from devqa.pull_requests.questions.stopwords import FILLING, STOP_WORDS
from devqa.web.words import words

_WORD = re.compile(r"\w+")
# A question that is answered by yes or no, or by one of those that it names: then its own words are the fact.
_CHOICE = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may)\b|\bor\b", re.IGNORECASE
)
_CODE = r"`[^`]*`"
# Asterisks around words. Others, and underscores, may be what a fact is about, as all that is code.
_EMPHASIS = re.compile(rf"({_CODE})|(?<![\w*])(\*{{1,3}})(?=\w)([^*`]*)(?<=[\w.])\2(?![\w*])")
# Letters alone, between which an apostrophe or a hyphen may stand.
_PROSE = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_IN_SENTENCE = ".,;:!?()"
_PROSE_WORD = re.compile(rf"({_CODE})|(?<![^\s(])({_PROSE})(?=[.,;:!?)]*(?:\s|$))")
_INSIDE_CODE = re.compile(r"`([^`]+)`")
_FULL_STOP = re.compile(r"(?<=[^\s.])\.$")
_MARKS_OF_NOTHING = re.compile(r"([*_`])\1+")


def says_nothing(text: str) -> bool:
    """Is `text` empty, or emphasis or code without anything in it?"""
    return not _MARKS_OF_NOTHING.sub("", line_of(text)).strip()


def likeness(fact: str) -> str:
    """What is the same of two facts that are the same but for emphasis, code marks, the case of words, white space and
    the final full stop. Code keeps its case: `-R` is not `-r`.
    """
    text = _without_emphasis(" ".join(fact.split()))
    text = _PROSE_WORD.sub(lambda found: found[1] or found[2].casefold().replace("’", "'"), text)
    return _INSIDE_CODE.sub(r"\1", _FULL_STOP.sub("", text))


def restates(fact: str, question: str) -> bool:
    """Does `fact` say what the question says, and no more? Only where both are about the same, in the same words, and
    the fact has no number, symbol, code or quotation of its own.
    """
    return (
        not _CHOICE.search(question)
        and _said(fact, STOP_WORDS) == _said(question, STOP_WORDS)
        and _said(fact, FILLING) <= _said(question, FILLING)
        and {piece for piece in _pieces(fact) if not re.fullmatch(_PROSE, piece)} <= _pieces(question)
    )


def _without_emphasis(text: str) -> str:
    return _EMPHASIS.sub(lambda found: found[1] or found[3], text)


def _said(text: str, without: Collection[str]) -> set[str]:
    """The stems of the words of `text`."""
    return {stem for word in _WORD.findall(text.casefold()) if word not in without for stem in words(word)}


def _pieces(text: str) -> set[str]:
    """What stands between the white space of `text`, without a sentence's own marks where there is more."""
    return {piece.strip(_IN_SENTENCE) or piece for piece in _without_emphasis(text).split()}
