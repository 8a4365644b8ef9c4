"""How many requests the questions from pull requests send (`snakemake pull_requests`), a line for each part of a model.

Where its tables are there, a job is counted. Else it is reckoned from the rows of the tables before it, which each step
thins out as those that are there tell, and from the share of these rows whose text will be new.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa import tables
from devqa.bill.flow import Basis, Group, Line
from devqa.bill.meter import GOES_ON, IN_ROUNDS, Reading
from devqa.bill.plan import Planned
from devqa.bill.rates import of_this_version
from devqa.bill.sizes import FACTS, PULLING
from devqa.bill.spent import Earlier
from devqa.ledger import Stage, stage
from devqa.pull_requests import GROUND_TRUTH
from devqa.recipe import asked_models

# The tables of a repository in the order in which data flows, each with its schema, and the part of the rows before it
# that goes on where no table tells: DeepCodeBench does not say what it left out.
_TABLES = {
    "pulls": ("pulls", 0.6),
    "context": ("context", 0.9),
    "questions": ("pull_questions", 0.95),
    "checked": ("pull_checked", 0.75),
    "answered": ("pull_answers", 0.95),
    "facts": ("pull_facts", 0.95),
}
# Of those that a model has a part in, the step that makes them.
_MAKING = {"questions": "pr_question", "checked": "pr_check", "answered": "pr_answer", "facts": "pr_facts"}
# The steps that ask about each row of a table, and those before them whose answers their requests hold.
_ASKING = {
    "pr_question": ("context", ()),
    "pr_check": ("questions", ("pr_question",)),
    "pr_answer": ("checked", ("pr_question",)),
    "pr_facts": ("answered", ("pr_question", "pr_answer")),
}
_FOLDER = "pull_requests"


def pull_request_lines(measured: Group, earlier: Earlier, config: Mapping[str, Any], results: Path) -> list[Line]:
    """What each model is asked about pull requests, one line for each model in each part.

    Args:
        measured: the jobs that will run, each with its readings (none where its input is not there).
        results: the folder with the tables of earlier runs.

    Raises:
        UserError: a table can't be read.
    """
    jobs = [(job, readings) for job, readings in measured if job.rule in PULLING]
    if not jobs:
        return []
    reckoner = _Reckoner(jobs, earlier, config["pull_requests"], results / _FOLDER)
    for job, readings in sorted(jobs, key=lambda each: list(PULLING).index(each[0].rule)):
        reckoner.add(job, readings)
    return reckoner.lines()


def becoming_questions() -> float:
    """The share of pull requests that is taken to become a row of the benchmark where no table tells."""
    return math.prod(share for _, share in _TABLES.values())


class _Reckoner:
    """What has come down to a job from those before it, and the lines so far."""

    def __init__(self, jobs: Group, earlier: Earlier, section: Mapping[str, Any], folder: Path):
        self._earlier = earlier
        self._section = section
        self._running = {(job.rule, job.wildcards.get("repository", "")) for job, _ in jobs}
        self._renewing = {job.wildcards["repository"] for job, _ in jobs if job.rule == "pr_question" and job.pending}
        self._accounts = _accounts(folder, section["repositories"])
        self._questions = _questions(folder)
        self._facts = _facts(folder)
        self._lines: dict[tuple[str, str], Line] = {}
        # Of the requests of a job, those that are probably sent, by its step and what it is about.
        self._new: dict[tuple[str, ...], float] = {}

    def lines(self) -> list[Line]:
        """All lines, in the order in which data flows."""
        parts = [part for parts in PULLING.values() for part in parts]
        return sorted(self._lines.values(), key=lambda line: parts.index(line.role))

    def add(self, job: Planned, readings: Sequence[Reading]) -> None:
        """Count what a job asks, or reckon it."""
        about, renewed, expected, most = self._flow(job)
        sent, asked = 0.0, 0.0
        for number, part in enumerate(asked_models(job.recipe)):
            line = self._lines.setdefault(
                (part["role"], part["label"]), Line(part["role"], part["role"], part["label"], part, job.recipe)
            )
            before = line.sent, line.sent + line.cached, line.most
            own = [each for each in readings if each.role == line.role]
            if own:
                self._count(line, own, job, renewed, most)
            elif not readings:
                self._reckon(line, expected, most, renewed, self._basis(job))
            if job.rule == "pr_recall" and about[0] == "command":
                # No limit of tokens is set for what a command prints.
                line.unbounded += line.most - before[2]
            if not number:
                # Of the parts of a step, the first writes what later steps ask about.
                sent, asked = line.sent - before[0], line.sent + line.cached - before[1]
        self._new[(job.rule, *about)] = sent / asked if asked else 0.0

    def _count(self, line: Line, readings: Sequence[Reading], job: Planned, renewed: float, most: float) -> None:
        """Add what was read; where tables before it will be made again, as many requests come to it as are renewed."""
        settled = job.basis == "exact"
        new = {key: each for reading in readings for key, each in reading.missing.items()}
        cached = sum(len(reading.cached) for reading in readings)
        replaced = 0.0 if settled else cached * renewed
        (line.sure if settled else line.likely).update(new)
        line.cached += cached - replaced
        # A conversation in rounds goes on from its last reading; other calls lack what they lack each.
        further = [(reading.further, reading.most) for reading in readings]
        line.further += sum(each for each, _ in further) + replaced
        bound = sum(each for _, each in further)
        line.most += bound if settled else max(bound, most - len(new), replaced)
        line.bases.add("exact" if settled and not bound else "present")

    def _reckon(self, line: Line, expected: float, most: float, renewed: float, basis: Basis) -> None:
        """Add what a job asks of which nothing is there. What is asked as before, the cache may know."""
        kept = max(0.0, self._earlier.kept(line.asked, line.role) - line.cached)
        cached = min(expected * (1 - renewed), kept)
        line.cached += cached
        line.further += expected - cached
        line.most += max(most, expected)
        line.bases.add(basis)

    def _flow(self, job: Planned) -> tuple[tuple[str, ...], float, float, float]:
        """What a job is about; the share of its requests that is renewed; how many it has, and at most."""
        if job.rule in _ASKING:
            repository = job.wildcards["repository"]
            table, before = _ASKING[job.rule]
            renewed = max([self._new.get((step, repository), 0.0) for step in before], default=0.0)
            return (repository,), renewed, self._passing(repository, table), self._bound(repository, table)
        setting = job.wildcards.get("setting", GROUND_TRUTH)
        about = (setting, job.wildcards.get("agent", GROUND_TRUTH))
        repeats = len(job.output["predictions" if job.rule == "pr_predict" else "recalled"])
        asked, most = self._benchmark()
        if job.rule == "pr_predict":
            turns, longest = self._turns(job)
            return about, self._share("pr_question"), asked * repeats * turns, most * repeats * longest
        renewed = max(self._share("pr_facts"), self._answers_renewed(job, about))
        batches, longest = self._batches()
        return about, renewed, asked * repeats * batches, most * repeats * longest

    def _answers_renewed(self, job: Planned, about: tuple[str, ...]) -> float:
        if about[0] == GROUND_TRUTH:
            return self._share("pr_answer")
        if about[0] == "command":
            # What a command says the second time is another answer.
            return float(any(file in job.pending for file in job.input["predictions"]))
        return self._new.get(("pr_predict", *about), 0.0)

    def _turns(self, job: Planned) -> tuple[float, int]:
        """How often a question is probably asked about, and at most: once, but for conversations in rounds."""
        if not any(part["role"] in IN_ROUNDS for part in asked_models(job.recipe)):
            return 1.0, 1
        longest = self._section["evaluation"]["agentic"]["rounds"] + 1
        return sum(GOES_ON**number for number in range(longest)), longest

    def _batches(self) -> tuple[float, int]:
        """How many calls of the judge an answer probably takes, and at most."""
        batch = self._section["evaluation"]["judge"]["batch"]
        longest = math.ceil(self._section["facts"]["most"] / batch)
        if self._facts:
            return sum(math.ceil(facts / batch) for facts in self._facts) / len(self._facts), longest
        return max(1.0, FACTS / batch), longest

    def _benchmark(self) -> tuple[float, float]:
        """How many questions each agent is probably asked, and at most."""
        repositories = self._section["repositories"]
        most = sum(self._bound(repository, "facts") for repository in repositories)
        if self._questions is not None:
            return self._questions, max(most, self._questions)
        return sum(self._passing(repository, "facts") for repository in repositories), most

    def _share(self, step: str) -> float:
        """Of all rows of the benchmark, those whose requests at a step were new, over all repositories."""
        weights = {name: self._passing(name, "facts") for name in self._section["repositories"]}
        new = sum(weight * self._new.get((step, name), 0.0) for name, weight in weights.items())
        return new / sum(weights.values()) if any(weights.values()) else 0.0

    def _passing(self, repository: str, table: str) -> float:
        """How many rows of a repository's table go on: as it is, else as many as of those before it."""
        if account := self._accounts.get((repository, table)):
            return account.passed
        before = _before(table)
        rows = self._passing(repository, before) if before else self._latest(repository)
        return rows * self._passing_share(table)

    def _passing_share(self, table: str) -> float:
        found = [account for (_, name), account in self._accounts.items() if name == table]
        rows = sum(account.rows for account in found)
        return sum(account.passed for account in found) / rows if rows else _TABLES[table][1]

    def _bound(self, repository: str, table: str) -> float:
        """How many rows of a repository's table may go on at most: those of the last one before it that stays."""
        before, account = _before(table), self._accounts.get((repository, table))
        if before is None:
            return self._latest(repository)
        made_again = (
            repository in self._renewing if table == "context" else (_MAKING[table], repository) in self._running
        )
        return account.passed if account and not made_again else self._bound(repository, before)

    def _latest(self, repository: str) -> int:
        return self._section["repositories"][repository]["latest"]

    def _basis(self, job: Planned) -> Basis:
        """What requests are reckoned on of which no input is there."""
        known = {name for _, name in self._accounts}
        wanted = set(_TABLES) if job.rule not in _ASKING else set(_until(_ASKING[job.rule][0]))
        return "present" if wanted <= known else "guess"


