"""Files that appear whole or not at all."""

import errno
import os
import socket
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from devqa.errors import UserError

# How often a file may have been replaced at the very moment at which it is read.
_STALE_HANDLES = 5


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path beside `path`: it takes the name `path` when the block ends well, else it is removed.

    Safe with several writers on a shared file system: each has a temporary file of its own name, and the
    rename is atomic. The folder is made where it is missing.

    Raises:
        UserError: the file system does not take it: full, read-only, no permission.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{unique_name()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except FileNotFoundError:
        # The block wrote nothing: that is no matter of the file system.
        raise
    except OSError as error:
        cause = error.strerror or error
        raise UserError(
            f"{path} can't be written ({cause}): make room or mend the permissions, and run again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def content(path: str | os.PathLike) -> bytes:
    """The bytes of a file that others replace meanwhile: on NFS it may go stale between opening and reading.

    Raises:
        OSError: it can't be read.
    """
    for _ in range(_STALE_HANDLES):
        try:
            return Path(path).read_bytes()
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
    return Path(path).read_bytes()


def of_job(folder: Path, rule: str, wildcards: Mapping[str, str]) -> Path:
    """Where in `folder` what is kept of the job of `rule` with `wildcards` lies.

    All wildcards are one name, so that none is another one's folder.
    """
    return folder / rule / ",".join(wildcards[name] for name in sorted(wildcards))


def unique_name() -> str:
    """A name that no other process on any machine uses."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
