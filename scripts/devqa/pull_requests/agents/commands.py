"""repository_questions → predictions of an external agent: a command that runs in a copy, and prints its answer.

How each run ended is kept, because it was paid for, and what has ended well is run once (`runs`).
"""

import hashlib
import re
import shlex
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple

import orjson

from devqa import stopping
from devqa.errors import UserError
from devqa.llm.cache import Record
from devqa.progress import Progress
from devqa.prompts import Prompt
from devqa.pull_requests.agents import runs
from devqa.pull_requests.agents.copies import Copies, copies
from devqa.pull_requests.agents.printed import answer_and_cost, shown
from devqa.pull_requests.agents.process import End, run
from devqa.pull_requests.repositories.repository import Repository, open_named
from devqa.steps.outcomes import OK, failed
from devqa.tables import Row
from devqa.text import whole

STEP = "pr_command"
_PLACEHOLDER = re.compile(r"\{(question|checkout)\}")


class Command(NamedTuple):
    """A command of section `pull_requests.evaluation.commands`: its `name` there, and its keys."""

    name: str
    command: str
    timeout_s: float
    jobs: int = 1
    answer_key: str = ""
    usd_key: str = ""

    @property
    def key(self) -> str:
        """Where it stands in the configuration."""
        return f"pull_requests.evaluation.commands.{self.name}.command"

    @property
    def program(self) -> str:
        """The program's name, as it stands there."""
        return shlex.split(self.command)[0]

    def words(self, program: str, question: str, checkout: Path) -> list[str]:
        """The words to run: `program` in place of the first one, and the placeholders of the others replaced."""
        values = {"question": question.replace("\0", " "), "checkout": str(checkout)}
        others = shlex.split(self.command)[1:]
        return [program, *(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in others)]


class _Task(NamedTuple):
    """A question to be put to the command, the words of the prompt, and the key under which its runs are kept."""

    row: Row
    repeat: int
    text: str
    key: str


def answered(
    questions: Sequence[Row],
    command: Command,
    prompt: Prompt,
    repeats: Sequence[int],
    *,
    origins: Mapping[str, Mapping[str, str]],
    cache: Path,
    offline: bool,
    forced_at: float | None = None,
) -> tuple[list[Row], bool]:
    """Rows of table `predictions`, one for each repeat and question: what the command printed, how it ended, its cost;
    and whether the next start runs some of them again by itself.

    A run has failed if it has not ended well (`process.End`), or there is no answer in what it printed. What has ended
    well is never run again, what was ended by the time limit only with a larger one, all else three times in all.
    `exit_code` is null where a process was killed.

    Args:
        origins: by label, where each repository comes from (`repository.open_repository`).
        forced_at: when somebody has forced the job, if so: what had failed until then is run again.

    Raises:
        UserError: the command's program is missing, or a copy of a repository can't be made.
        devqa.stopping.Stopped: the process was told to stop; what was answered until then is kept.
    """
    tasks = [_task(row, repeat, command, prompt) for repeat, row in product(repeats, questions)]
    shelf = runs.shelf(cache, command.program)
    ended = runs.kept_on(shelf, {task.key for task in tasks})
    due = [task for task in tasks if runs.is_due(ended[task.key], command.timeout_s, forced_at)]
    with Progress(f"{STEP} with {command.name}", len(tasks)) as progress:
        progress.advance(len(tasks) - len(due), cached=len(tasks) - len(due))
        if due:
            every = _run_all({task.key: task for task in due}, command, origins, cache, offline)
            with closing(every) as ran, shelf.writer(STEP) as writer:
                for task, record in ran:
                    writer.write(task.key, record)
                    ended[task.key].append(record)
                    row = _row(task, command, ended[task.key])
                    progress.advance(failed=row["status"] != "ok", usd=row["usd"] or 0.0)
            stopping.check()
    again = any(runs.fate(ended[task.key], command.timeout_s) == runs.AGAIN for task in tasks)
    return [_row(task, command, ended[task.key]) for task in tasks], again


def _task(row: Row, repeat: int, command: Command, prompt: Prompt) -> _Task:
    messages = prompt.messages({}, {"question": row["question"], "repository": row["name"]})
    text = whole("\n\n".join(message["content"] for message in messages))
    material = [command.command, text, row["name"], row["commit"], repeat]
    return _Task(row, repeat, text, hashlib.sha256(orjson.dumps(material)).hexdigest())


def _run_all(
    tasks: Mapping[str, _Task], command: Command, origins: Mapping[str, Mapping[str, str]], cache: Path, offline: bool
) -> Iterator[tuple[_Task, Record]]:
    """Each of `tasks` with what is kept of its run, as they end; not those that a stop has left."""
    program = shutil.which(command.program)
    if program is None:
        raise UserError(f"{command.key}: there is no program {command.program!r}: install it or name it")
    # From here, and not from a copy, where somebody else may have put one of its name.
    program = str(Path(program).absolute())

    def where(task: _Task) -> tuple[str, str]:
        return task.row["repository"], task.row["commit"]

    for (label, commit), group in groupby(sorted(tasks.values(), key=where), key=where):
        with open_named(origins, label, commit, cache, offline) as repository:
            yield from _run_in(repository, label, list(group), command, program)


def _run_in(
    repository: Repository, label: str, tasks: Sequence[_Task], command: Command, program: str
) -> Iterator[tuple[_Task, Record]]:
    # The first ends what is under way, the other one only lets nothing begin.
    stop, enough = threading.Event(), threading.Event()
    jobs = min(command.jobs, len(tasks))

    def work(task: _Task, lent: Copies) -> tuple[_Task, Record] | None:
        if stop.is_set() or enough.is_set():
            return None
        try:
            with lent.one() as folder:
                ran = run(command.words(program, task.text, folder), folder, command.timeout_s, stop)
        except Exception:
            enough.set()
            raise
        return None if ran.end == End.STOPPED else (task, runs.kept(ran, command.timeout_s, command.usd_key))

    with (
        stopping.gently(lambda hurry: stop.set()),
        copies(repository, label, jobs) as lent,
        ThreadPoolExecutor(jobs) as pool,
    ):
        try:
            yield from _given([pool.submit(work, task, lent) for task in tasks])
        finally:
            # Also where nobody wants the rest, such as when what was printed can't be kept.
            stop.set()
    stopping.check()


def _given(futures: Sequence[Future]) -> Iterator[tuple[_Task, Record]]:
    """What the runs give, as they end. An error is raised when all have ended: those under way are paid for."""
    for future in as_completed(futures):
        if future.exception() is None and (given := future.result()):
            yield given
    for future in futures:
        future.result()


def _row(task: _Task, command: Command, ended: Sequence[Record]) -> Row:
    """The row of table `predictions` of a task with these runs."""
    record = runs.told(ended)
    if record["end"] == End.WELL:
        answer, usd = answer_and_cost(record["stdout"], command.answer_key, command.usd_key)
        problem = "" if answer else f"{runs.ENDED_WELL.mark} {command.answer_key} in what it printed"
    else:
        answer, usd, problem = None, record["usd"], runs.problem(ended, command.timeout_s)
    became = {"outcome": "ok", "raw": "", **OK}
    if problem:
        became = {"outcome": "error", "raw": shown(record["stdout"]), **failed(problem)}
    return {
        "id": task.row["id"],
        "setting": "command",
        "model": command.name,
        "repeat": task.repeat,
        "answer": answer,
        "shown": [],
        "tool_calls": [],
        **{name: record[name] for name in ("seconds", "exit_code")},
        "usd": usd,
        "usage": [],
        **became,
    }
