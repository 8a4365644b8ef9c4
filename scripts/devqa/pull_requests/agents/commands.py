"""repository_questions → predictions of an external agent: a command that runs in a checkout, and prints its answer.

What it has printed is kept, because it was paid for: what has ended well is run once. Each run has a folder that
nothing else uses meanwhile, outside the project, so that no answer of the benchmark lies above it.
"""

import hashlib
import os
import queue
import re
import shlex
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from devqa import stopping
from devqa.errors import UserError
from devqa.llm.access import Secret
from devqa.llm.cache import Cache, Record, Shelf, decode
from devqa.llm.segments import KEY
from devqa.progress import Progress
from devqa.prompts import Prompt
from devqa.pull_requests.agents.checkout import export, remove, state
from devqa.pull_requests.agents.process import run
from devqa.pull_requests.repositories.repository import Repository, open_repository
from devqa.steps.outcomes import OK, failed
from devqa.study.scrubbing_secrets import without_secrets
from devqa.tables import Row
from devqa.text import whole

STEP = "pr_command"
_LAST_WORDS = 300
_LONGEST_RAW = 10_000
# A run that ends with another code than 0 may have cost something: so often the next start tries it again by itself.
_MOST_RUNS = 3
# What is said of one that is not.
GIVEN_UP = " too often to be run again by itself"
# Of one run. More is no cost, and sums of it may be no numbers.
_MOST_USD = 1e6
_PLACEHOLDER = re.compile(r"\{(question|checkout)\}")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NAMES_A_SECRET = re.compile(r"(?i)key|token|secret|passw|credential")


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

    def words(self, program: str, question: str, checkout: Path) -> list[str]:
        """The words to run: `program` in place of the first one, and the placeholders of the others replaced."""
        values = {"question": question.replace("\0", " "), "checkout": str(checkout)}
        others = shlex.split(self.command)[1:]
        return [program, *(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in others)]


class _Task(NamedTuple):
    """A question to be put to the command, the words of the prompt, and the key under which the answer is kept."""

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
) -> list[Row]:
    """Rows of table `predictions`, one for each repeat and question: what the command printed, how it ended, its cost.

    A run has failed if it ended with another code than 0, was ended by the time limit, printed too much, or nothing in
    which there is an answer. One that ended with code 0 and printed something, but not too much, is kept and not run
    again, whether an answer is found in it or not; of all others it is only kept that they ran. `exit_code` is null
    where a process was killed.

    Args:
        origins: by label, where each repository comes from (`repository.open_repository`).

    Raises:
        UserError: the command's program is missing, or a checkout can't be made.
        devqa.stopping.Stopped: the process was told to stop; what was answered until then is kept.
    """
    tasks = [_task(row, repeat, command, prompt) for repeat, row in product(repeats, questions)]
    shelf = Cache(cache / "commands").shelf("command", shlex.split(command.command)[0])
    records, runs = _kept(shelf, {task.key for task in tasks})
    missing = [task for task in tasks if task.key not in records]
    with Progress(f"{STEP} with {command.name}", len(tasks)) as progress:
        progress.advance(len(tasks) - len(missing), cached=len(tasks) - len(missing))
        if missing:
            every = _run_all({task.key: task for task in missing}, command, origins, cache, offline)
            with closing(every) as ran, shelf.writer(STEP) as writer:
                for task, record in ran:
                    row = _row(task, command, record)
                    # What it has complained of may hold secrets.
                    kept = {"stderr": "", "outcome": row["outcome"], **({"stdout": ""} if _trouble(record) else {})}
                    writer.write(task.key, {**record, **kept})
                    records[task.key] = record
                    runs[task.key] += 1
                    progress.advance(failed=row["status"] != "ok", usd=row["usd"] or 0.0)
            stopping.check()
    return [_row(task, command, records[task.key], runs[task.key]) for task in tasks]


def may_pass(row: Row) -> bool:
    """Is a row of table `predictions` one whose command is run again by the next start?

    What has ended well, or ran into its time limit, has cost that much, and would do so again.
    """
    return row["exit_code"] not in (None, 0) and GIVEN_UP not in row["reason"]


def _task(row: Row, repeat: int, command: Command, prompt: Prompt) -> _Task:
    messages = prompt.messages({}, {"question": row["question"], "repository": row["name"]})
    text = whole("\n\n".join(message["content"] for message in messages))
    material = [command.command, text, row["name"], row["commit"], repeat]
    return _Task(row, repeat, text, hashlib.sha256(orjson.dumps(material)).hexdigest())


def _kept(shelf: Shelf, keys: set[str]) -> tuple[dict[str, Record], Counter[str]]:
    """The earliest run of each of `keys` that has printed something: it was paid for, whatever can be read of it; and
    how often each was run.
    """
    found: dict[str, Record] = {}
    runs: Counter[str] = Counter()
    for _, line in shelf.lines():
        key = line[:KEY].decode()
        if key not in keys or (record := decode(line)) is None:
            continue
        runs[key] += 1
        if record["stdout"].strip() and (key not in found or record["time"] < found[key]["time"]):
            found[key] = record
    return found, runs


