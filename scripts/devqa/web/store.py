"""Bytes kept on disk under a name: answers of search engines and raw pages, so that nothing is asked for twice."""

import hashlib
import logging
import os
from pathlib import Path

import zstandard

from devqa.files import replacing

log = logging.getLogger(__name__)


class NotKept(Exception):
    """What is asked for is not in the store, and nothing may be sent for it."""


class Store:
    """A folder of compressed values, one file each, under the hash of their key.

    Safe on a shared file system without locks: a file appears whole (temporary file, atomic rename) and is
    never changed. Two writers of one key write the same thing twice.
    """

    def __init__(self, folder: str | os.PathLike):
        self._folder = Path(folder)

    def get(self, key: str) -> bytes | None:
        """The value kept under `key`; None where there is none, or where its file is damaged (a warning is logged)."""
        path = self._path(key)
        try:
            return zstandard.ZstdDecompressor().decompress(path.read_bytes())
        except FileNotFoundError:
            return None
        except zstandard.ZstdError as error:
            log.warning("%s is damaged (%s): it counts as absent and will be written anew", path, error)
            return None

    def put(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`, in place of what was there."""
        compressed = zstandard.ZstdCompressor(write_checksum=True).compress(value)
        with replacing(self._path(key)) as temporary:
            temporary.write_bytes(compressed)

    def put_page(self, content: bytes) -> str:
        """Keep a page's raw `content` and return its SHA-256 in hex, under which `get_page` finds it."""
        sha256 = hashlib.sha256(content).hexdigest()
        if self.get(f"page:{sha256}") is None:
            self.put(f"page:{sha256}", content)
        return sha256

    def get_page(self, sha256: str) -> bytes | None:
        """The raw content of a page by its SHA-256; None where it is not kept."""
        return self.get(f"page:{sha256}")

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / name[:2] / name[2:4] / f"{name}.zst"
