"""Waiting, and not for ever: a test that would hang fails instead."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Break off what takes longer than `seconds`; for the main thread.

    Raises:
        TimeoutError: it did.
    """

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until `condition` holds; it must within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
