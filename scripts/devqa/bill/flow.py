"""How many requests each step will send: counted where its input is there, else reckoned from the steps before it.

What a step asks about depends on the answers at the steps before it. Two figures flow along: `renewed` dialogues, whose
texts come out new, so that all later steps ask anew about them; and `opened` pairs, which may pass a check that has
rejected them so far, so that later steps see them for the first time.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from devqa.bill.dialogues import Dialogues
from devqa.bill.meter import GOES_ON, IN_ROUNDS, Altered, Missing, Reading
from devqa.bill.plan import Planned
from devqa.bill.rates import Rates
from devqa.bill.spent import Earlier
from devqa.recipe import asked_models
from devqa.steps.queries import SCHEMA as QUERIES

Basis = Literal["exact", "present", "earlier", "paper", "guess"]
Group = Sequence[tuple[Planned, list[Reading]]]

# In the order in which data flows. Some ask the search engine in place of a model (`devqa.bill.searches`).
RULES = (
    "queries",
    "search",
    "condense",
    "generate",
    "check",
    "evidence",
    "verify",
    "difficulty",
    "domains",
    "retrieve",
    "answer",
    "judge",
)
SEARCHING = ("search", "evidence", "retrieve")
# What they bring makes later texts come out new; they choose among pairs; each job asks about all of the benchmark.
WRITING = ("queries", "search", "condense", "generate")
CHOOSING = ("check", "verify", "difficulty")
WHOLE = ("domains", "retrieve", "answer")
_MOST_QUERIES = QUERIES["properties"]["queries"]["maxItems"]


@dataclass
class Line:
    """What one model, or the search engine, is asked at one step, in one part. Answers have a part for each setting.

    Attributes:
        asked: how it is asked (`devqa.config.models.asked_with`). Of the engine: how many requests a search takes,
            `usually` and `at_most`.
        recipe: of one of its jobs.
        sure: the requests that will be sent, by key.
        likely: those that will be sent if the tables before them come out as they are.
        cached: how many have their answer already.
        further, most: how many come to that whose text is not known yet: probably, and at most.
        unbounded: of `most`, those that hold a text of any length.
        bases: what all this was counted on.
    """

    rule: str
    role: str
    label: str
    asked: dict[str, Any]
    recipe: str
    sure: dict[str, Missing] = field(default_factory=dict)
    likely: dict[str, Missing] = field(default_factory=dict)
    cached: float = 0.0
    further: float = 0.0
    most: float = 0.0
    unbounded: float = 0.0
    bases: set[Basis] = field(default_factory=set)

    @property
    def sent(self) -> float:
        """How many requests will probably be sent."""
        return len(self.sure) + len(self.likely) + self.further

    @property
    def sent_most(self) -> float:
        """How many will be sent at most."""
        return len(self.sure) + len(self.likely) + self.most


class _Given(NamedTuple):
    """Answers of one model in one setting: probably new, as before, and new at most."""

    sent: float
    cached: float
    most: float
    bases: set[Basis]


def flow(
    measured: Group,
    dialogues: Dialogues,
    rates: Rates,
    earlier: Earlier,
    config: Mapping[str, Any],
    rows: int | None = None,
) -> list[Line]:
    """What each model is asked at each step.

    Args:
        measured: the jobs that will run, each with its readings (none where its input is not there).
        rows: how many rows of the benchmark each model is asked, where that is known (`bill.benchmark.asked_rows`).
    """
    stream = _Stream(dialogues, rates, earlier, config, rows)
    lines: list[Line] = []
    for rule in RULES:
        if group := [(job, readings) for job, readings in measured if job.rule == rule]:
            lines += stream.step(rule, group)
    return lines


class _Stream:
    """What has come down to a step from those before it."""

    def __init__(
        self, dialogues: Dialogues, rates: Rates, earlier: Earlier, config: Mapping[str, Any], asked: int | None
    ):
        self._dialogues = dialogues
        self._rates = rates
        self._earlier = earlier
        self._config = config
        self._asked = asked
        self._renewed = 0.0 if dialogues.read else float(dialogues.new)
        self._renewed_most = dialogues.altered
        self._opened = 0
        self._rows = 0
        # Every table before comes out as it is.
        self._settled = not dialogues.altered
        self._shards = sum(source["shards"] for source in config["dialogues"].values())
        self._seen: set[tuple[str, str, str]] = set()
        # By model, and the part that it plays in its setting.
        self._answers: dict[tuple[str, str], _Given] = {}
        self._other_answers: Counter[tuple[str, str]] = Counter()

    def step(self, rule: str, group: Group) -> list[Line]:
        """The lines of one rule, from its jobs and what has come down to it; passes on what comes of them."""
        if any(job.unsettled for job, _ in group):
            self._renewed_most = self._dialogues.count
            self._settled = False
        lines = {(line.role, line.label): line for line in _lines(group)}
        for job, readings in group:
            for reading in readings:
                self._count(lines[reading.role, reading.label], reading, self._settled or job.basis == "exact")
        for line in lines.values():
            jobs = [(job, readings) for job, readings in group if _plays(job, line)]
            if rule == "judge":
                self._reckon_judge(line, jobs)
            else:
                present = [each for each in jobs if each[1] and each[0].basis == "present" and not self._settled]
                self._reckon(line, present, [each for each in jobs if not each[1]])
        self._pass_on(rule, group, list(lines.values()))
        return list(lines.values())

    def _count(self, line: Line, reading: Reading, sure: bool) -> None:
        asked = [(reading.endpoint, reading.model, key) for key in reading.keys]
        new = {key: reading.missing[key] for *_, key in asked if key in reading.missing}
        new = {key: each for key, each in new.items() if (reading.endpoint, reading.model, key) not in self._seen}
        self._seen.update(asked)
        (line.sure if sure else line.likely).update(new)
        line.cached += len(reading.cached)
        line.further += reading.further
        line.most += reading.most
        line.bases.add("exact" if sure and not reading.most else "present")

    def _reckon(self, line: Line, present: Group, missing: Group) -> None:
        """Add what the text of is not known: for renewed dialogues and opened pairs, and where no input is there."""
        if line.rule == "retrieve" and self._searched_before():
            line.cached += len(missing) * self._rates.requests["retrieve"] * self._dialogues.count
            line.bases |= {self._basis(line)} if missing else set()
            return
        # Each repeat of these jobs asks about all rows of the benchmark; all shards of another step together do so.
        whole = line.rule in WHOLE
        if whole and self._asked is not None:
            self._reckon_rows(line, present, missing, self._asked)
            return
        if present:
            there = sum(len(each.cached) for _, readings in present for each in _own(readings, line))
            opened = min(self._opened, max(0, self._rows - _rows(present))) * self._times(line)
            most = (self._renewed_most * self._most(line) + opened) * (_repeats(present) if whole else 1)
            line.cached -= there * self._replaced
            line.further += min(there * self._share, most)
            line.most += most
        if missing:
            times = _repeats(missing) if whole else len(missing) / self._shards
            expected = self._rates.requests[_rate(line)] * self._dialogues.count * times
            expected *= self._times(line) if line.rule == "difficulty" else self._turns(line)
            self._expect(line, expected, self._dialogues.count * self._most(line) * max(1, times), self._basis(line))

    def _searched_before(self) -> bool:
        """Have questions of the benchmark been searched for when they were pairs, for no fewer pages?"""
        evaluation = self._config["evaluation"]
        return (
            evaluation["benchmark"] is None and evaluation["rag"]["pages"] <= self._config["steps"]["verify"]["pages"]
        )

    def _reckon_rows(self, line: Line, present: Group, missing: Group, rows: int) -> None:
        """Add what is asked about `rows` questions that are known, and shown what is still to be found with them."""
        reworded = [(job, _own(readings, line)) for job, readings in present if job.unsettled]
        there = sum(len(reading.cached) for _, readings in reworded for reading in readings)
        line.cached -= there
        line.further += there
        line.most += _repeats(reworded) * rows * self._times(line) if line.role in IN_ROUNDS else there
        if missing:
            asked = rows * _repeats(missing)
            self._expect(line, asked * self._turns(line), asked * self._times(line), "present")

    def _expect(self, line: Line, expected: float, most: float, basis: Basis) -> None:
        """Add `expected` requests of which nothing is there yet. What is asked as before, the cache may know."""
        cached = min(expected * (1 - self._share), self._kept(line))
        line.cached += cached
        line.further += expected - cached
        line.most += max(most, expected)
        line.bases.add(basis)

    def _basis(self, line: Line) -> Basis:
        """What requests are reckoned on that nothing is there of."""
        return "earlier" if _rate(line) in self._rates.earlier else "paper"

    def _reckon_judge(self, line: Line, jobs: Group) -> None:
        """A judge is asked about every answer that is new to it."""
        for job, readings in jobs:
            given = self._answers.get(_answering(job))
            if job.basis == "exact":
                continue
            if given is None:
                self._reckon_imported(line, job, readings)
                continue
            sent, cached, most, _ = given
            line.further += sent
            line.most += max(most, self._other_answers[_answering(job)], cached if job.unsettled else 0)
            line.bases |= given.bases - {"exact"} or {"present"}
            if readings:
                line.cached -= sum(len(each.cached) for each in readings) * sent / max(1.0, sent + cached)
            else:
                known = min(cached, self._kept(line))
                line.cached += known
                line.further += cached - known
                line.most += cached

    def _reckon_imported(self, line: Line, job: Planned, readings: Sequence[Reading]) -> None:
        """Add what a judge is asked about answers from elsewhere that wait for a benchmark which is yet to be built."""
        if not readings:
            repeats = len(job.output["grades"])
            rows = self._dialogues.count * repeats
            self._expect(line, self._rates.requests[_rate(line)] * rows, rows * self._most(line), self._basis(line))

    def _pass_on(self, rule: str, group: Group, lines: Sequence[Line]) -> None:
        """Take note of what becomes of this rule's tables."""
        if rule in ("domains", "evidence", "retrieve"):
            # No later step asks about a domain; of what is still to be found nobody knows what it will make of answers.
            self._settled &= rule == "domains" or not any(line.sent_most for line in lines)
            return
        every = self._dialogues.count
        altered = [readings[0].altered if readings else None for _, readings in group]
        unknown = None in altered
        rows, renewed = (sum(counts) for counts in zip(*(each or Altered(0, 0) for each in altered), strict=True))
        self._settled &= not (unknown or rows)
        if rule in WRITING:
            sent, cached = lines[0].sent, lines[0].cached
            # Of a step whose input is not there nobody knows which requests are new: those before it tell.
            share = sent / (sent + cached) if sent and not unknown else 0.0
            self._renewed = min(every, max(self._renewed, share * every, renewed))
            self._renewed_most = min(every, self._renewed_most + (every if unknown else renewed))
        elif rule in CHOOSING:
            self._opened += rows
            self._renewed_most = every if unknown else self._renewed_most
            self._rows = max(self._rows, _rows(group))
        elif rule == "answer":
            self._answers = {(line.label, line.role): self._given(line, group) for line in lines}
            for (job, _), each in zip(group, altered, strict=True):
                self._other_answers[_answering(job)] += each.rows if each else 0
        self._renewed_most = max(self._renewed_most, math.ceil(self._renewed))

    def _given(self, line: Line, group: Group) -> _Given:
        """The answers of `line`: one for each request, but one for each conversation where there are rounds."""
        if line.role not in IN_ROUNDS:
            return _Given(line.sent, line.cached, line.sent_most, line.bases)
        most = (
            self._dialogues.count * self._config["steps"]["generate"]["pairs"] if self._asked is None else self._asked
        )
        rows = sum(
            len(readings[0].keys)
            if readings and (self._settled or job.basis == "exact")
            else most * _repeats([(job, readings)])
            for job, readings in group
            if _plays(job, line)
        )
        # A conversation lacks one answer, and what may come after that.
        after = sum(each.further for _, readings in group for each in _own(readings, line))
        lacking = len(line.sure) + len(line.likely) + max(0.0, line.further - after) / self._turns(line)
        sent = min(lacking, rows)
        return _Given(sent, min(line.cached, rows - sent), min(line.sent_most, rows), line.bases)

    @property
    def _share(self) -> float:
        """Of all dialogues, those that are renewed."""
        return self._renewed / max(1, self._dialogues.count)

    @property
    def _replaced(self) -> float:
        """Of the dialogues in the tables, those that are renewed."""
        before = self._dialogues.count - self._dialogues.new
        return max(0.0, self._renewed - self._dialogues.new) / max(1, before)

    def _kept(self, line: Line) -> float:
        """How many answers the cache holds beside those that were counted already."""
        return max(0.0, self._earlier.kept(line.asked, line.role) - line.cached)

    def _times(self, line: Line) -> int:
        """How often one pair is asked about, or one search at most."""
        if line.rule in SEARCHING:
            return line.asked["at_most"]
        if line.rule == "difficulty" and line.role == "judge":
            return len(self._config["steps"]["difficulty"]["models"])
        if line.role in IN_ROUNDS:
            return self._config["evaluation"]["agentic"]["rounds"] + 1
        return 2 if line.rule == "verify" else 1

    def _turns(self, line: Line) -> float:
        """How often one question is probably asked about, where nothing is there: once, but for rounds and searches."""
        if line.rule in SEARCHING:
            return line.asked["usually"]
        return sum(GOES_ON**number for number in range(self._times(line))) if line.role in IN_ROUNDS else 1

    def _most(self, line: Line) -> int:
        """How many requests one dialogue leads to at most."""
        if line.rule == "condense":
            return self._config["search"]["results"]
        if line.rule == "search":
            return _MOST_QUERIES * self._times(line)
        return 1 if line.rule in WRITING else self._config["steps"]["generate"]["pairs"] * self._times(line)


