"""Documents cut into numbered sentences, so that a model can cite what it rests on by number."""

import re
from collections.abc import Callable, Sequence

from devqa.text import plain

# After a full stop in scripts with spaces, and after one in those without.
_END = re.compile(r"(?<=[.!?…])\s+(?=[^\W\d_a-z]|[\"'“«`(\[])|(?<=[。！？；])")
# A shorter piece supports nothing: a word alone, a closing bracket.
_LEAST = 8


def pieces(line: str) -> list[str]:
    """The sentences of a line; all of it where it has no more than one, as a line of code."""
    return _END.split(line)


def says_something(piece: str) -> bool:
    """Is a piece of a line long enough to state a fact?"""
    return len(plain(piece)) >= _LEAST


def numbered(texts: Sequence[str], stands: Callable[[int, str], object]) -> tuple[list[str], list[tuple[int, str]]]:
    """`texts` with a number before every sentence, and the sentences in the order of their numbers, which begin with 1.

    Each sentence comes with the number of its text, beginning with 1 too. Every line of code is a sentence.
    Headings, what is too short to support anything, and that of which `stands` (given both) is not true have no number.
    """
    shown, sentences = [], []
    for text_number, text in enumerate(texts, 1):
        lines = []
        for line in text.splitlines():
            parts = []
            for piece in pieces(line):
                sentence = piece.strip()
                if says_something(piece) and not line.startswith("#") and stands(text_number, sentence):
                    sentences.append((text_number, sentence))
                    piece = f"[{len(sentences)}] {piece}"
                parts.append(piece)
            lines.append(" ".join(parts))
        shown.append("\n".join(lines))
    return shown, sentences
