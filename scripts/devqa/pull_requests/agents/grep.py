"""Patterns that a model writes, and the lines of files that match them, within a bound of work.

RE2's time is linear in the text, and in the size of the program that a pattern becomes. What a search may take is
reckoned in both, and not by a clock: it finds the same on every machine, so that the conversation in which it was
called is read from the cache.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import re2

from devqa.pull_requests.agents.checkout import Checkout

# Larger files are neither searched nor shown: no person has written them.
LARGEST_FILE = 5_000_000
_LONGEST_PATTERN = 500
# Steps of a pattern's program. Most have fewer than a hundred, and `\pL{1,3}` has 3,600.
_LARGEST_PROGRAM = 4_000
# Bytes that a pattern may take, for each direction in which it is run; all those of a round are in memory together.
_MOST_MEMORY = 1 << 20
# Steps times bytes: of a whole search, and of what is searched without a look at signals. Each takes 5 ns of code at
# worst (measured with made-up patterns), and a hundredth of that as a rule.
_MOST_WORK = 20_000_000_000
_WORK_AT_ONCE = 500_000_000
# A file with a zero byte among so many is binary, as it is for git.
_LOOKED_AT = 8_000
# Characters of a line that are shown: around a match, and before it.
_LONGEST_LINE, _BEFORE = 240, 80
_GAP = "…"
_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\[[!^]?[\w .-]+\]|.", re.DOTALL)
_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

_TOO_COMPLEX = "it is too complex: take fewer or shorter repeats, such as {1,9}, or look for plain words"

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


class Found(NamedTuple):
    """What a search has found. Not `whole`: it would have taken too much work to search everything."""

    lines: list[Line]
    whole: bool


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
    # Nobody asks what a group has matched, and without groups the slowest patterns take a thirtieth of the time.
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    options.case_sensitive = not ignore_case
    try:
        found = re2.compile(f"(?m){pattern}", options)
    except UnicodeEncodeError:
        raise error("it is no text") from None
    except error as fault:
        raise error(_TOO_COMPLEX) if b"too large" in fault.args[0] else fault from None
    if found.programsize > _LARGEST_PROGRAM:
        raise error(_TOO_COMPLEX)
    return found


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


def search(checkout: Checkout, wanted: Sequence[Grep], most: int) -> list[Found]:
    """The first `most` lines that match each of `wanted`, in the order of files; each file is read once for all.

    Binary files and those of more than 5 MB are passed over, and so is what can't be read.

    Raises:
        error: a pattern is none.
    """
    searches = [_Search(compiled(each.pattern, each.ignore_case), most) for each in wanted]
    below: defaultdict[str, list[_Search]] = defaultdict(list)
    for each, one in zip(wanted, searches, strict=True):
        below[each.path].append(one)
    for path, file in checkout.files.items():
        looking = [one for place in _places(path) for one in below.get(place, ()) if one.goes_on]
        content = _text(checkout, path) if looking and file.size <= LARGEST_FILE else b""
        for one in looking if content else ():
            one.look(path, content)
    return [Found(one.lines, one.whole) for one in searches]


def _places(path: str) -> Iterator[str]:
    """The file `path`, and the folders that it is in, up to the root."""
    yield path
    while path:
        path = path.rpartition("/")[0]
        yield path


class _Search:
    """One of several patterns on its way through the files, until it has found `most` lines or worked enough."""

    def __init__(self, pattern: Any, most: int):
        self.lines: list[Line] = []
        self.whole = True
        self._pattern, self._most = pattern, most
        self._left = _MOST_WORK

    @property
    def goes_on(self) -> bool:
        return len(self.lines) < self._most and self._left > 0

    def look(self, path: str, content: bytes) -> None:
        """Look for lines in the next file. A line that would hold up everything else is passed over."""
        steps = self._pattern.programsize
        at_once = _WORK_AT_ONCE // steps
        self._left -= steps * len(content)
        self.whole = self.whole and self._left > 0
        for start, end in pieces(content, at_once) if self._left > 0 else ():
            if end - start > at_once:
                self.whole = False
                continue
            for line in lines(content, self._pattern, self._most - len(self.lines), start, end):
                self.lines.append(Line(path, *line))


def pieces(content: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Where pieces of whole lines begin and end: of at most `most` bytes each, or of one line that is longer."""
    start = 0
    while start < len(content):
        end = len(content)
        if end - start > most:
            end = content.rfind(b"\n", start, start + most) + 1 or content.find(b"\n", start + most) + 1 or end
        yield start, end
        start = end


def lines(content: bytes, pattern: Any, most: int, start: int = 0, end: int | None = None) -> list[tuple[int, str]]:
    """The first `most` lines of `content` with a match of `pattern`: their numbers from 1 on, and what is shown.

    Args:
        start, end: only lines from byte `start` to byte `end` are looked at; they are whole ones.
    """
    found: list[tuple[int, str]] = []
    end = len(content) if end is None else end
    # After the last line end there is no line.
    last = end - content.endswith(b"\n", start, end)
    number, counted = 1, 0
    while len(found) < most and start < end:
        match = pattern.search(content, start, last)
        if match is None:
            break
        line_start = content.rfind(b"\n", 0, match.start()) + 1
        line_end = content.find(b"\n", match.start(), end)
        line_end = end if line_end < 0 else line_end
        number += content.count(b"\n", counted, line_start)
        found.append((number, excerpt(content[line_start:line_end], match.start() - line_start)))
        counted, start = line_start, line_end + 1
    return found


def excerpt(line: bytes, at: int = 0) -> str:
    """`line` as text; of a long one the part around byte `at`."""
    text = line.decode("utf-8", "replace")
    if len(text) <= _LONGEST_LINE:
        return text
    start = max(0, len(line[:at].decode("utf-8", "replace")) - _BEFORE)
    end = start + _LONGEST_LINE
    return f"{_GAP if start else ''}{text[start:end]}{_GAP if end < len(text) else ''}"


def _text(checkout: Checkout, path: str) -> bytes:
    """What is searched of a file; empty where that is nothing."""
    try:
        content = checkout.content(path)
    except OSError:
        return b""
    return b"" if is_binary(content) else content.replace(b"\r\n", b"\n")