def _before(table: str) -> str | None:
    names = _until(table)
    return names[-2] if names[1:] else None


def _until(table: str) -> list[str]:
    """The tables of a repository up to this one."""
    names = list(_TABLES)
    return names[: names.index(table) + 1]


def _accounts(folder: Path, repositories: Mapping[str, Any]) -> dict[tuple[str, str], Stage]:
    """The account of each table that is there, by repository and name, but for what an earlier version wrote."""
    files = {
        (repository, name): (schema, folder / name / f"{repository}.parquet")
        for repository in repositories
        for name, (schema, _) in _TABLES.items()
    }
    return {
        place: stage(schema, [str(file)]) for place, (schema, file) in files.items() if of_this_version([file], schema)
    }


def _questions(folder: Path) -> int | None:
    """The rows of the benchmark; None where it is not there."""
    file = folder / "questions.parquet"
    if not of_this_version([file], "repository_questions"):
        return None
    return sum(len(batch) for batch in tables.batches([file], "repository_questions", 10_000, ["id"]))


def _facts(folder: Path) -> list[int]:
    """How many facts each row of the benchmark has; none where it is not there."""
    file = folder / "facts.parquet"
    if not of_this_version([file], "repository_facts"):
        return []
    batches = tables.batches([file], "repository_facts", 10_000, ["facts"])
    return [len(row["facts"] or []) for batch in batches for row in batch]
