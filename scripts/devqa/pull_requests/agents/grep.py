"""Patterns that a model writes, and the lines of files that match them: in time linear in their length (RE2)."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import re2

from devqa.pull_requests.agents.checkout import Checkout

# Larger files are neither searched nor shown: no person has written them.
LARGEST_FILE = 5_000_000
_LONGEST_PATTERN = 500
# A file with a zero byte among so many is binary, as it is for git.
_LOOKED_AT = 8_000
# Bytes of a line that are shown: around a match, and before it.
_LONGEST_LINE, _BEFORE = 240, 80
_GAP = "…"
_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\[[!^]?[\w .-]+\]|.", re.DOTALL)
_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

error = re2.error


class Grep(NamedTuple):
    """Look for `pattern` in the file `path`, or in all files below the folder `path`."""

    pattern: str
    path: str = ""
    ignore_case: bool = False


class Line(NamedTuple):
    """A line that matches; `number` counts from 1, `text` is the part of it around the match."""

    path: str
    number: int
    text: str


def compiled(pattern: str, ignore_case: bool = False) -> Any:
    """`pattern`, ready to search with (https://github.com/google/re2/wiki/Syntax); no match of it spans two lines.

    Raises:
        error: it is none.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise error(f"it is longer than {_LONGEST_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(f"(?m){pattern}", options)
    except UnicodeEncodeError:
        raise error("it is no text") from None


def glob(pattern: str) -> Any:
    """A glob as a pattern for whole paths: `*` and `?` don't match a slash, `**` does; `[ab]` and `{a,b}` work too.

    Raises:
        error: it is none.
    """
    translated, depth = "", 0
    for part in _GLOB_PARTS.findall(pattern):
        if part == "{":
            depth += 1
            translated += "(?:"
        elif depth and part in ",}":
            depth -= part == "}"
            translated += ")" if part == "}" else "|"
        elif len(part) > 1 and part[0] == "[":
            translated += part.replace("[!", "[^", 1)
        else:
            translated += _WILD.get(part) or re2.escape(part)
    return compiled(translated)


def is_binary(content: bytes) -> bool:
    """Is it no text?"""
    return b"\0" in content[:_LOOKED_AT]


def search(checkout: Checkout, wanted: Sequence[Grep], most: int) -> list[list[Line]]:
    """The first `most` lines that match each of `wanted`, in the order of files; each file is read once for all.

    Binary files and those of more than 5 MB are passed over, and so is what can't be read.

    Raises:
        error: a pattern is none.
    """
    patterns = [compiled(each.pattern, each.ignore_case) for each in wanted]
    found: list[list[Line]] = [[] for _ in wanted]
    within = [frozenset(checkout.below(each.path)) if each.path else None for each in wanted]
    for path, file in checkout.files.items():
        looking = [
            number
            for number in range(len(wanted))
            if len(found[number]) < most and (within[number] is None or path in within[number])
        ]
        content = _text(checkout, path) if looking and file.size <= LARGEST_FILE else b""
        for number in looking if content else ():
            for line in lines(content, patterns[number], most - len(found[number])):
                found[number].append(Line(path, *line))
    return found


def lines(content: bytes, pattern: Any, most: int) -> list[tuple[int, str]]:
    """The first `most` lines of `content` with a match of `pattern`: their numbers from 1 on, and what is shown."""
    found: list[tuple[int, str]] = []
    position, number, counted = 0, 1, 0
    while len(found) < most and position < len(content):
        match = pattern.search(content, position)
        # After the last line end there is no line.
        if match is None or match.start() == len(content) > position and content.endswith(b"\n"):
            break
        start = content.rfind(b"\n", 0, match.start()) + 1
        end = content.find(b"\n", match.start())
        end = len(content) if end < 0 else end
        number += content.count(b"\n", counted, start)
        found.append((number, excerpt(content[start:end], match.start() - start)))
        counted, position = start, end + 1
    return found


def excerpt(line: bytes, at: int = 0) -> str:
    """`line` as text; of a long one the part around byte `at`."""
    if len(line) <= _LONGEST_LINE:
        return line.decode("utf-8", "replace")
    start = max(0, at - _BEFORE)
    end = start + _LONGEST_LINE
    text = line[start:end].decode("utf-8", "replace")
    return f"{_GAP if start else ''}{text}{_GAP if end < len(line) else ''}"


def _text(checkout: Checkout, path: str) -> bytes:
    """What is searched of a file; empty where that is nothing."""
    try:
        content = checkout.content(path)
    except OSError:
        return b""
    return b"" if is_binary(content) else content.replace(b"\r\n", b"\n")
