"""A program of somebody else's, run within bounds: of time, of what it prints, and of what it leaves behind."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

_MOST_OUTPUT = 10_000_000
# Of what it complains about: the end is enough.
_MOST_COMPLAINTS = 8_000
_LOOK_EVERY_S = 0.2
# What a process has to end by itself; less than a job has when it is told to stop.
_GRACE_S = 1.5


class Ran(NamedTuple):
    """What came of a run. `trouble` says why it was ended, or not begun; then `exit_code` may be None."""

    stdout: str
    stderr: str
    exit_code: int | None
    seconds: float
    trouble: str = ""


def run(words: Sequence[str], folder: Path, timeout_s: float, stop: threading.Event) -> Ran:
    """Run a program in `folder` until it ends, `timeout_s` seconds are over or `stop` is set.

    It gets no input. It and all that it has started, as far as that has stayed in its process group, is ended then.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 -- the configuration's own command
            words,
            cwd=folder,
            env={**os.environ, "PWD": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except OSError as error:
        return Ran("", "", None, 0.0, f"it can't be run ({error.strerror})")
    outputs = [_Output(process.stdout, _MOST_OUTPUT, last=False), _Output(process.stderr, _MOST_COMPLAINTS, last=True)]
    trouble = ""
    try:
        while process.poll() is None and not trouble:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY_S)
            if process.returncode is None:
                trouble = _trouble(stop, time.monotonic() - began, timeout_s)
        seconds = time.monotonic() - began
    finally:
        _end(process, gently=bool(trouble))
    stdout, stderr = (output.text() for output in outputs)
    if not trouble and outputs[0].too_long:
        trouble = f"it printed more than {_MOST_OUTPUT // 1_000_000} MB"
    return Ran(stdout, stderr, None if process.returncode < 0 else process.returncode, round(seconds, 3), trouble)


def _trouble(stop: threading.Event, seconds: float, timeout_s: float) -> str:
    if stop.is_set():
        return "the job was told to stop"
    return f"it was ended after {timeout_s:g} s (timeout_s)" if seconds >= timeout_s else ""


class _Output:
    """Reads what a process prints, to its end, and keeps the first bytes of it, or the `last`, up to `most`."""

    def __init__(self, stream: IO[bytes], most: int, last: bool):
        self.too_long = False
        self._stream, self._most, self._last = stream, most, last
        self._kept = bytearray()
        # What it has started may hold the stream open and live on: then nobody waits for this.
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What was printed until now, once the process has ended."""
        self._thread.join(_GRACE_S)
        return bytes(self._kept).decode("utf-8", "replace")

    def _read(self) -> None:
        with self._stream:
            while piece := self._stream.read1(1 << 16):
                self._kept += piece
                if len(self._kept) > self._most:
                    self.too_long = True
                    del self._kept[slice(None, -self._most) if self._last else slice(self._most, None)]


def _end(process: subprocess.Popen[bytes], gently: bool) -> None:
    """End a process and its group, `gently` at first."""
    if gently:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
