"""One process at a time works on a project's decisions."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devqa.errors import UserError

LOCK = "review.lock"


@contextmanager
def alone(folder: str | os.PathLike, doing: str) -> Iterator[None]:
    """Keep others away from the decisions in `folder` for as long as the block lasts.

    The lock is the operating system's: it goes with the process, however that ends.

    Args:
        doing: for others, such as "an import is under way".

    Raises:
        UserError: another process is at work, or the file system takes no lock.
    """
    path = Path(folder) / LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"{path} can't be written ({error.strerror}): mend the permissions of {folder}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(f"{_noted(path)}: end that first") from None
    except OSError as error:
        os.close(descriptor)
        raise UserError(f"{path} can't be locked ({error.strerror}): put review.folder on another disk") from error

    try:
        note(folder, doing)
        yield
    finally:
        os.close(descriptor)


def note(folder: str | os.PathLike, doing: str) -> None:
    """What others are told from now on, by the process that has `folder` to itself."""
    Path(folder, LOCK).write_text(f"{doing} (process {os.getpid()} on {socket.gethostname()})\n", encoding="utf-8")


def _noted(path: Path) -> str:
    """What the holder of the lock has noted; it may have had no time to."""
    return path.read_text(encoding="utf-8", errors="replace").strip() or f"{path} is locked by another process"
