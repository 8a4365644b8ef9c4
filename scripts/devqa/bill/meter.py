"""What a job would ask: its own script is run with a meter in place of a model.

The script reads its inputs, renders its prompts and asks as it always does; what the cache holds is answered, for the
rest nothing is sent. Its tables go to a temporary folder.
"""

import filecmp
import functools
import itertools
import runpy
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, NamedTuple

import orjson
import pyarrow.parquet as pq

from devqa.bill.plan import Files, Planned
from devqa.errors import UserError
from devqa.llm import outcomes
from devqa.llm.cache import Cache
from devqa.llm.outcomes import Answer
from devqa.llm.requests import Request, body, key
from devqa.llm.structured import mode_for
from devqa.tokens import estimate

SCRIPTS = Path(__file__).resolve().parents[2]
# Columns that go into no request of a later step.
_NEVER_ASKED_ABOUT = frozenset(
    {"outcome", "raw", "usage", "references", "supports", "passages", "tool_calls", "seconds"}
)
# The parts in which a model is asked in rounds, and how many conversations go on after a round where nothing tells.
IN_ROUNDS = ("agentic", "pr_agentic")
GOES_ON = 0.7


class Missing(NamedTuple):
    """A request that the cache has no answer to.

    `sent_bytes` is the length of its body, `input_tokens` an estimate on the safe side, `max_tokens` the longest answer
    that it allows: the model's context where it sets no limit.
    """

    sent_bytes: int
    input_tokens: int
    max_tokens: int
    structured: bool


class Altered(NamedTuple):
    """How many rows of a table would come out otherwise, and of how many dialogues (answers: questions) they are."""

    rows: int
    dialogues: int


@dataclass(frozen=True)
class Reading:
    """What one call of `ask` in one job asked.

    Attributes:
        rule, role, label: which step, the part that the model plays in it, and the model's name in the configuration.
        endpoint, model: whose answers these are in the cache (`Cache.shelf`).
        keys: of all requests, each once, in their order.
        cached: those that the cache holds an answer to.
        missing: all others.
        further, most: how many requests this call will have beside `keys` once all before it is answered: what the
            answered ones let expect, and at most.
        complete: `keys` of all readings of the job are all that it will ask.
        altered: what would come out other than it stands in the job's tables now; None where there are none yet.
    """

    rule: str
    role: str
    label: str
    endpoint: str
    model: str
    keys: tuple[str, ...]
    cached: frozenset[str]
    missing: dict[str, Missing]
    further: float
    most: int
    complete: bool
    altered: Altered | None


class _Asked(NamedTuple):
    """One call of `ask`; `first`: no other was made before it through the same meter."""

    meter: "Meter"
    first: bool
    keys: tuple[str, ...]
    missing: dict[str, Missing]


class Meter:
    """Stands in for `devqa.llm.chat.Chat`: answers from the cache, sends nothing, and notes what was asked.

    Args:
        noted: where every call of `ask` is noted, those of all meters of a job in their order.
        asked, runtime, cache, step, budget: as `Chat` takes them.
    """

    def __init__(
        self,
        noted: list[_Asked],
        asked: dict[str, Any],
        runtime: dict[str, Any],
        cache: Cache,
        step: str,
        budget: object = None,
    ):
        self.label: str = asked["label"]
        self.context: int = asked["context"]
        self.max_tokens: int = asked["sampling"].get("max_tokens", 0)
        self.unanswered = 0
        self.asked = asked
        self.role = step
        self._noted = noted
        self._shelf = cache.shelf(asked["endpoint"], asked["model"])
        self._structured = mode_for(asked["structured"], self._shelf.folder)

    def __enter__(self) -> "Meter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        return

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        """The cached answers to `requests`, and for the others one that can't be used."""
        keys = [key(self.asked, request) for request in requests]
        answers = {key: outcomes.answer(record, True) for key, record in self._shelf.lookup(keys).items()}
        missing = {
            key: self._missing(request)
            for key, request in dict(zip(keys, requests, strict=True)).items()
            if key not in answers
        }
        first = all(asked.meter is not self for asked in self._noted)
        self._noted.append(_Asked(self, first, tuple(dict.fromkeys(keys)), missing))
        unasked = outcomes.answer(outcomes.failed("not asked yet"), False)
        return [answers.get(key, unasked) for key in keys]

    def _missing(self, request: Request) -> Missing:
        wanted = body(self.asked, request, self._structured)
        sent = orjson.dumps(wanted)
        limit = wanted.get("max_completion_tokens") or wanted.get("max_tokens") or self.context
        return Missing(len(sent), estimate(sent.decode()), limit, request.schema is not None)


class _Named(dict):
    """Named values as Snakemake gives them to a script: also as attributes."""

    __getattr__ = dict.__getitem__


def measured(job: Planned, config: Mapping[str, Any]) -> list[Reading]:
    """What `job` would ask, one reading for each call of `ask`.

    None where an input is not there, or can't be read and will be made again, such as one of an earlier version.

    Raises:
        UserError: an input can't be read, a prompt can't be rendered, a segment of the cache can't be read.
    """
    return if_readable(job, lambda: _measured(job, config))


def if_readable(job: Planned, read: Callable[[], list[Reading]]) -> list[Reading]:
    """What `read` finds in the inputs of `job`; nothing where they are not there, or are not readable yet, such as a
    repository without its clone.

    Raises:
        UserError: an input can't be read, and stays as it is.
    """
    try:
        return [] if job.basis == "missing" else read()
    except UserError:
        if job.basis == "present" or job.opens:
            return []
        raise


