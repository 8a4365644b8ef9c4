"""The version of a repository that questions are about, where that is a clone or a bundle on this machine."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from devqa.errors import UserError

if TYPE_CHECKING:
    import pygit2

# https://git-scm.com/docs/gitformat-bundle
_SIGNATURE = re.compile(rb"# v[23] git bundle\n")
_REFERENCE = re.compile(rb"([0-9a-f]{40}) (.+)\n")
_LONGEST_LINE = 10_000


class Bundle(NamedTuple):
    """What a bundle begins with: its refs by name, with their commits, and the bytes that say so."""

    refs: Mapping[str, str]
    beginning: bytes


def pinned(label: str, path: str, commit: str) -> str:
    """The commit (40 hex digits) that the configuration pins, or that a clone or bundle at `path` is at now; "" where
    only the clone of an address will tell.

    Raises:
        UserError: there is no repository at `path`, or it is at no commit.
    """
    if commit or not path:
        return commit
    if Path(path).is_file():
        return head_of_bundle(label, path)
    return head_of_clone(f"{_key(label)}.path", path, clone_at(label, path))


def clone_at(label: str, path: str) -> "pygit2.Repository":
    """The clone at `path`: a working tree, a linked one, or a bare clone, whoever owns it.

    Raises:
        UserError: there is none at just this path.
    """
    import pygit2

    pygit2.settings.owner_validation = False
    try:
        return pygit2.Repository(path, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (KeyError, ValueError, pygit2.GitError) as error:
        cause = " ".join(str(error).split())
    raise UserError(
        f"{_key(label)}.path: there is no git repository at {path} ({cause}): name the top folder of a clone, a bare "
        "clone, or a bundle"
    )


def head_of_clone(key: str, where: str, clone: "pygit2.Repository") -> str:
    """The commit that a clone's HEAD is at.

    Args:
        key: of the configuration, for the message, which also says `where` it is.

    Raises:
        UserError: it is at none.
    """
    import pygit2

    from devqa.pull_requests.repositories.commits import is_commit

    try:
        head = clone.head.target
    except (KeyError, ValueError, pygit2.GitError):
        head = None
    if head is not None and is_commit(clone.odb, head):
        return str(head)
    raise UserError(
        f"{key}: HEAD of {where} is at no commit (there is none yet, or the branch that it names is not there): "
        f"mend it, or pin {key.rpartition('.')[0]}.commit"
    )


def bundle(label: str, path: str) -> Bundle:
    """What the bundle at `path` begins with.

    Raises:
        UserError: it is none, or holds a part of the history only.
    """
    refs, beginning = {}, []
    try:
        with Path(path).open("rb") as file:
            while (line := file.readline(_LONGEST_LINE)) not in (b"\n", b""):
                beginning.append(line)
                if not _SIGNATURE.fullmatch(beginning[0]):
                    raise UserError(
                        f"{_key(label)}.path: {path} is no bundle of git: name the folder of a clone, or make one "
                        "(git bundle create)"
                    )
                if line.startswith(b"-"):
                    raise UserError(
                        f"{_key(label)}.path: {path} holds a part of the history only: make a whole one "
                        "(git bundle create FILE HEAD main)"
                    )
                if found := _REFERENCE.fullmatch(line):
                    refs[found[2].decode("utf-8", "replace")] = found[1].decode()
    except OSError as error:
        raise UserError(f"{_key(label)}.path: {path} can't be read ({error.strerror})") from error
    return Bundle(refs, b"".join(beginning))


def head_of_bundle(label: str, path: str) -> str:
    """The commit that a bundle's HEAD is at.

    Raises:
        UserError: it names none.
    """
    if head := bundle(label, path).refs.get("HEAD"):
        return head
    raise UserError(
        f"{_key(label)}.path: the bundle {path} names no HEAD: make it with one (git bundle create FILE HEAD main), or "
        f"pin {_key(label)}.commit"
    )


def _key(label: str) -> str:
    return f"pull_requests.repositories.{label}"
