"""How far a long piece of work has come: in the log, and on a terminal also on the screen."""

import logging
import sys
import time
from collections.abc import Callable
from types import TracebackType

_log = logging.getLogger(__name__)


class Progress:
    """Counts what is done and says so at most every `every_s` seconds, and at the end.

    Use as a context manager: the last line is written at the exit, also when the work was broken off.

    Args:
        label: what is being done, such as "verify with gpt-4o-mini".
        total: how many items there are.
        every_s: seconds between two lines.
        clock: seconds on a clock that never goes back.
    """

    def __init__(self, label: str, total: int, every_s: float = 5.0, clock: Callable[[], float] = time.monotonic):
        self.label = label
        self.total = total
        self.done = 0
        self.cached = 0
        self.failed = 0
        self.usd = 0.0
        self._every_s = every_s
        self._clock = clock
        self._started = self._said = clock()
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._say(end="\n")

    def advance(self, count: int = 1, *, cached: int = 0, failed: int = 0, usd: float = 0.0) -> None:
        """`count` more items are done, `cached` of them from the cache, `failed` of them in vain, for `usd` USD."""
        self.done += count
        self.cached += cached
        self.failed += failed
        self.usd += usd
        if self._clock() - self._said >= self._every_s:
            self._say(end="\r")

    def line(self) -> str:
        """The state in one line; the rate is of items that did not come from the cache."""
        seconds = max(self._clock() - self._started, 1e-3)
        rate = (self.done - self.cached) / seconds
        return (
            f"{self.label}: {self.done:,} of {self.total:,} done, {rate:,.1f}/s, "
            f"{self.cached:,} from the cache, {self.failed:,} failed, {self.usd:,.4f} USD"
        )

    def _say(self, end: str) -> None:
        self._said = self._clock()
        line = self.line()
        _log.info(line)
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{line}{end}")
            sys.stderr.flush()
