"""Documents cut into numbered sentences, so that a model can cite what it rests on by number."""

import re
from collections.abc import Sequence

from devqa.text import plain

# After a full stop in scripts with spaces, and after one in those without.
_END = re.compile(r"(?<=[.!?…])\s+(?=[^\W\d_a-z]|[\"'“«`(\[])|(?<=[。！？；])")
# A shorter piece supports nothing: a word alone, a closing bracket.
_LEAST = 8


def numbered(texts: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """`texts` with a number before every sentence, and the sentences in the order of their numbers, which begin with 1.

    Each sentence comes with the number of its text, beginning with 1 too. Every line of code is a sentence.
    Headings and what is too short to support anything have no number.
    """
    shown, sentences = [], []
    for text_number, text in enumerate(texts, 1):
        lines = []
        for line in text.splitlines():
            pieces = []
            for piece in _END.split(line):
                if len(plain(piece)) >= _LEAST and not line.startswith("#"):
                    sentences.append((text_number, piece.strip()))
                    piece = f"[{len(sentences)}] {piece}"
                pieces.append(piece)
            lines.append(" ".join(pieces))
        shown.append("\n".join(lines))
    return shown, sentences