def _run_all(
    tasks: Mapping[str, _Task], command: Command, origins: Mapping[str, Mapping[str, str]], cache: Path, offline: bool
) -> Iterator[tuple[_Task, Record]]:
    """Each of `tasks` with what came of it, as they end; not those that a stop has left."""
    program = shutil.which(shlex.split(command.command)[0])
    if program is None:
        raise UserError(
            f"{command.key}: there is no program {shlex.split(command.command)[0]!r}: install it or name it"
        )
    # From here, and not from a checkout, where somebody else may have put one of its name.
    program = str(Path(program).absolute())

    def where(task: _Task) -> tuple[str, str]:
        return task.row["repository"], task.row["commit"]

    for (label, commit), group in groupby(sorted(tasks.values(), key=where), key=where):
        with open_repository(origins[label], commit, cache, offline) as repository:
            yield from _run_in(repository, label, list(group), command, program)


def _run_in(
    repository: Repository, label: str, tasks: Sequence[_Task], command: Command, program: str
) -> Iterator[tuple[_Task, Record]]:
    stop = threading.Event()
    jobs = min(command.jobs, len(tasks))

    def work(task: _Task, folders: "_Folders") -> Record | None:
        if stop.is_set():
            return None
        with folders.one() as folder:
            ran = run(command.words(program, task.text, folder), folder, command.timeout_s, stop)
        return None if stop.is_set() and ran.trouble else ran._asdict()

    with (
        stopping.gently(lambda hurry: stop.set()),
        _temporary_folder() as above,
        ThreadPoolExecutor(jobs) as pool,
    ):
        folders = _Folders(repository, above, label, jobs)
        try:
            futures = {pool.submit(work, task, folders): task for task in tasks}
            for future in as_completed(futures):
                if (record := future.result()) is not None:
                    yield futures[future], record
        finally:
            # Also where one of them has raised, or nobody wants the rest.
            stop.set()
    stopping.check()


class _Folders:
    """At most `count` checkouts of a repository, below the folder `above`, each lent to one run at a time."""

    def __init__(self, repository: Repository, above: Path, label: str, count: int):
        self._repository = repository
        self._above, self._label = above, label
        self._lock = threading.Lock()
        self._made = 0
        # Each with the state in which it was made; None where it has still to be made.
        self._free: queue.SimpleQueue[tuple[Path, str] | None] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(None)

    @contextmanager
    def one(self) -> Iterator[Path]:
        """A checkout as it was made: where the run before has changed one, another one is made."""
        lent = self._free.get()
        try:
            if lent and state(lent[0]) != lent[1]:
                remove(lent[0].parent)
                lent = None
            lent = lent or self._make()
            yield lent[0]
        finally:
            self._free.put(lent)

    def _make(self) -> tuple[Path, str]:
        # A repository is read by one thread at a time.
        with self._lock:
            self._made += 1
            # Never a name of before: what a run has left there may not go away.
            folder = self._above / str(self._made) / self._label
            export(self._repository, folder)
        return folder, state(folder)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="devqa-"))
    try:
        yield folder
    finally:
        # An agent may have left what nobody may enter.
        remove(folder)


def _row(task: _Task, command: Command, record: Record, runs: int = 1) -> Row:
    """The row of table `predictions` of a run, the last of so many."""
    answer, usd, problem = _read(record["stdout"], command)
    if trouble := _trouble(record):
        trouble += GIVEN_UP if record["exit_code"] and runs >= _MOST_RUNS else ""
        said = _last_words(record["stderr"])
        problem = f"{trouble}: {said}" if said else trouble
    bad = {"outcome": "error", "raw": _without_secrets(record["stdout"])[:_LONGEST_RAW], **failed(problem)}
    return {
        "id": task.row["id"],
        "setting": "command",
        "model": command.name,
        "repeat": task.repeat,
        "answer": None if problem else answer,
        "shown": [],
        "tool_calls": [],
        **{name: record[name] for name in ("seconds", "exit_code")},
        "usd": usd,
        "usage": [],
        **(bad if problem else {"outcome": "ok", "raw": "", **OK}),
    }


def _trouble(record: Record) -> str:
    """Why a run has not ended well; "" where it has."""
    if record["trouble"] or record["exit_code"] == 0:
        return record["trouble"]
    return "it was killed" if record["exit_code"] is None else f"it ended with code {record['exit_code']}"


def _read(stdout: str, command: Command) -> tuple[str | None, float | None, str]:
    """The answer in what was printed, None where there is none, what it has cost, and why there is no answer."""
    text = stdout.strip()
    value = _json(text) if command.answer_key or command.usd_key else None
    usd = _at(value, command.usd_key) if command.usd_key else None
    usd = float(usd) if type(usd) in (int, float) and 0 <= usd < _MOST_USD else None
    answer = _at(value, command.answer_key) if command.answer_key else text
    if isinstance(answer, str) and answer.strip():
        return answer.strip(), usd, ""
    if not text:
        return None, usd, "it printed nothing"
    return None, usd, f"there is no text at answer_key {command.answer_key} in what it printed"


def _json(text: str) -> Any:
    """The JSON value in `text`, or in its last line, as programs print it that say what they do meanwhile."""
    for part in (text, text.rpartition("\n")[2]):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(part)
    return None


def _at(value: Any, key: str) -> Any:
    for name in key.split("."):
        if isinstance(value, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(value):
            value = value[int(name[:9])]
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _last_words(stderr: str) -> str:
    return " ".join(_without_secrets(_COLOURS.sub("", stderr)).split())[-_LAST_WORDS:]


def _without_secrets(text: str) -> str:
    """`text` without what the environment holds as keys, nor what looks like one."""
    for name, value in os.environ.items():
        if _NAMES_A_SECRET.search(name):
            text = Secret(value).out_of_text(text)
    return without_secrets(text)
