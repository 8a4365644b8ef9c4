"""Versions of files at other commits, and what is defined in them: each is parsed once."""

from collections import OrderedDict
from collections.abc import Hashable, Sized
from pathlib import PurePosixPath
from typing import Any

from devqa.pull_requests import LARGEST_SOURCE
from devqa.pull_requests.code.definitions import Read, grammar_of, read
from devqa.pull_requests.code.parsing import Lost, Parsers, Source
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.pinned import Pinned
from devqa.pull_requests.context.timeline import File
from devqa.pull_requests.repositories.repository import Repository

# What is kept in memory: bytes of contents, lines, and definitions with runs of quiet lines.
_KEPT_BYTES, _KEPT_LINES, _KEPT_DEFINITIONS = 64_000_000, 2_000_000, 2_000_000


class NotRead(Exception):
    """A version of a file that could not be parsed; the text says why. What is in it is not known."""


class Kept:
    """Values with a length, those that were asked for last, up to `most` of all lengths together."""

    def __init__(self, most: int):
        self._most = most
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()
        self._length = 0

    def get(self, key: Hashable) -> Any:
        """The value under `key`, None where it is not kept."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: Sized) -> None:
        """Keep a value under a new key."""
        self._values[key] = value
        self._length += len(value)
        while self._length > self._most:
            self._length -= len(self._values.popitem(last=False)[1])


class Versions:
    """The files of `repository` at any commit. What `pinned` knows of a content is taken from there.

    Args:
        parsers: of `found`.
    """

    def __init__(self, repository: Repository, pinned: Pinned, parsers: Parsers):
        self._repository = repository
        self._pinned = pinned
        self._parsers = parsers
        self._defined = Kept(_KEPT_DEFINITIONS)
        self._lost: dict[Hashable, str] = {}
        self._contents = Kept(_KEPT_BYTES)
        self._lines = Kept(_KEPT_LINES)

    def content(self, file: File) -> bytes:
        """What the file holds; nothing of one that is too large."""
        if not 0 <= file.size <= LARGEST_SOURCE:
            return b""
        content = self._contents.get(file.blob)
        if content is None:
            content = self._repository.content(file.blob)
            self._contents.put(file.blob, content)
        return content

    def lines(self, file: File) -> list[bytes]:
        """Its lines, without their ends; one empty line of a file that is too large."""
        lines = self._lines.get(file)
        if lines is None:
            lines = self.content(file).split(b"\n")
            self._lines.put(file, lines)
        return lines

    def grammar(self, file: File) -> str | None:
        """What the file is parsed with."""
        return grammar_of(file.path, self.content(file))

    def defined(self, file: File) -> Defined:
        """What is in a file; nothing in one that no grammar is for.

        Raises:
            NotRead: it can't be parsed.
        """
        key = (file.blob, PurePosixPath(file.path).suffix.lower())
        if key in self._lost:
            raise NotRead(self._lost[key])
        found = self._defined.get(key)
        if found is None:
            result = self._known(file) or self._parsed(file)
            if isinstance(result, Lost):
                self._lost[key] = result.reason
                raise NotRead(result.reason)
            found = result
            self._defined.put(key, found)
        return found

    def _known(self, file: File) -> Defined | None:
        path = self._pinned.path_of(file.blob)
        if path is None or PurePosixPath(path).suffix.lower() != PurePosixPath(file.path).suffix.lower():
            return None
        defined = self._pinned.file(path).defined
        # One without definitions may be one that was not read.
        return defined if defined.definitions else None

    def _parsed(self, file: File) -> Defined | Lost:
        source = Source(self.content(file), self.grammar(file))
        if source.grammar is None or not source.content:
            return Defined(())
        found = self._parsers.one(source)
        return found if isinstance(found, Lost) else Defined(*found)


def found(source: Source) -> Read:
    """What a process finds in one version."""
    return read(source.content, source.grammar)
