"""The files of a repository's pinned version in a folder, for tools and agents to read: regular files, nothing else."""

import errno
import hashlib
import logging
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from devqa.errors import UserError
from devqa.files import unique_name
from devqa.pull_requests.repositories.repository import Missing, Repository, open_named
from devqa.tables import Row

_log = logging.getLogger(__name__)

# What is larger is left out: no agent reads it, and a small repository may hold much of it.
_LARGEST_FILE = 100_000_000
_MOST_BYTES = 20_000_000_000
# Of a name that this file system can't hold, or of a tree that has a file and a folder of one name.
_NAMELESS = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EILSEQ, errno.EINVAL)

_READ = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_ENTER = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


class File(NamedTuple):
    """A file of a checkout: what it is called there, and its size in bytes."""

    raw: bytes
    size: int


class Checkout:
    """A folder with the files of a repository, of which only those that the repository has can be read.

    Attributes:
        files: by the path that is shown of them, sorted by their names.
    """

    def __init__(self, folder: Path, files: Mapping[str, File]):
        self.folder = folder
        self.files = files

    @cached_property
    def folders(self) -> dict[str, int]:
        """All folders, with how many files are below each; "" is the root."""
        counts = {"": 0}
        for path in self.files:
            counts[""] += 1
            for place, letter in enumerate(path):
                if letter == "/":
                    counts[path[:place]] = counts.get(path[:place], 0) + 1
        return counts

    def below(self, path: str) -> Iterator[str]:
        """The file `path`, or all that are below the folder `path`; all files where it is ""."""
        if path in self.files:
            return iter([path])
        return (file for file in self.files if not path or file.startswith(f"{path}/"))

    def content(self, path: str) -> bytes:
        """What the file holds.

        Raises:
            KeyError: there is no such file in the repository.
            OSError: it can't be read.
        """
        descriptor = os.open(_at(self.folder, self.files[path].raw), os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            return file.read()


def checkout(repository: Repository, label: str, cache: Path) -> Checkout:
    """The checkout of the pinned version that all jobs share; it is made where it is missing. Nobody may write in it.

    Raises:
        UserError: it can't be written.
    """
    folder = cache / "checkouts" / f"{label}-{repository.commit}"
    if not folder.is_dir():
        temporary = folder.with_name(f".{folder.name}.{unique_name()}")
        try:
            export(repository, temporary)
            _freeze(temporary)
            # Another job may have been faster: then this fails, because the other one's is not empty.
            temporary.rename(folder)
        except OSError as error:
            if not folder.is_dir():
                raise _cannot_write(folder, error) from error
        finally:
            remove(temporary)
    names = ((entry.path, entry.raw) for entry in repository.files() if entry.kind == "file")
    # Of several files that are shown under one path only the first can be asked for.
    files: dict[str, File] = {}
    for path, raw in names:
        if path not in files and (size := _size(_at(folder, raw))) is not None:
            files[path] = File(raw, size)
    return Checkout(folder, files)


def checkouts(
    questions: Iterable[Row], origins: Mapping[str, Mapping[str, str]], cache: Path, offline: bool
) -> dict[str, Checkout]:
    """The checkouts of all repositories that `questions` (rows of `repository_questions`) are about, by label.

    Args:
        origins: by label, where each repository comes from (`repository.open_repository`).

    Raises:
        UserError: a repository can't be had, or a checkout not be written.
    """
    found = {}
    for label, commit in sorted({(row["repository"], row["commit"]) for row in questions}):
        with open_named(origins, label, commit, cache, offline) as repository:
            found[label] = checkout(repository, label, cache)
    return found


def export(repository: Repository, folder: Path) -> None:
    """Write the regular files of the pinned version into the new `folder`.

    Links and submodules are not written, nor are names that lead out of it, that belong to git or that the file system
    can't hold; what the clone lacks or is too large is left out. Pointers of LFS stay pointers.

    Raises:
        UserError: the file system does not take it.
    """
    left, left_out = _MOST_BYTES, 0
    try:
        folder.mkdir(parents=True)
        for entry in repository.files():
            if entry.kind != "file":
                continue
            if not _is_safe(entry.raw) or not 0 <= entry.size <= min(_LARGEST_FILE, left):
                left_out += 1
                continue
            try:
                _write(_at(folder, entry.raw), repository.content(entry.blob))
                left -= entry.size
            except Missing:
                left_out += 1
            except OSError as error:
                if error.errno not in _NAMELESS:
                    raise
                left_out += 1
    except OSError as error:
        raise _cannot_write(folder, error) from error
    if left_out:
        _log.warning("%s: %d files are too large, missing or can't be named here: left out", folder.name, left_out)


def state(folder: Path) -> str:
    """A hash over all that is in `folder`, by which it is seen whether anything was changed since it was taken last."""
    digest = hashlib.sha256(repr(_known(folder)).encode())
    # Given a link, it would go where that leads.
    for root, folders, files in os.walk(folder) if _is_folder(folder) else ():
        folders.sort()
        for name in [*folders, *sorted(files)]:
            known = (root, name, _known(Path(root, name)))
            digest.update(repr(known).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def remove(folder: Path) -> None:
    """Remove a checkout, also one that nobody may write in, or whatever stands in its place; none is fine.

    What can't be removed, such as files of other users, stays.
    """
    if _is_folder(folder):
        # From the top: only then can be listed what is in a folder.
        _open_up(folder)
        for root, folders, _ in os.walk(folder):
            for name in folders:
                _open_up(Path(root, name))
        shutil.rmtree(folder, ignore_errors=True)
    else:
        with suppress(OSError):
            folder.unlink()
    if os.path.lexists(folder):
        _log.warning("%s can't be removed: it stays", folder)


def _is_folder(path: Path) -> bool:
    """Links lead elsewhere, and are none."""
    known = _known(path)
    return known is not None and stat.S_ISDIR(known[0])


def _known(path: Path) -> tuple[int, ...] | None:
    """What tells a changed file from the one before; None where there is none, or nobody may look."""
    try:
        of = path.lstat()
    except OSError:
        return None
    return of.st_mode, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns


def _open_up(folder: Path) -> None:
    if _is_folder(folder):
        with suppress(OSError):
            folder.chmod(stat.S_IRWXU)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that is there already is not followed wherever it leads.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _freeze(folder: Path) -> None:
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            Path(root, name).chmod(_READ)
        Path(root).chmod(_READ | _ENTER)


def _is_safe(raw: bytes) -> bool:
    """Whoever has listed the names: does this one stay in the folder, and out of git's own?"""
    names = raw.split(b"/")
    return b"\0" not in raw and not any(name in (b"", b".", b"..") or name.lower() == b".git" for name in names)


def _size(path: Path) -> int | None:
    """The size of a regular file; None where there is none."""
    try:
        of = path.lstat()
    except OSError:
        return None
    return of.st_size if stat.S_ISREG(of.st_mode) else None


def _at(folder: Path, raw: bytes) -> Path:
    return folder / os.fsdecode(raw)


def _cannot_write(folder: Path, error: OSError) -> UserError:
    return UserError(f"{folder} can't be written ({error.strerror}): make room or mend the permissions, and run again")
