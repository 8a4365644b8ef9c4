"""Which definitions the changed lines of a file stand in."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from devqa.pull_requests.code.definitions import Definition

# A line outside of definitions that says nothing of its own: comments, imports, the package's name, guards.
_ASIDE = {
    "python": rb"#|import\b|from\b.*\bimport\b|__all__\b",
    "javascript": rb"//|import\b|export\s*(\*|\{)|(const|let|var)\s[^=]*=\s*require\s*\(|['\"]use ",
    "java": rb"//|import\b|package\b",
    "go": rb"//|import\b|package\b",
    "rust": rb"//|(pub(\(.*?\))?\s+)?(use|mod|extern\s+crate)\b|#!?\[",
    "c": rb"//|#\s*(include|if|ifdef|ifndef|else|elif|endif|pragma|undef)\b|using\b|class\s+\w+;|struct\s+\w+;",
    "csharp": rb"//|(global\s+)?using\b|namespace\b|#",
}
_ASIDE |= {"typescript": _ASIDE["javascript"], "tsx": _ASIDE["javascript"], "cpp": _ASIDE["c"]}
_ASIDES = {language: re.compile(rb"\s*(?:/\*.*\*/|" + pattern + rb")") for language, pattern in _ASIDE.items()}
# The first line of an import or a text of several lines, and what ends it.
_OPENED = {
    "python": [(rb"(?:from|import)\b[^#]*\(\s*(?:#.*)?$", rb"\)"), (rb"[rR]?\"\"\"(?!.*\"\"\")", rb"\"\"\"")],
    "javascript": [(rb"(?:import|export)\b(?:\s*type\b)?(?:\s*\w+\s*,)?\s*\{[^}]*$", rb"\}")],
    "go": [(rb"import\s*\(\s*$", rb"\)")],
    "rust": [(rb"(?:pub(?:\(.*?\))?\s+)?use\b[^;]*$", rb";")],
}
_OPENED |= {"typescript": _OPENED["javascript"], "tsx": _OPENED["javascript"]}
_COMMENT = (rb"/\*(?!.*\*/)", rb"\*/")
_OPENINGS = {
    grammar: [
        (re.compile(rb"\s*" + first), re.compile(last))
        for first, last in [*_OPENED.get(grammar, ()), *([] if grammar == "python" else [_COMMENT])]
    ]
    for grammar in _ASIDE
}
_WORD = re.compile(rb"\w")


class Touched(NamedTuple):
    """Changed lines `first` to `last`, and the index of the innermost definition that they stand in; None: the file."""

    index: int | None
    first: int
    last: int


class Outline:
    """A version of a file: which definition each line belongs to, and which lines say nothing of their own."""

    def __init__(self, lines: Sequence[bytes], definitions: Sequence[Definition], grammar: str):
        self.lines = lines
        self._owners: list[int | None] = [None] * len(self.lines)
        # Outer ones come first, so that inner ones are written over them.
        for index, each in enumerate(definitions):
            here = slice(each.start_line - 1, min(each.end_line, len(self.lines)))
            self._owners[here] = [index] * len(self._owners[here])
        self._aside = _aside(self.lines, grammar)

    def touched(self, first: int, last: int) -> list[Touched]:
        """The definitions in which lines `first` to `last` (from 1) stand, in the order of their first lines.

        Lines without a word, such as brackets, belong to what is around them: they count only where nothing else
        changed. Lines outside of definitions that are comments or imports count nowhere.
        """
        lines = range(max(first, 1), min(last, len(self.lines)) + 1)
        telling = [line for line in lines if _WORD.search(self.lines[line - 1])]
        telling = telling or [line for line in lines if self.lines[line - 1].strip()]
        spans: dict[int | None, list[int]] = {}
        for line in telling:
            owner = self._owners[line - 1]
            if owner is not None or line - 1 not in self._aside:
                spans.setdefault(owner, [line, line])[1] = line
        return [Touched(owner, *span) for owner, span in spans.items()]


def _aside(lines: Sequence[bytes], grammar: str) -> set[int]:
    """The indices of lines that are comments or imports, if they stand outside of definitions."""
    found, closing = set(), None
    for index, line in enumerate(lines):
        if closing:
            found.add(index)
            if closing.search(line):
                closing = None
        elif opened := next((last for first, last in _OPENINGS[grammar] if first.match(line)), None):
            found.add(index)
            closing = opened
        elif _ASIDES[grammar].match(line) or not _WORD.search(line):
            found.add(index)
    return found
