"""At most so many requests a second, over all jobs that share a cache folder.

Time is divided into slots of equal length, and who wants to send something takes the next free one by making its
file: only one can, on a shared file system too, with no lock to be left behind. Clocks of several machines have to
agree to a fraction of a second, as a time server keeps them.
"""

import hashlib
import math
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from devqa.errors import UserError

# Slots that are so long past are removed.
_KEPT_S = 60.0
# Rows of slots that nobody used for so long are removed, in case clocks are a few hours apart.
_ROW_KEPT_S = 24 * 3600.0
# How far the clock may be from where it was when a slot was remembered, before it counts as put right.
_CLOCK_MOVED_S = 1.0


class Pace:
    """Slots in `folder`, one row of them for each name.

    Safe in threads: each takes slots of its own. A job that dies leaves nothing but a slot that nobody uses.

    Args:
        now, steady, sleep: the time, a clock that is never put right, and waiting, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        now: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._folder = folder
        self._now, self._steady, self._sleep = now, steady, sleep
        # The first slot of each row that may be free as far as this process knows, and how far apart the clocks were.
        self._next: dict[str, tuple[int, float]] = {}

    def wait(self, name: str, per_second: float) -> None:
        """Return when one more request may be sent to `name`, of which at most `per_second` may be sent a second.

        Raises:
            UserError: the folder can't be written to.
        """
        row = f"{name} {per_second:g}"
        folder = self._folder / hashlib.sha256(row.encode()).hexdigest()[:32]
        slot = max(math.ceil(self._now() * per_second), self._remembered(row))
        try:
            while not _taken(folder, slot):
                slot += 1
            _tidy(folder, slot, int(_KEPT_S * per_second))
        except OSError as error:
            raise UserError(f"{folder} can't be written ({error.strerror}): mend its permissions") from error
        self._next[row] = slot + 1, self._now() - self._steady()
        self._sleep(max(0.0, slot / per_second - self._now()))

    def tidy(self) -> None:
        """Remove the rows of names that were not asked for a day."""
        for row in self._folder.glob("*"):
            # Another job may be tidying up too.
            with suppress(OSError):
                if row.stat().st_mtime < self._now() - _ROW_KEPT_S:
                    shutil.rmtree(row, ignore_errors=True)

    def _remembered(self, row: str) -> int:
        slot, apart = self._next.get(row, (0, 0.0))
        moved = abs(self._now() - self._steady() - apart) > _CLOCK_MOVED_S
        return 0 if moved else slot


def _taken(folder: Path, slot: int) -> bool:
    """Did this call take the slot? Not if somebody has it already."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        os.close(os.open(folder / str(slot), flags))
    except FileExistsError:
        return False
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        return _taken(folder, slot)
    return True


def _tidy(folder: Path, slot: int, kept: int) -> None:
    """Remove slots that are long past, now and then."""
    if slot % 32:
        return
    for entry in folder.iterdir():
        if entry.name.isdigit() and int(entry.name) < slot - kept:
            # Another job may be tidying up too.
            with suppress(FileNotFoundError):
                entry.unlink()