def _measured(job: Planned, config: Mapping[str, Any]) -> list[Reading]:
    noted: list[_Asked] = []
    lacking: list[int] = []
    with tempfile.TemporaryDirectory(prefix="devqa-bill-") as folder:
        output = moved(job.output, Path(folder))
        run_script(job, config, output, noted, lacking)
        altered = _altered(flat(output), flat(job.output))
    in_rounds = bool(noted) and noted[0].meter.role in IN_ROUNDS
    further = list(_further_in_rounds(noted, lacking) if in_rounds else _further(noted))
    complete = not any(most for _, most in further)
    return [
        Reading(
            rule=job.rule,
            role=asked.meter.role,
            label=asked.meter.label,
            endpoint=asked.meter.asked["endpoint"],
            model=asked.meter.asked["model"],
            keys=asked.keys,
            cached=frozenset(asked.keys) - asked.missing.keys(),
            missing=asked.missing,
            further=expected,
            most=most,
            complete=complete,
            altered=altered,
        )
        for asked, (expected, most) in zip(noted, further, strict=True)
    ]


def _further(noted: Sequence[_Asked]) -> Iterator[tuple[float, int]]:
    """How many requests each call lacks because answers to the call before it are missing: expected, and at most.

    A job's first call depends on no answer, nor does the first one to another model in the same part. All others ask
    about the answers to the call before, at most once about each: as often as about those that are there.
    """
    for asked, before in zip(noted, [None, *noted[:-1]], strict=True):
        independent = before is None or (asked.first and asked.meter.role == noted[0].meter.role)
        if independent or not before.missing:
            yield 0.0, 0
        else:
            answered = len(before.keys) - len(before.missing)
            share = min(1.0, len(asked.keys) / answered) if answered else 1.0
            yield len(before.missing) * share, len(before.missing)


def _further_in_rounds(noted: Sequence[_Asked], lacking: Sequence[int]) -> Iterator[tuple[float, int]]:
    """The same for conversations in rounds, of which each call of `ask` is one.

    A conversation without its answer in one round may go on to the last, and so may one that lacks what it would be
    told: `lacking` has the number of the call, counted from 0, that each of these waits for.
    """
    expected, most = 0.0, 0
    yield from [(expected, most)] * bool(noted)
    for number, (before, asked) in enumerate(itertools.pairwise(noted), 1):
        waiting = lacking.count(number)
        answered = len(before.keys) - len(before.missing)
        share = min(1.0, (len(asked.keys) + waiting) / answered) if answered else GOES_ON
        expected = (expected + len(before.missing)) * share + waiting
        most += len(before.missing) + waiting
        yield expected, most


def run_script(
    job: Planned,
    config: Mapping[str, Any],
    output: Mapping[str, Files],
    noted: list[_Asked],
    lacking: list[int] | None = None,
) -> None:
    """Run the job's script with a meter in place of a model; its tables go to `output`, what it asks to `noted`.

    `lacking` gets the number of a call of `ask` for each conversation that can't come to it, because it needs what is
    not there and nothing may be sent for it.

    Raises:
        UserError: an input or the cache can't be read, a prompt can't be rendered.
    """
    lacking = [] if lacking is None else lacking
    snakemake = stand_in(job, config, output)
    snakemake.chat = functools.partial(Meter, noted)
    snakemake.lacks = lambda: lacking.append(len(noted))
    runpy.run_path(str(SCRIPTS / f"{job.rule}.py"), init_globals={"snakemake": snakemake})


def stand_in(job: Planned, config: Mapping[str, Any], output: Mapping[str, Files] | None = None) -> SimpleNamespace:
    """What the job's script takes for Snakemake's object (see `devqa.job`); nothing is sent to search engines."""
    return SimpleNamespace(
        rule=job.rule,
        input=_Named(job.input),
        output=_Named(output or {}),
        wildcards=_Named(job.wildcards),
        params=_Named(recipe=job.recipe),
        threads=job.threads,
        resources=_Named(job.resources),
        config=dict(config),
        scriptdir=str(SCRIPTS),
        lacks=lambda: None,
    )


def moved(files: Mapping[str, Files], folder: Path) -> dict[str, Files]:
    """The same names with files in `folder`."""
    return {
        name: str(folder / name)
        if isinstance(paths, str)
        else [str(folder / f"{name}-{number}") for number in range(len(paths))]
        for name, paths in files.items()
    }


def flat(files: Mapping[str, Files]) -> list[str]:
    """The files without their names."""
    return [path for paths in files.values() for path in ([paths] if isinstance(paths, str) else paths)]


def _altered(made: Sequence[str], there: Sequence[str]) -> Altered | None:
    if not all(Path(file).exists() for file in there):
        return None
    if all(filecmp.cmp(*files, shallow=False) for files in zip(made, there, strict=True)):
        return Altered(0, 0)
    before = {row for file in there for row in _rows(file)}
    others = [identifier for file in made for identifier, row in _rows(file) if (identifier, row) not in before]
    return Altered(len(others), len(set(others)))


def _rows(file: str) -> Iterator[tuple[str, bytes]]:
    """Each row's dialogue, pull request or question and all that a later step may ask about."""
    with pq.ParquetFile(file) as table:
        columns = [name for name in table.schema_arrow.names if name not in _NEVER_ASKED_ABOUT]
        for batch in table.iter_batches(batch_size=1_000, columns=columns):
            for row in batch.to_pylist():
                yield row.get("dialogue_id") or row.get("pull_id") or row["id"], orjson.dumps(row)
