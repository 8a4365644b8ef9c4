"""Files that appear whole or not at all."""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path beside `path`: it takes the name `path` when the block ends well, else it is removed.

    Safe with several writers on a shared file system: each has a temporary file of its own name, and the
    rename is atomic. The folder is made where it is missing.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{unique_name()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def unique_name() -> str:
    """A name that no other process on any machine uses."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
