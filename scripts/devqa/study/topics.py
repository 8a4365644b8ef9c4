"""The cheap first pass over raw dialogues: how surely is each one about software development?"""

import json
import math
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import orjson

from devqa.errors import UserError
from devqa.study import words

# Seconds that a program may take for the texts that it was given, and for its end.
SILENCE_S = 600.0
_SHOWN = 300  # characters of what a program has said


class Topic(Protocol):
    """What the first pass asks."""

    def scores(self, texts: Sequence[str]) -> list[float]:
        """For each of `texts` a number from 0 to 1, in their order."""


class Words:
    """Scores by words and signs of code, with nothing to be installed (`devqa.study.words`)."""

    def scores(self, texts: Sequence[str]) -> list[float]:
        """For each of `texts` a number from 0 to 1, in their order."""
        return [words.score(text) for text in texts]


class Command:
    """Scores by a program of the user's: it reads `{"text": …}`, a line for each, and writes as many `{"score": …}`.

    One process serves all batches of a job. What is to be asked is written by a thread, so that a program may begin to
    answer before it has read all. It has to flush its lines: a batch is answered before the next is sent.
    """

    def __init__(self, process: subprocess.Popen, command: str, said: Any, silence_s: float):
        self._process = process
        self._command = command
        self._said = said
        self._silence_s = silence_s
        self._late = False

    def scores(self, texts: Sequence[str]) -> list[float]:
        """For each of `texts` a number from 0 to 1, in their order.

        Raises:
            UserError: the program ended, was silent for too long, or wrote something else.
        """
        if not texts:
            return []
        writer = threading.Thread(target=self._write, args=(texts,), daemon=True)
        with self._watched():
            writer.start()
            found = [self._score(self._process.stdout.readline(), number) for number in range(1, len(texts) + 1)]
            writer.join()
        return found

    def finish(self) -> None:
        """Tell the program that nothing more comes, and see that it ends well.

        Raises:
            UserError: it writes more lines than it was given, fails, or does not end.
        """
        with self._watched():
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            more = self._process.stdout.readline()
            code = self._process.wait() if not more else 0
        if more:
            raise self._error(f"wrote more lines than it was given: {_shown(more)}")
        if self._late:
            raise self._error(f"did not end within {self._silence_s:g} s after its input had ended")
        if code:
            raise self._error(f"failed with exit code {code}{self._last_words()}")

    def _write(self, texts: Sequence[str]) -> None:
        try:
            self._process.stdin.writelines(
                orjson.dumps({"text": text}, option=orjson.OPT_APPEND_NEWLINE) for text in texts
            )
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):  # it has ended: the reader says so
            pass

    def _score(self, line: bytes, number: int) -> float:
        if not line:
            raise self._ended(number)
        try:
            score = json.loads(line)["score"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._error(f'wrote {_shown(line)} where a line {{"score": <0 to 1>}} was expected') from None
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1 or math.isnan(score):
            raise self._error(f"gave the score {score!r}: it must be a number from 0 to 1")
        return float(score)

    def _ended(self, number: int) -> UserError:
        if self._late:
            return self._error(
                f"has not answered within {self._silence_s:g} s: it must write and flush a line for each that it reads"
            )
        code = self._process.wait()
        return self._error(
            f"ended (exit code {code}) before its answer to text {number} of a batch{self._last_words()}"
        )

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Kill the program if it takes too long, which ends any wait for it."""

        def kill() -> None:
            self._late = True
            self._process.kill()

        timer = threading.Timer(self._silence_s, kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _last_words(self) -> str:
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace").strip()
        return f": {said[-_SHOWN:]}" if said else ""

    def _error(self, what: str) -> UserError:
        return UserError(f"study.topic.command: '{self._command}' {what}")


@contextmanager
def opened(topic: Mapping[str, Any], silence_s: float = SILENCE_S) -> Iterator[Topic]:
    """The first pass that the section `study.topic` of the configuration describes.

    Raises:
        UserError: the program can't be started, or does not end well.
    """
    if topic["engine"] == "words":
        yield Words()
        return
    command = topic["command"]
    with tempfile.TemporaryFile() as said:
        process = _started(command, said)
        try:
            program = Command(process, command, said, silence_s)
            yield program
            program.finish()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            _close(process.stdin)


def _started(command: str, said: Any) -> subprocess.Popen:
    try:
        return subprocess.Popen(  # noqa: S603 -- the user's own program, and no shell
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said
        )
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UserError(f"study.topic.command: '{command}' can't be started: {cause}") from error


def _close(stream: Any) -> None:
    with suppress(BrokenPipeError):
        stream.close()


def _shown(line: bytes) -> str:
    return repr(line[:_SHOWN].decode("utf-8", "replace").rstrip("\n"))
