"""The pinned version of a repository → blocks: each file, and every definition in it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from devqa import tokens
from devqa.pull_requests import LARGEST_SOURCE
from devqa.pull_requests.code.definitions import (
    Definition,
    Read,
    grammar_of,
    language_of,
    language_of_grammar,
    node_id,
    read,
)
from devqa.pull_requests.code.parsing import Lost, Parsers, Source
from devqa.pull_requests.listing import filters
from devqa.pull_requests.repositories.repository import Entry, Repository
from devqa.steps.outcomes import OK, failed, rejected
from devqa.tables import Row

# Files that are read, though no pull request is taken for them: code rests on them, and agents find them.
_READ = {filters.CODE, "test", "documentation"}


class Measured(NamedTuple):
    """A file that was read: its lines, its tokens, its definitions with theirs, and its quiet lines (`Read`)."""

    lines: int
    tokens: int
    definitions: list[tuple[Definition, int]]
    quiet: list[tuple[int, int]]


def blocks(repository: Repository, languages: Iterable[str], ignore: list[str], parsers: Parsers) -> Iterator[Row]:
    """Rows of table `blocks`, as they are needed: for each file one of kind `file`, then those of its definitions.

    Files are sorted as git sorts them. What is in none of `languages` has no definitions. A file that is not read is
    rejected with the reason. Files with the same content are parsed once.

    Args:
        parsers: of `measured`.
    """
    wanted = set(languages)
    repeated = _repeated(repository)
    kept: dict[tuple[str, str | None], Any] = {}
    for (entry, grammar, reason), result in parsers.each(_sources(repository, wanted, ignore, repeated)):
        key = (entry.blob, grammar)
        if entry.blob in repeated and not reason:
            result = kept.setdefault(key, result)
        yield from _rows(entry, grammar, reason, result)


def measured(source: Source) -> Measured:
    """What a process finds in one file."""
    lines = source.content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    found, quiet = read(source.content, source.grammar) if source.grammar else Read([], [])
    sizes = [_tokens(lines[each.start_line - 1 : each.end_line]) for each in found]
    return Measured(len(lines), _tokens(lines), list(zip(found, sizes, strict=True)), quiet)


def _tokens(lines: list[bytes]) -> int:
    return tokens.estimate(b"\n".join(lines).decode("utf-8", "replace"))


def _repeated(repository: Repository) -> set[str]:
    """Blobs that several files have."""
    seen: set[bytes] = set()
    again: set[str] = set()
    for entry in repository.files():
        blob = bytes.fromhex(entry.blob)
        if blob in seen:
            again.add(entry.blob)
        seen.add(blob)
    return again


def _sources(
    repository: Repository, languages: set[str], ignore: list[str], repeated: set[str]
) -> Iterator[tuple[tuple[Entry, str | None, str], Source]]:
    """Each file with its grammar, why it is not read, and its content. What is not read, or was before, is empty."""
    nothing, before = Source(b"", None), set()
    for entry in repository.files():
        if reason := _unread(entry):
            yield (entry, None, reason), nothing
            continue
        content = repository.content(entry.blob)
        counted = filters.counts_as(entry.path, content[: filters.HEAD_BYTES], ignore)
        if counted not in _READ or not content:
            yield (entry, None, counted if content else "empty"), nothing
            continue
        grammar = grammar_of(entry.path, content)
        known = (entry.blob, grammar) in before
        if entry.blob in repeated:
            before.add((entry.blob, grammar))
        parsed_with = grammar if grammar and language_of_grammar(grammar) in languages else None
        yield (entry, grammar, ""), nothing if known else Source(content, parsed_with)


def _unread(entry: Entry) -> str:
    """Why a file is not even looked into, "" if it may be read."""
    if entry.kind != "file":
        return entry.kind
    if entry.size < 0:
        return "not in the clone"
    return f"too large: {entry.size} bytes" if entry.size > LARGEST_SOURCE else ""


def _rows(entry: Entry, grammar: str | None, reason: str, result: Measured | Lost) -> Iterator[Row]:
    language = language_of_grammar(grammar) if grammar else language_of(entry.path) or ""
    common = {"path": entry.path, "language": language, "blob": entry.blob}
    whole = {**common, "node": node_id("", entry.path), "kind": "file"}
    if reason:
        yield whole | rejected(reason)
        return
    if isinstance(result, Lost):
        yield whole | failed(result.reason)
        return
    quiet = list(chain.from_iterable(result.quiet))
    yield whole | {"start_line": 1, "end_line": result.lines, "tokens": result.tokens, "quiet": quiet, **OK}
    for each, size in result.definitions:
        yield {
            **common,
            "node": node_id(each.name, entry.path),
            "kind": each.kind,
            "start_line": each.start_line,
            "end_line": each.end_line,
            "tokens": size,
            **OK,
        }
