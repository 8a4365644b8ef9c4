"""Commits as they are stored (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects), whoever made them.

They are parsed here and not by libgit2, which gives back nothing of a commit whose author, time or encoding is odd,
though git takes it.
"""

import codecs
import re
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

_STORED = re.compile(rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)")
_AUTHOR = re.compile(rb"^author (.*)", re.MULTILINE)
# More digits are no time of any calendar.
_TIME = re.compile(rb"^committer .*> *(\d{1,18})(?!\d)", re.MULTILINE)
_ENCODING = re.compile(rb"^encoding ([!-~]{1,40})$", re.MULTILINE)
# Codecs of host names, which take hours for a long text.
_NO_CHARACTER_SETS = ("idna", "punycode")


class Commit(NamedTuple):
    """A commit: its tree, its parents (a shallow clone may lack them), its author's name ("" if it has none), when it
    was made (seconds since 1970; 0 if it does not say), and its message.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    time: int
    message: str


def is_commit(odb: pygit2.Odb, id: str | pygit2.Oid) -> bool:
    """Is there a commit of this name?"""
    try:
        return odb.read_header(id)[0] == ObjectType.COMMIT
    except (KeyError, ValueError, pygit2.GitError):
        return False


def parsed(id: str, stored: bytes) -> Commit | None:
    """A commit from its stored bytes; None if they name no tree, which git itself does not take."""
    found = _STORED.match(stored)
    if found is None:
        return None
    head, _, message = stored.partition(b"\n\n")
    author, time, encoding = (each.search(head) for each in (_AUTHOR, _TIME, _ENCODING))
    encoding = encoding[1].decode() if encoding else "utf-8"
    return Commit(
        id,
        found[1].decode(),
        tuple(found[2].decode().split()[1::2]),
        _decoded(_name(author[1]), encoding) if author else "",
        int(time[1]) if time else 0,
        _decoded(message, encoding),
    )


def _name(person: bytes) -> bytes:
    """The name in front of the address."""
    return (person.rpartition(b"<")[0] if b"<" in person else person).strip()


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        if codecs.lookup(encoding).name not in _NO_CHARACTER_SETS:
            return raw.decode(encoding, "replace")
    except (LookupError, ValueError):
        pass
    return raw.decode("utf-8", "replace")
