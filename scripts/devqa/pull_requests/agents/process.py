"""A program of somebody else's, run within bounds: of time, of what it prints, and of what it leaves behind.

It gets the environment with all the keys in it, so what it prints is given on without them.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, NamedTuple

from devqa.llm.access import Secret

_MOST_OUTPUT = 10_000_000
# Of what it complains about: the end is enough.
_MOST_COMPLAINTS = 8_000
_LOOK_EVERY_S = 0.2
# What a process has to end by itself; less than a job has when it is told to stop.
_GRACE_S = 1.5
_NAMES_A_SECRET = re.compile(r"(?i)key|token|secret|passw|credential")


class End(StrEnum):
    """How a run has ended, whatever its exit code is: a program that is told to end may give any."""

    # By itself, with code 0, and it has printed something, but not too much.
    WELL = "well"
    TIMEOUT = "timeout"
    # By us, because the job was told to stop.
    STOPPED = "stopped"
    # In any other way, or it was never begun.
    BADLY = "badly"


class Ran(NamedTuple):
    """What came of a run. `trouble` says in words why it has not ended well; a killed process has no `exit_code`."""

    stdout: str
    stderr: str
    exit_code: int | None
    seconds: float
    end: End
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
        return Ran("", "", None, 0.0, End.BADLY, f"it can't be run ({error.strerror})")
    broken_off = None
    try:
        printed = _Output(process.stdout, _MOST_OUTPUT, last=False)
        complaints = _Output(process.stderr, _MOST_COMPLAINTS, last=True)
        while process.poll() is None and not broken_off:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY_S)
            if process.returncode is None:
                broken_off = _limit(stop, time.monotonic() - began, timeout_s)
        seconds = time.monotonic() - began
    finally:
        _end(process, gently=bool(broken_off))
    stdout, stderr = _without_secrets(printed.text()), _without_secrets(complaints.text())
    exit_code = None if process.returncode < 0 else process.returncode
    fault = _fault(exit_code, stdout, printed.too_long)
    end = broken_off or (End.BADLY if fault else End.WELL)
    if end == End.BADLY and stop.is_set():
        # Schedulers tell all processes of a job to stop, and this one was faster.
        end = End.STOPPED
    said = {End.STOPPED: "the job was told to stop", End.TIMEOUT: f"it was ended after {timeout_s:g} s"}
    return Ran(stdout, stderr, exit_code, round(seconds, 3), end, said.get(end, fault))


def _limit(stop: threading.Event, seconds: float, timeout_s: float) -> End | None:
    """Why a run has to be ended now."""
    if stop.is_set():
        return End.STOPPED
    return End.TIMEOUT if seconds >= timeout_s else None


def _fault(exit_code: int | None, stdout: str, too_long: bool) -> str:
    """Why a run that has ended by itself has not ended well; "" where it has."""
    if too_long:
        return f"it printed more than {_MOST_OUTPUT // 1_000_000} MB"
    if exit_code is None:
        return "it was killed"
    if exit_code:
        return f"it ended with code {exit_code}"
    return "" if stdout.strip() else "it printed nothing"


def _without_secrets(text: str) -> str:
    """`text` without the secrets that the program was given with its environment."""
    values = {value for name, value in os.environ.items() if _NAMES_A_SECRET.search(name)}
    # As what it prints is read.
    secrets = {os.fsencode(value).decode("utf-8", "replace").strip() for value in values}
    # One may be a part of another, of which the rest must not stay.
    for secret in sorted(secrets, key=len, reverse=True):
        text = Secret(secret).out_of_text(text)
    return text


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
