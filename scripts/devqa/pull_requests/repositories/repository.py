"""A repository as it is stored: its files at any commit, and what commits changed. Nothing of it is executed.

Only its objects are read: no configuration, attributes, hooks, index or working tree. So the same commits give the same
result in any clone, whoever owns it.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

from devqa.errors import UserError
from devqa.pull_requests import LARGEST_SOURCE
from devqa.pull_requests.repositories.cloning import cloned
from devqa.pull_requests.repositories.commits import Commit, is_commit, parsed
from devqa.pull_requests.repositories.renames import renames
from devqa.pull_requests.repositories.trees import Difference, Node, Trees

# Commits whose parents are kept: some ten megabytes.
_MOST_PARENTS = 200_000
# Categories of Unicode that show nothing or change how others are shown: controls, formats, separators, surrogates.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Entry(NamedTuple):
    """A file, link or submodule (`kind`) of a tree.

    `path` is what it is called in tables and prompts (`printable`), `raw` as it is stored. `blob` is what it holds (of
    a submodule: its commit), `size` that many bytes; -1 where the clone lacks it.
    """

    path: str
    raw: bytes
    kind: str
    blob: str
    size: int


class Hunk(NamedTuple):
    """Lines that changed, without context, counting from 1. Where there are 0 lines, start is the line before."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class RawChange(NamedTuple):
    """What became of a file: `status` is added, deleted, modified, renamed, or type (a file that became a link, …)."""

    status: str
    old: Entry | None
    new: Entry | None


class FileChange(NamedTuple):
    """The same with its hunks and the lines in them. A `binary` file has none, nor has one that is too large."""

    status: str
    old: Entry | None
    new: Entry | None
    hunks: tuple[Hunk, ...]
    added: int
    deleted: int
    binary: bool


class Step(NamedTuple):
    """A commit of the mainline and what it changed."""

    commit: str
    changes: list[RawChange]


class Missing(UserError):
    """The clone lacks something that it should have."""


@contextmanager
def open_repository(origin: Mapping[str, str], commit: str, cache: Path, offline: bool) -> Iterator["Repository"]:
    """The repository at `origin`, pinned to `commit` ("": what its HEAD is at).

    Args:
        origin: `label`, `path`, `url` and `name` of the configuration.
        cache: the folder of clones, of addresses and bundles; one that is missing is made.
        offline: nothing is fetched.

    Raises:
        UserError: there is no such repository or commit, or it can't be fetched.
    """
    clone = cloned(origin, commit, cache, offline)
    repository = Repository(clone.git.odb, clone.commit, origin["label"])
    try:
        yield repository
    finally:
        repository.close()
        clone.git.free()


def open_named(
    origins: Mapping[str, Mapping[str, str]], label: str, commit: str, cache: Path, offline: bool
) -> AbstractContextManager["Repository"]:
    """The same, of the repository that is called `label` in `origins`.

    Raises:
        UserError: it is none of them, such as where a table is about one that the configuration has no more.
    """
    if label not in origins:
        raise UserError(f"pull_requests.repositories: '{label}' is not there, but a table is about it: make it again")
    return open_repository(origins[label], commit, cache, offline)


