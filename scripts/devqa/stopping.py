"""Ctrl-C and SIGTERM, as schedulers send it before a job's time is up: how work is told to stop.

listen(last_words)             # once, in the main thread
with gently(stop): ...         # here `stop` is called instead of an exception being raised
check()                        # after such a block, and in other threads before something is begun
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# What is under way has so long to end, such as answers of models that are paid for.
GRACE_S = 3.0
# After so long the process ends whatever it waits for. Clusters kill 30 s after SIGTERM, terminals never.
_LONGEST_S = 6.0


class Stopped(KeyboardInterrupt):
    """The process was told to stop.

    Attributes:
        signal: the signal that came.
    """

    def __init__(self, number: int = signal.SIGINT):
        super().__init__(f"told to stop by {signal.Signals(number).name}")
        self.signal = signal.Signals(number)


class _State:
    """What has come so far, and who wants to know."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.callbacks: list[Callable[[bool], None]] = []


_state = _State()


def listen(last_words: Callable[[Stopped], int]) -> None:
    """Let SIGINT and SIGTERM raise `Stopped` in the main thread, where nothing has asked to be stopped `gently`.

    A process that is still there six seconds later, because it waits for threads, ends at once.

    Args:
        last_words: called then, with what has stopped it; returns the exit code.
    """

    def come(number: int, frame: FrameType | None) -> None:
        again = _state.first is not None
        if not again:
            _state.first = number
            timer = threading.Timer(_LONGEST_S, lambda: _end(last_words, Stopped(number)))
            timer.daemon = True
            timer.start()
        # Schedulers send SIGTERM more than once; who types Ctrl-C again does not want to wait.
        hurry = again and number == signal.SIGINT
        if _state.callbacks:
            _state.callbacks[-1](hurry)
        elif not again:
            raise Stopped(number)
        elif hurry:
            _end(last_words, Stopped(number))

    for number in (signal.SIGINT, signal.SIGTERM):
        # Whoever started this may have it ignore Ctrl-C, as shells do with what runs in the background.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, come)
    # Processes that are forked end like any other.
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def gently(stop: Callable[[bool], None]) -> Iterator[None]:
    """Within the block `stop` is called when the process is told to stop, and at Ctrl-C once more with True.

    It is called in the main thread, in the middle of whatever that does. `check` is to be called after the block.
    """
    _state.callbacks.append(stop)
    try:
        yield
    finally:
        _state.callbacks.remove(stop)


def check() -> None:
    """Nothing new may begin when the process was told to stop.

    Raises:
        Stopped: it was.
    """
    if _state.first is not None:
        raise Stopped(_state.first)


def once() -> None:
    """Let Ctrl-C interrupt Snakemake's main process once, and the second time not: it waits for jobs that end at once,
    because they get it as well, and must not leave the folder locked. A third one ends it.
    """
    came = 0

    def come(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came += 1
        if came != 2:  # noqa: PLR2004 -- the second
            signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, come)


def _end(last_words: Callable[[Stopped], int], stopped: Stopped) -> None:
    code = last_words(stopped)
    sys.stderr.flush()
    os._exit(code)


def _forget() -> None:
    for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        signal.signal(number, default)
    _state.callbacks.clear()
