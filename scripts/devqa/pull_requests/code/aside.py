"""Lines of a source file that say nothing of their own: comments, imports and the like, outside of definitions."""

import re
from collections.abc import Iterable
from itertools import groupby

from tree_sitter import Node

from devqa.pull_requests.code.likeness import has_word

# It goes on behind a backslash.
_LINE = re.compile(rb"(?:\\\r?\n|[^\n])*+")
_BLANK = bytes(byte if byte == ord("\n") else ord(" ") for byte in range(256))


def quiet(
    content: bytes, asides: Iterable[Node], directives: Iterable[Node], owned: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Runs of lines that have no word outside of the nodes `asides`; first and last ones, counting from 1.

    Args:
        directives: nodes that belong to these with the rest of their line.
        owned: first and last lines of definitions, counting from 0. In these all lines say something.
    """
    left, reached = bytearray(content), 0
    places = [(node.start_byte, node.end_byte, False) for node in asides]
    places += [(node.start_byte, node.end_byte, True) for node in directives]
    # In this order, since in hostile files each may hold all the others.
    for begin, end, to_end_of_line in sorted(places):
        if to_end_of_line and begin >= reached:
            end = _LINE.match(content, begin).end()
        here = slice(max(begin, reached), max(end, reached))
        left[here] = left[here].translate(_BLANK)
        reached = here.stop
    telling = bytearray(map(has_word, left.split(b"\n")))
    for first, last in owned:
        telling[first : last + 1] = b"\1" * (last + 1 - first)
    runs, line = [], 1
    for tells, those in groupby(telling):
        next_line = line + sum(1 for _ in those)
        if not tells:
            runs.append((line, next_line - 1))
        line = next_line
    return runs