class Repository:
    """A repository that is pinned to `commit`. For one thread; other processes open their own.

    Its methods raise `Missing` where the clone lacks an object.
    """

    def __init__(self, odb: pygit2.Odb, commit: str, label: str):
        self.commit = commit
        self._label = label
        self._odb = odb
        self._trees = Trees(lambda id: self._read(id, ObjectType.TREE))
        self._root = lru_cache(10_000)(self._root_of)
        self._parents = lru_cache(_MOST_PARENTS)(lambda id: self.read_commit(id).parents)

    def close(self) -> None:
        """Let go of what is stored: nothing can be read any more."""
        del self._odb

    def files(self, commit: str | None = None) -> Iterator[Entry]:
        """All entries of the tree at `commit` (without one, the pinned commit), sorted by raw path. Names that lead out
        of the tree or into git's own folder are left out.
        """
        for path, node in self._trees.walk(self._root(commit or self.commit)):
            yield self._entry(path, node)

    def content(self, blob: str) -> bytes:
        """What a file holds; of a link, where it leads."""
        return self._read(bytes.fromhex(blob), ObjectType.BLOB)

    def difference(self, base: str, head: str) -> list[FileChange]:
        """What changed between two commits, sorted by path, with hunks; `base` "" is an empty tree."""
        return [self.compared(change) for change in self.changes(base, head)]

    def changes(self, base: str, head: str) -> list[RawChange]:
        """What changed between two commits, sorted by path; `base` "" is an empty tree. Renames are found, copies not.

        Modes do not count.
        """
        differences = list(self._trees.differences(self._root(base) if base else None, self._root(head)))
        moved = renames(differences, self._size, lambda id: self._read(id, ObjectType.BLOB))
        left = {old.path for old in moved.values()}
        return [self._change(each, moved.get(each.path)) for each in differences if each.path not in left]

    def mainline(self) -> list[str]:
        """The pinned commit's first parents, oldest first, it itself last. In a shallow clone those that are there."""
        return list(self._positions)

    def landing(self, commit: str) -> str | None:
        """The commit of the mainline with which `commit` came onto it; None where it is not on the way there."""
        return commit if commit in self._positions else self._landings.get(commit)

    def steps(self, after: str) -> Iterator[Step]:
        """What each commit of the mainline changed after `after`. If that is not on the mainline itself, the first step
        goes from it to the commit with which it came there.

        Raises:
            ValueError: `after` is not on the way to the pinned commit.
        """
        if (landing := self.landing(after)) is None:
            raise ValueError(f"{after} is not on the way to {self.commit}")
        previous = after
        for commit in self.mainline()[self._positions[landing] + (landing == after) :]:
            yield Step(commit, self.changes(previous, commit))
            previous = commit

    def read_commit(self, id: str) -> Commit:
        """A commit by its 40 hex digits."""
        try:
            kind, stored = self._odb.read(id)
        except (KeyError, ValueError, pygit2.GitError):
            raise self._missing(f"commit {id}") from None
        commit = parsed(id, stored) if kind == ObjectType.COMMIT else None
        if commit is None:
            raise self._missing(f"commit {id}")
        return commit

    def has_commit(self, id: str) -> bool:
        """Is it in the clone?"""
        return is_commit(self._odb, id)

    def merge_base(self, one: str, other: str) -> str | None:
        """The last commit that both come from, the newest one if there are several; None where there is none."""
        sides = self._ancestors(one), self._ancestors(other)
        common = sides[0] & sides[1]
        last = common.difference(chain.from_iterable(map(self._parents, common)))
        if not last and any(id not in self._odb for side in sides for each in side for id in self._parents(each)):
            raise self._missing(f"a commit on the way to {one} or {other}")
        return max(last, key=lambda id: (self.read_commit(id).time, id), default=None)

    def brought(self, landing: str) -> list[Commit]:
        """The commits that came onto the mainline with `landing`, oldest first, without it."""
        ids = [id for id in self._brought.get(landing, ()) if id != landing]
        return sorted(map(self.read_commit, ids), key=lambda commit: (commit.time, commit.id))

    @cached_property
    def _positions(self) -> dict[str, int]:
        line, next_id = [], self.commit
        while next_id is not None:
            line.append(next_id)
            next_id = next((id for id in self._parents(next_id)[:1] if id in self._odb), None)
        return {commit: number for number, commit in enumerate(reversed(line))}

    @cached_property
    def _landings(self) -> dict[str, str]:
        """The landing of each commit on the way to the pinned one."""
        landings: dict[str, str] = {}
        for landing in self.mainline():
            pending = [landing]
            while pending:
                commit = pending.pop()
                if commit not in landings:
                    landings[commit] = landing
                    pending += [id for id in self._parents(commit) if id in self._odb]
        return landings

    @cached_property
    def _brought(self) -> dict[str, list[str]]:
        brought: dict[str, list[str]] = {}
        for id, landing in self._landings.items():
            brought.setdefault(landing, []).append(id)
        return brought

    def _ancestors(self, commit: str) -> set[str]:
        """A commit and all that it comes from, as far as they are in the clone."""
        found, pending = set(), [commit]
        while pending:
            each = pending.pop()
            if each not in found:
                found.add(each)
                pending += [id for id in self._parents(each) if id in self._odb]
        return found

    def _root_of(self, commit: str) -> bytes:
        return bytes.fromhex(self.read_commit(commit).tree)

    def _read(self, id: bytes, kind: ObjectType) -> bytes:
        try:
            found, content = self._odb.read(pygit2.Oid(raw=id))
        except (KeyError, pygit2.GitError):
            raise self._missing(f"object {id.hex()}") from None
        # A tree may say anything of what it names.
        return content if found == kind else b""

    def _size(self, id: bytes) -> int:
        try:
            return self._odb.read_header(pygit2.Oid(raw=id))[1]
        except (KeyError, pygit2.GitError):
            return -1

    def _missing(self, what: str) -> Missing:
        return Missing(
            f"pull_requests.repositories.{self._label}: the clone lacks {what}. If it is shallow or partial, make it "
            "whole (git fetch --unshallow, git fetch --refetch --no-filter), else see what git fsck says of it"
        )

    def _entry(self, raw: bytes, node: Node) -> Entry:
        size = 0 if node.kind == "submodule" else self._size(node.id)
        return Entry(printable(raw), raw, node.kind, node.id.hex(), size)

    def _change(self, new: Difference, moved: Difference | None) -> RawChange:
        old_path, old = (moved.path, moved.old) if moved else (new.path, new.old)
        before, after = old and self._entry(old_path, old), new.new and self._entry(new.path, new.new)
        if moved:
            return RawChange("renamed", before, after)
        if not before or not after:
            return RawChange("added" if after else "deleted", before, after)
        return RawChange("modified" if before.kind == after.kind else "type", before, after)

    def compared(self, change: RawChange) -> FileChange:
        """A change with its hunks."""
        sides = [entry for entry in (change.old, change.new) if entry]
        if any(entry.size > LARGEST_SOURCE for entry in sides):
            return FileChange(*change, (), 0, 0, True)
        texts = [self.content(entry.blob) if entry and entry.kind == "file" else b"" for entry in change[1:]]
        # As git has it.
        flag = pygit2.enums.DiffOption.INDENT_HEURISTIC
        patch = pygit2.Patch.create_from(*texts, flag=flag, context_lines=0, interhunk_lines=0)
        if patch.delta.is_binary:
            return FileChange(*change, (), 0, 0, True)
        hunks = tuple(Hunk(h.old_start, h.old_lines, h.new_start, h.new_lines) for h in patch.hunks)
        return FileChange(
            *change, hunks, sum(hunk.new_lines for hunk in hunks), sum(hunk.old_lines for hunk in hunks), False
        )


def printable(raw: bytes) -> str:
    """A raw path as text. What is no UTF-8 or shows nothing is \\xNN, and so is a backslash: no two paths are alike."""
    text = raw.decode("utf-8", "surrogateescape")
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(
        "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))
        if letter == "\\" or unicodedata.category(letter) in _UNSEEN
        else letter
        for letter in text
    )
