"""Which definitions the changed lines of a file stand in."""

from collections.abc import Sequence
from typing import NamedTuple

from devqa.pull_requests.code.likeness import has_word
from devqa.pull_requests.context.defined import Defined


class Touched(NamedTuple):
    """Changed lines `first` to `last`, and the index of the innermost definition that they stand in; None: the file."""

    index: int | None
    first: int
    last: int


class Outline:
    """A version of a file: which definition each line belongs to, and which lines say nothing of their own."""

    def __init__(self, lines: Sequence[bytes], defined: Defined):
        self.lines = lines
        self._owners: list[int | None] = [None] * len(lines)
        # Outer ones come first, so that inner ones are written over them.
        for index, each in enumerate(defined.definitions):
            here = slice(each.start_line - 1, min(each.end_line, len(lines)))
            self._owners[here] = [index] * len(self._owners[here])
        self._quiet = bytearray(len(lines))
        for first, last in defined.quiet:
            self._quiet[first - 1 : last] = b"\1" * (last + 1 - first)

    def touched(self, first: int, last: int) -> list[Touched]:
        """The definitions in which lines `first` to `last` (from 1) stand, in the order of their first lines.

        Lines without a word, such as brackets, belong to what is around them: they count only where nothing else
        changed. Lines outside of definitions that are comments or imports count nowhere.
        """
        lines = range(max(first, 1), min(last, len(self.lines)) + 1)
        telling = [line for line in lines if has_word(self.lines[line - 1])]
        telling = telling or [line for line in lines if self.lines[line - 1].strip()]
        spans: dict[int | None, list[int]] = {}
        for line in telling:
            if not self._quiet[line - 1]:
                spans.setdefault(self._owners[line - 1], [line, line])[1] = line
        return [Touched(owner, *span) for owner, span in spans.items()]
