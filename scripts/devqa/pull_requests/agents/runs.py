"""What is kept of a command's runs, and which of them are the last: each may have cost something, however it ended.

A task is a question that is put to a command; its runs are in the order in which they ended.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from devqa.llm.cache import Cache, Record, Shelf, decode
from devqa.llm.segments import KEY
from devqa.pull_requests.agents.printed import answer_and_cost, last_words, shown
from devqa.pull_requests.agents.process import End, Ran

# So often the next start tries a run again by itself that has ended badly.
_MOST_RUNS = 3


class Fate(NamedTuple):
    """What becomes of a task: the `mark` by which a row's `reason` says it, and how an answer may yet come."""

    mark: str
    way_back: str


AGAIN = Fate("", "asked again by the next run: give the same command")
TOO_OFTEN = Fate(" too often to be run again by itself", "asked again with --forcerun pr_command")
TIMED_OUT = Fate(" (timeout_s)", "asked again with a larger timeout_s, or with --forcerun pr_command")
ENDED_WELL = Fate("there is no text at answer_key", "what it printed is kept: mend answer_key")


def told_in(reason: str) -> Fate:
    """The fate of which a row's `reason` speaks (`devqa.ledger.general` is enough of it)."""
    head = reason.partition(":")[0]
    return next((fate for fate in (TOO_OFTEN, TIMED_OUT, ENDED_WELL) if fate.mark in head), AGAIN)


def shelf(cache: Path, program: str) -> Shelf:
    """Where the runs of `program` are kept in the folder `cache`."""
    return Cache(cache / "commands").shelf("command", program)


def kept(ran: Ran, timeout_s: float, usd_key: str) -> Record:
    """What is kept of a run: of one that has ended well all that it printed, else how it ended and what it has cost."""
    record = {**ran._asdict(), "timeout_s": timeout_s, "usd": None, "stderr": "", "outcome": "ok"}
    if ran.end == End.WELL:
        return record
    _, usd = answer_and_cost(ran.stdout, "", usd_key)
    said = {"stdout": shown(ran.stdout), "stderr": last_words(ran.stderr)}
    return {**record, **said, "usd": usd, "outcome": "error"}


def kept_on(shelf: Shelf, keys: set[str]) -> dict[str, list[Record]]:
    """The runs of the tasks with these `keys`."""
    found: dict[str, list[Record]] = {key: [] for key in keys}
    for _, line in shelf.lines():
        key = line[:KEY].decode()
        # What was kept before runs were told apart by their end may hold keys of the environment.
        if key in found and (record := decode(line)) is not None and "end" in record:
            found[key].append(record)
    for runs in found.values():
        runs.sort(key=lambda record: record["time"])
    return found


def told(runs: Sequence[Record]) -> Record:
    """The run of which the row tells: the first that has ended well, so that everyone reads the same; else the last."""
    return next((run for run in runs if run["end"] == End.WELL), runs[-1])


def fate(runs: Sequence[Record], timeout_s: float) -> Fate:
    """What becomes of a task with these `runs`, of which there is one at least, under this time limit."""
    end = told(runs)["end"]
    if end == End.WELL:
        return ENDED_WELL
    if end == End.TIMEOUT:
        had = max(run["timeout_s"] for run in runs if run["end"] == End.TIMEOUT)
        return TIMED_OUT if had >= timeout_s else AGAIN
    return AGAIN if sum(run["end"] == End.BADLY for run in runs) < _MOST_RUNS else TOO_OFTEN


def is_due(runs: Sequence[Record], timeout_s: float, forced_at: float | None) -> bool:
    """Is the task to be run now?

    Args:
        forced_at: when somebody has forced the job, if so: what had failed until then is run again, and no more, so
            that a forced job that was stopped goes on where it was.
    """
    if not runs or (becomes := fate(runs, timeout_s)) == AGAIN:
        return True
    return becomes != ENDED_WELL and forced_at is not None and told(runs)["time"] < forced_at


def problem(runs: Sequence[Record], timeout_s: float) -> str:
    """Why there is no answer in the run that is told of, which has not ended well."""
    run = told(runs)
    said = f"{run['trouble']}{fate(runs, timeout_s).mark}"
    return f"{said}: {run['stderr']}" if run["stderr"] else said
