"""What a script gets from Snakemake, and how it ends: the one place that knows Snakemake's `snakemake` object."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from devqa import again
from devqa.errors import UserError

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake as Snakemake


class Job:
    """One job: named inputs and outputs, the recipe's options and models, and the configuration for all else."""

    def __init__(self, snakemake: "Snakemake"):
        recipe = json.loads(snakemake.params.recipe)
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
        self.prompts = Path(snakemake.scriptdir).parent / "prompts"
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

    def corpus(self) -> str | None:
        """The local search engine's table; None where the engine is another one."""
        return self.input.get("corpus") or None


@contextmanager
def job(snakemake: "Snakemake") -> Iterator[Job]:
    """Run a script's body: its log goes to the rule's log file and, as far as it concerns people, to the screen.

    A `UserError` ends the script with its message and exit code 1, Ctrl-C with 130, both without a traceback.
    """
    this = Job(snakemake)
    if this.chat:
        # It runs inside another job: the log is that job's, and so is the end.
        yield this
        return
    _log_to(snakemake.log[0])
    try:
        yield this
        if this.wants_again or any(chat.unanswered for chat in this.chats):
            again.leave(this.rule, dict(this.wildcards.items()))
    except UserError as error:
        logging.getLogger("devqa").error("%s: %s", snakemake.rule, error)
        _leave(1)
    except KeyboardInterrupt:
        logging.getLogger("devqa").error("%s: interrupted; give the same command again to go on", snakemake.rule)
        _leave(130)


def _log_to(path: str) -> None:
    logger = logging.getLogger()
    logger.setLevel(logging.WARNING)
    logging.getLogger("devqa").setLevel(logging.INFO)
    file = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.INFO if sys.stderr.isatty() else logging.ERROR)
    screen.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers = [file, screen]
    sys.excepthook = _log_uncaught


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A fault of ours: its traceback goes to the log file too, which is what people are pointed at."""
    logging.getLogger("devqa").error("unexpected error", exc_info=(kind, error, trace))


def _leave(code: int) -> None:
    logging.shutdown()
    sys.exit(code)
