"""Trees of a repository as they are stored, whoever made them: what is in one, and what differs between two.

They are parsed here and not by libgit2, which decodes names, and which goes through a tree of any size before it says a
word: a kilobyte is enough for a tree that has more files than a disk could hold. Here a walk ends at a bound.
"""

import logging
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_log = logging.getLogger(__name__)

# Of a walk: files and folders, and how deep.
_MOST_VISITS = 2_000_000
_DEEPEST = 100
# What file systems can hold.
_LONGEST_NAME = 255
# Entries of folders that are kept parsed: some hundred megabytes.
_MOST_KEPT = 300_000

_STORED = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_KINDS = {0o040000: "folder", 0o120000: "link", 0o160000: "submodule"}
_KIND_BITS = 0o170000
# What some file system takes for `.git` or for a way out (git's verify_dotfile, is_ntfs_dotgit and is_hfs_dotgit).
_NOT_SEEN_BY_HFS = re.compile(rb"\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf")
_DANGEROUS = re.compile(rb"(?is)\.{0,2}|.*/.*|(\.git|git~[0-9]+)[ .]*([:\\].*)?")


class Node(NamedTuple):
    """An entry of a folder: `kind` is file, link, submodule or folder, `id` the 20 bytes that name what it holds."""

    kind: str
    id: bytes


Folder = dict[bytes, Node]


class Difference(NamedTuple):
    """What is at `path` in one tree and not the same in another; None where there is nothing."""

    path: bytes
    old: Node | None
    new: Node | None


class Trees:
    """The folders of one repository.

    Args:
        read: the content of a tree by the 20 bytes that name it.
    """

    def __init__(self, read: Callable[[bytes], bytes]):
        self._read = read
        self._kept: dict[bytes, Folder] = {}
        self._entries = 0

    def walk(self, root: bytes) -> Iterator[tuple[bytes, Node]]:
        """All that is no folder, with its path, sorted by path; as much as of `differences`."""
        for difference in self.differences(None, root):
            yield difference.path, difference.new

    def differences(self, old: bytes | None, new: bytes | None) -> Iterator[Difference]:
        """What differs between two trees (None is an empty one), sorted by path; folders and modes do not count.

        What is too deep is left out, and so is all that comes after two million files and folders; that is logged.
        """
        left = _MOST_VISITS
        root = Difference(b"", old and Node("folder", old), new and Node("folder", new))
        # The next one at the end. The path of folders, and of nothing else, ends in a slash.
        pending = [root]
        while pending:
            path, before, after = difference = pending.pop()
            if path and not path.endswith(b"/"):
                yield difference
                continue
            below = self._below(path, before, after)
            left -= 1 + len(below)
            if left < 0:
                _log.warning("a tree has more than %d files and folders: the rest is left out", _MOST_VISITS)
                return
            if path.count(b"/") < _DEEPEST:
                pending.extend(reversed(below))
            elif below:
                _log.warning("a tree has folders in more than %d folders: they are left out", _DEEPEST)

    def _below(self, path: bytes, old: Node | None, new: Node | None) -> list[Difference]:
        """What is not the same in two versions of a folder, sorted."""
        before, after = self._folder(old), self._folder(new)
        found = []
        for name in {name for name, _ in before.items() ^ after.items()}:
            pair = before.get(name), after.get(name)
            folders, others = ([node if node and is_folder(node) else None for node in pair] for is_folder in _SORTS)
            if any(folders):
                found.append(Difference(path + name + b"/", *folders))
            if any(others):
                found.append(Difference(path + name, *others))
        return sorted(found, key=lambda difference: difference.path)

    def _folder(self, node: Node | None) -> Folder:
        if node is None or node.kind != "folder":
            return {}
        folder = self._kept.get(node.id)
        if folder is None:
            folder = self._kept[node.id] = parsed(self._read(node.id))
            self._entries += len(folder)
            while self._entries > _MOST_KEPT:
                self._entries -= len(self._kept.pop(next(iter(self._kept))))
        return folder


_SORTS = (lambda node: node.kind == "folder", lambda node: node.kind != "folder")


def parsed(tree: bytes) -> Folder:
    """The entries of a stored tree by name. Names that lead out of it or into git's own folder, and those that no file
    system can hold, are left out; of several entries with one name the first counts.
    """
    folder: Folder = {}
    for mode, name, id in _STORED.findall(tree):
        if not _is_dangerous(name):
            folder.setdefault(name, Node(_KINDS.get(int(mode, 8) & _KIND_BITS, "file"), id))
    return folder


def _is_dangerous(name: bytes) -> bool:
    if len(name) > _LONGEST_NAME:
        return True
    if not name.isascii():
        name = _NOT_SEEN_BY_HFS.sub(b"", name)
    return _DANGEROUS.fullmatch(name) is not None
