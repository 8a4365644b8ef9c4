"""Repositories that tests make entry by entry, so that names may be what no git writes; and questions about them."""

from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pygit2

from devqa.pull_requests.agents.checkout import Checkout, checkout
from devqa.pull_requests.repositories.repository import open_repository

LABEL = "shop"


class Link(bytes):
    """A symbolic link, and where it leads."""


class Submodule(bytes):
    """A submodule, and the commit (20 bytes) that it is at."""


# A file, a link, a submodule, or a folder; or a list of pairs where one name comes twice.
Content = bytes | Mapping[bytes, Any] | list[tuple[bytes, Any]]


def store(folder: Path, files: Content) -> dict[str, str]:
    """Make a bare repository with one commit in `folder`; returns its origin."""
    repository = pygit2.init_repository(folder, bare=True, initial_head="main")
    tree = pygit2.Oid(_written(repository, files)[1])
    person = pygit2.Signature("Ann", "ann@example.com", 1_700_000_000, 0)
    repository.create_commit("refs/heads/main", person, person, "All of it", tree, [])
    return {"label": LABEL, "path": str(folder), "url": "", "name": "acme/shop"}


@contextmanager
def opened(folder: Path, files: Content):
    """The repository, open."""
    with open_repository(store(folder / "repository", files), "", folder / "cache", offline=True) as repository:
        yield repository


def checked_out(folder: Path, files: Content) -> Checkout:
    """A checkout of such a repository."""
    with opened(folder, files) as repository:
        return checkout(repository, LABEL, folder / "cache")


def question(number: int, origin: Mapping[str, str], commit: str, **more: Any) -> dict[str, Any]:
    """What a row of table `repository_questions` says of a question about the repository."""
    text = f"What of discount {number}?"
    own = {"id": f"q{number}", "repository": origin["label"], "name": origin["name"], "commit": commit}
    return {**own, "question": text, "answer": f"True answer {number}.", "nodes": [], "context": [], **more}


def commit_of(origin: Mapping[str, str]) -> str:
    """The commit that the repository is at."""
    return str(pygit2.Repository(origin["path"]).head.target)


def _written(repository: pygit2.Repository, content: Content) -> tuple[bytes, bytes]:
    """The mode of what is written, and its 20 bytes."""
    if isinstance(content, Submodule):
        return b"160000", bytes(content)
    if isinstance(content, bytes):
        mode = b"120000" if isinstance(content, Link) else b"100644"
        return mode, repository.create_blob(bytes(content)).raw
    entries = content if isinstance(content, list) else content.items()
    stored = [(name, *_written(repository, each)) for name, each in entries]
    stored.sort(key=lambda each: each[0] + (b"/" if each[1] == b"40000" else b""))
    tree = b"".join(mode + b" " + name + b"\0" + id for name, mode, id in stored)
    return b"40000", repository.odb.write(pygit2.enums.ObjectType.TREE, tree).raw
