"""Repositories that tests write object by object, so that anything may be in them."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

from devqa.pull_requests.repositories.repository import Repository

Content = "bytes | str | Link | Submodule | Object | Mapping[bytes | str, Content]"
START = 1_700_000_000


class Link(NamedTuple):
    """A symbolic link."""

    target: bytes


class Submodule(NamedTuple):
    """Another repository at a commit."""

    commit: str


class Object(NamedTuple):
    """An object that is there already, or not, as a file or a folder."""

    id: str
    mode: bytes = b"100644"


class Made:
    """A bare repository at `folder`. Commits are an hour apart."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.git = pygit2.init_repository(str(folder), bare=True, initial_head="main")
        self._hours = itertools.count()

    def commit(
        self,
        files: Mapping,
        message: str = "Change it",
        parents: Sequence[str] | None = None,
        author: str = "Ann",
        branch: str = "main",
    ) -> str:
        """A commit of just these files: a name, or a path as a text, → what it holds. It is the tip of `branch`."""
        reference = f"refs/heads/{branch}"
        if parents is None:
            parents = [str(self.git.references[reference].target)] if reference in self.git.references else []
        person = pygit2.Signature(author, "ann@zoo.example", START + 3_600 * next(self._hours))
        tree = self.tree(_nested(files))
        commit = self.git.create_commit(None, person, person, message, pygit2.Oid(hex=tree), list(parents))
        self.git.references.create(reference, commit, force=True)
        return str(commit)

    def odd_commit(
        self, files: Mapping, headers: Sequence[bytes], parents: Sequence[str] = (), message: bytes = b"Odd"
    ):
        """A commit with just these headers behind its tree and its parents. It is the tip of main."""
        tree = self.tree(_nested(files))
        lines = [f"tree {tree}".encode(), *(f"parent {parent}".encode() for parent in parents), *headers]
        commit = str(self.git.odb.write(ObjectType.COMMIT, b"\n".join(lines) + b"\n\n" + message))
        self.git.references.create("refs/heads/main", commit, force=True)
        return commit

    def tree(self, files: Mapping) -> str:
        """The id of a stored tree, in the order of `files`."""
        entries = []
        for name, content in files.items():
            mode, id = self._stored(content)
            raw = name.encode() if isinstance(name, str) else name
            entries.append((raw + b"/" * (mode == b"40000"), mode + b" " + raw + b"\0" + bytes.fromhex(id)))
        return str(self.git.odb.write(ObjectType.TREE, b"".join(stored for _, stored in sorted(entries))))

    def blob(self, content: bytes | str) -> str:
        """The id of stored content."""
        return str(self.git.create_blob(content.encode() if isinstance(content, str) else content))

    def opened(self, commit: str = "") -> Repository:
        """The repository, pinned to `commit`; without one, to the tip of main."""
        return Repository(self.git.odb, commit or str(self.git.head.target), "made")

    def _stored(self, content) -> tuple[bytes, str]:
        match content:
            case Link():
                return b"120000", self.blob(content.target)
            case Submodule():
                return b"160000", content.commit
            case Object():
                return content.mode, content.id
            case Mapping():
                return b"40000", self.tree(content)
        return b"100644", self.blob(content)


def _nested(files: Mapping) -> dict:
    """Paths that are texts, as folders in folders; names that are bytes stay as they are."""
    nested: dict = {}
    for path, content in files.items():
        *folders, name = path.split("/") if isinstance(path, str) else [path]
        folder = nested
        for each in folders:
            folder = folder.setdefault(each, {})
        folder[name] = content
    return nested
