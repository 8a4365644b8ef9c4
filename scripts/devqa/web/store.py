"""Bytes kept on disk under a name: answers of search engines and raw pages, so that nothing is asked for twice."""

import hashlib
import logging
import os
from contextlib import suppress
from pathlib import Path

import zstandard

from devqa.errors import UserError
from devqa.files import content, replacing

log = logging.getLogger(__name__)


class NotKept(Exception):
    """What is asked for is not in the store, and nothing may be sent for it."""


def nothing_kept(count: int, what: str) -> UserError:
    """What there is to say where the cache holds not one of `count` things that a job can't do without."""
    return UserError(
        f"offline: the cache holds not one of {count} {what}: name the folder that does (cache_dir), import one "
        "(cache_import), or set offline to false"
    )


class Store:
    """A folder of compressed values, one file each, under the hash of their key.

    Safe on a shared file system without locks: a file appears whole (temporary file, atomic rename) and is
    never changed. Two writers of one key write the same thing twice.
    """

    def __init__(self, folder: str | os.PathLike):
        self._folder = Path(folder)

    def get(self, key: str) -> bytes | None:
        """The value kept under `key`; None where there is none.

        A file that is damaged counts as none and is removed, with a warning in the log.
        """
        path = self._path(key)
        try:
            before = path.stat()
            return zstandard.ZstdDecompressor().decompress(content(path))
        except FileNotFoundError:
            return None
        except zstandard.ZstdError as error:
            log.warning("%s is damaged (%s): it counts as absent and will be written anew", path, error)
            _remove(path, before)
            return None

    def put(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`, in place of what was there."""
        compressed = zstandard.ZstdCompressor(write_checksum=True).compress(value)
        with replacing(self._path(key)) as temporary:
            temporary.write_bytes(compressed)

    def remove(self, key: str) -> None:
        """Keep nothing under `key` any more."""
        self._path(key).unlink(missing_ok=True)

    def put_page(self, content: bytes, anew: bool = False) -> str:
        """Keep a page's raw `content` and return its SHA-256 in hex, under which `get_page` finds it.

        What is there is not read to see whether it is sound (who finds it damaged removes it); `anew`: it is replaced.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        if anew or not self.has_page(sha256):
            self.put(f"page:{sha256}", content)
        return sha256

    def has_page(self, sha256: str) -> bool:
        """Is a page kept? Whether it is sound shows when it is read."""
        return self._path(f"page:{sha256}").exists()

    def get_page(self, sha256: str) -> bytes | None:
        """The raw content of a page by its SHA-256; None where it is not kept."""
        return self.get(f"page:{sha256}")

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / name[:2] / name[2:4] / f"{name}.zst"


def _remove(path: Path, as_it_was: os.stat_result) -> None:
    """Remove a file, if nobody has replaced it by a sound one meanwhile. Where that is not allowed, it stays."""
    with suppress(OSError):
        now = path.stat()
        if (now.st_ino, now.st_mtime_ns) == (as_it_was.st_ino, as_it_was.st_mtime_ns):
            path.unlink()
