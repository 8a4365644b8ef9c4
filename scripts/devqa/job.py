"""What a script gets from Snakemake, and how it ends: the one place that knows Snakemake's `snakemake` object."""

import errno
import json
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from devqa import again, attempts, edits, stopping, unchanged
from devqa.attempts import more_memory
from devqa.errors import UserError
from devqa.stopping import Stopped

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake as Snakemake


_log = logging.getLogger("devqa")


class Job:
    """One job: named inputs and outputs, the recipe's options and models, and the configuration for all else."""

    def __init__(self, snakemake: "Snakemake"):
        self.recipe = recipe = json.loads(snakemake.params.recipe)
        self.input = snakemake.input
        self.output = snakemake.output
        self.rule: str = snakemake.rule
        self.wildcards = snakemake.wildcards
        self.threads: int = snakemake.threads
        # Validated by the Snakefile, defaults filled in: limits, time-outs, prices, addresses.
        self.config: dict[str, Any] = snakemake.config
        self.options: dict[str, Any] = recipe["options"]
        self.asked: dict[str, Any] = recipe["models"]
        self.cache = Path(self.config["cache_dir"])
        self.base = Path(snakemake.scriptdir).parent
        self.prompts = self.base / "prompts"
        self.resources = snakemake.resources
        # Every `devqa.llm.chat.Chat` of the job, by which it is seen whether requests were given up.
        self.chats: list[Any] = []
        # Set by a script that was left without something that may come another time, such as a search's answer.
        self.wants_again = False
        # What asks in place of `devqa.llm.chat.Chat`: a bill counts instead of asking.
        self.chat = getattr(snakemake, "chat", None)
        # Then nothing may be sent to the web either. Called for each conversation that can't go on without it.
        self.lacks: Callable[[], None] | None = getattr(snakemake, "lacks", None)

    @property
    def offline(self) -> bool:
        """May nothing be sent to search engines and web servers? So says the configuration, or a bill that counts."""
        return self.config["offline"] or self.lacks is not None

    @property
    def forced_at(self) -> float | None:
        """When it was forced to run (`--forcerun`, in seconds since 1970), if it has not run through since."""
        return unchanged.forced_at(self.rule, dict(self.wildcards.items()))

    @property
    def fills_the_cache(self) -> bool:
        """Does it bring searches and pages from the network into the cache, where others read them? If the cache was
        deleted, its table alone is not enough.
        """
        return self.options.get("engine", "local") != "local" or self.options.get("local") is False

    def corpus(self) -> str | None:
        """The local search engine's table; None where the engine is another one."""
        return self.input.get("corpus") or None


@contextmanager
def job(snakemake: "Snakemake") -> Iterator[Job]:
    """Run a script's body: its log goes to the rule's log file and, as far as it concerns people, to the screen.

    A script whose job finds all as it left it ends here (`devqa.unchanged`): its body does not run.

    A `UserError` ends the script with its message and exit code 1, and so does a lack of memory; Ctrl-C ends it with
    130, SIGTERM with 143. None of them leaves a traceback.
    """
    this = Job(snakemake)
    if this.chat:
        # It runs inside another job: the log is that job's, and so is the end.
        yield this
        return
    _log_to(snakemake.log[0])
    name, wildcards = this.rule, dict(this.wildcards.items())

    def last_words(stopped: Stopped) -> int:
        _log.error("%s: %s", name, _why(stopped, name, wildcards))
        return 128 + stopped.signal

    stopping.listen(last_words)
    try:
        with attempts.at_work(name, wildcards):
            edits.refuse(this.recipe, this.base)
            made = None
            if not this.fills_the_cache:
                made = unchanged.Made(name, wildcards, snakemake.params.recipe, list(this.input), list(this.output))
            if made and made.take():
                _log.info("recipe and inputs are as they were: so is what was made of them")
                _leave(0)
            yield this
            edits.refuse(this.recipe, this.base)
            unchanged.unforce(name, wildcards)
            if this.wants_again or any(chat.unanswered for chat in this.chats):
                again.leave(name, wildcards)
            elif made and not any(chat.unusable for chat in this.chats):
                made.keep()
    except UserError as error:
        _log.error("%s: %s", name, error)
        _leave(1)
    except Stopped as stopped:
        _leave(last_words(stopped))
    except Exception as error:
        if not _lacks_memory(error):
            raise
        _log.error("%s: %s", name, out_of_memory(name, error))
        _leave(1)


def out_of_memory(rule: str, error: BaseException) -> str:
    """What is to be said of a job of `rule` for which there was not enough memory."""
    said = str(error) or type(error).__name__
    return f"out of memory ({said}): {more_memory(rule)}. What was answered is kept: then give the same command again"


def _why(stopped: Stopped, rule: str, wildcards: dict[str, str]) -> str:
    if stopped.signal == signal.SIGINT:
        return "interrupted: what was answered is kept, give the same command again to go on"
    if attempts.was_replaced(rule, wildcards):
        return "stopped, because another attempt of this job has begun: what was answered is kept for it"
    return (
        "told to stop (SIGTERM), as clusters do when a job's time is up or it is cancelled: what was answered is kept. "
        f"Give the same command again to go on, with more time if it was up (--set-resources {rule}:runtime=…)"
    )


def _lacks_memory(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(map(_lacks_memory, error.exceptions))
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or "can't start new thread" in str(error)


def _log_to(path: str) -> None:
    logger = logging.getLogger()
    logger.setLevel(logging.WARNING)
    logging.getLogger("devqa").setLevel(logging.INFO)
    file = _LogFile(path, encoding="utf-8", errors="backslashreplace")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.INFO if sys.stderr.isatty() else logging.ERROR)
    screen.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers = [file, screen]
    sys.excepthook = _log_uncaught


class _LogFile(logging.FileHandler):
    """The log file of a job. Where it can't grow, the job goes on without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's own name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        logging.getLogger().removeHandler(self)
        _log.error("%s can't be written (%s): make room. The job goes on without it", self.baseFilename, error.strerror)


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A fault of ours: its traceback goes to the log file too, which is what people are pointed at."""
    _log.error("unexpected error", exc_info=(kind, error, trace))


def _leave(code: int) -> None:
    logging.shutdown()
    sys.exit(code)
