"""A test that would hang fails instead."""

import signal
from collections.abc import Iterator
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