def _lines(group: Group) -> Iterator[Line]:
    """An empty line for every part that a model plays in these jobs."""
    made = set()
    for job, _ in group:
        for asked in asked_models(job.recipe):
            if (part := (asked["role"], asked["label"])) not in made:
                made.add(part)
                yield Line(job.rule, *part, asked, job.recipe)


def _plays(job: Planned, line: Line) -> bool:
    return any((asked["role"], asked["label"]) == (line.role, line.label) for asked in asked_models(job.recipe))


def _answering(job: Planned) -> tuple[str, str]:
    """The model whose answers a job gives or grades, and the part that it plays; of no use for imported ones."""
    setting = job.wildcards.get("setting", "plain")
    return job.wildcards.get("model", ""), "answer" if setting == "plain" else setting


def _rate(line: Line) -> str:
    """The rule whose rate tells how often this is asked: once for each row of the benchmark."""
    return "answer" if line.rule in ("domains", "judge") else line.rule


def _own(readings: Sequence[Reading], line: Line) -> list[Reading]:
    return [reading for reading in readings if (reading.role, reading.label) == (line.role, line.label)]


def _repeats(group: Group) -> int:
    """How often these jobs ask about all rows: answers are given once for each repeat."""
    return sum(len(job.output["answers"]) if job.rule == "answer" else 1 for job, _ in group)


def _rows(group: Group) -> int:
    """The rows that come to a step: what its first question is asked about, in all shards or by one model."""
    rows = [len(readings[0].keys) // _repeats([(job, readings)]) for job, readings in group if readings]
    return max(rows, default=0) if group[0][0].rule in WHOLE else sum(rows)
