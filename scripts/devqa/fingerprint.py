"""The content of files from outside, as one digest that costs a stat per file at most starts.

Snakemake takes a file for unchanged whose time stamp is older than what was made of it, so another file with an old
time stamp in its place (`mv`, `cp -p`) goes unseen. A rule that reads such files carries this digest in its recipe.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from devqa.errors import UserError
from devqa.files import replacing

# Size, time of the last write, time of the last change of any kind, inode. (The third can't be set by a program: a file
# that is written to in place and given its old time stamp back has another.) What is kept of a file is its state and
# the SHA-256 of its content.
State = list[int]

# Two writes within one tick of a file system's clock leave the same times (two seconds on FAT, one on old NFS), so of a
# file that changed so lately nothing is kept: it is read again at the next start.
TICK_NS = 2_000_000_000
# Reading more than this takes a while, which is said.
LARGE_BYTES = 1_000_000_000
# Files that are read at the same time: on network file systems each waits for the server.
READERS = 4


class Fingerprints:
    """Digests of files' contents, kept between runs with the state in which each file was when it was read.

    Args:
        path: the file that keeps them. Losing it, or not being able to write it, costs only reading the files again;
            of two runs that write it at the same time one may lose what it has added.
        say: gets a line before much is read.
    """

    def __init__(self, path: str | os.PathLike, say: Callable[[str], object] = lambda text: None):
        self.path = Path(path)
        self._say = say
        self._kept: dict[str, list] | None = None
        self._digests: dict[tuple[str, ...], str] = {}
        self._first: dict[str, State] = {}

    def digest(self, files: Sequence[str]) -> str:
        """The SHA-256 over the contents of `files` in their order, whatever they are called; "" where there are none.

        In one process it stays the same, though a file may change meanwhile.

        Raises:
            UserError: a file can't be read.
        """
        if not files:
            return ""
        known = tuple(files)
        if known not in self._digests:
            contents = self._contents(list(dict.fromkeys(files)))
            whole = "".join(contents[file] for file in files)
            self._digests[known] = hashlib.sha256(whole.encode()).hexdigest()
        return self._digests[known]

    def disturbed(self) -> list[str]:
        """The files that were written, replaced or removed since this process first looked at them, sorted.

        Whoever has read one meanwhile may have read another content than its digest stands for.
        """
        return sorted(file for file, state in self._first.items() if _state_or_none(file) != state)

    def _contents(self, files: Sequence[str]) -> dict[str, str]:
        """The SHA-256 of the content of each file."""
        if self._kept is None:
            self._kept = _read(self.path)
        started = time.time_ns()
        states = {file: _state(file) for file in files}
        self._first |= {file: state for file, state in states.items() if file not in self._first}
        kept = self._kept
        missing = [file for file in files if file not in kept or kept[file][:-1] != states[file]]
        read = self._hashed(missing, sum(states[file][0] for file in missing))
        lasting = {
            file: [*states[file], content]
            for file, content in read.items()
            # A file that is written to while it is read, or later, has another state by then.
            if states[file][2] < started - TICK_NS
        }
        if lasting:
            self._keep(lasting)
        return {file: read[file] if file in read else kept[file][-1] for file in files}

    def _hashed(self, files: Sequence[str], size: int) -> dict[str, str]:
        if size > LARGE_BYTES:
            self._say(f"Reading {len(files):,} new or changed files to tell their content ({size / 1e9:,.1f} GB)")
        with ThreadPoolExecutor(READERS) as pool:
            return dict(zip(files, pool.map(_sha256, files), strict=True))

    def _keep(self, lasting: Mapping[str, list]) -> None:
        """Add to what is kept, also by other runs meanwhile; files that are gone are forgotten."""
        self._kept |= lasting
        kept = _read(self.path) | lasting
        there = {file: entry for file, entry in kept.items() if os.path.exists(file)}  # noqa: PTH110
        # A dry-run in a folder that belongs to somebody else can't write it.
        with suppress(UserError, OSError), replacing(self.path) as temporary:
            temporary.write_text(json.dumps(there, separators=(",", ":")), encoding="ascii")


def _read(path: Path) -> dict[str, list]:
    """What the file keeps; nothing if it is missing or damaged."""
    try:
        kept = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) and all(map(_is_entry, kept.values())) else {}


def _is_entry(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 5 and isinstance(value[-1], str)


def _state(file: str) -> State:
    try:
        found = os.stat(file)  # noqa: PTH116 -- twice as fast as through a Path, of which there may be 100,000
    except OSError as error:
        raise _unreadable(file, error) from error
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _state_or_none(file: str) -> State | None:
    try:
        return _state(file)
    except UserError:
        return None


def _sha256(file: str) -> str:
    try:
        with open(file, "rb", buffering=0) as opened:  # noqa: PTH123 -- as above
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: OSError) -> UserError:
    return UserError(f"{file} can't be read ({error.strerror or error}): mend its permissions, or leave it out")
