"""What records of the cache add up to."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from devqa.llm.cache import Record, Shelf
from devqa.llm.pricing import record_usd


@dataclass
class Tally:
    """Records of one model in one step.

    Attributes:
        outcomes: how many records have each outcome.
        answers: different requests that have an answer that is served; `hits`: how many of them are asked for now.
        input_tokens, output_tokens: of all records.
        usd: their price; None where the configuration has no price for them.
        oldest, newest: seconds since the epoch.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    answers: int = 0
    hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    oldest: float = float("inf")
    newest: float = 0.0

    def add(self, record: Record, price: Mapping[str, Any] | None) -> None:
        """Count one record; `price` is that of its model (see `devqa.llm.pricing`), None where it is not known."""
        self.outcomes[record["outcome"]] += 1
        self.input_tokens += record["input_tokens"]
        self.output_tokens += record["output_tokens"]
        if price is not None:
            self.usd = (self.usd or 0.0) + record_usd(record, price)
        self.oldest = min(self.oldest, record["time"])
        self.newest = max(self.newest, record["time"])

    @property
    def requests(self) -> int:
        """How many records there are, whatever became of them."""
        return self.outcomes.total()

    @property
    def failed(self) -> int:
        """How many of them hold no answer that can be used."""
        return self.requests - self.outcomes["ok"]


def tallies(shelf: Shelf, asked_for: Collection[str], price: Mapping[str, Any] | None) -> dict[str, Tally]:
    """The tally of each step in `shelf`.

    Args:
        asked_for: the keys that are asked for now.

    Raises:
        UserError: a segment can't be read.
    """
    steps: defaultdict[str, Tally] = defaultdict(Tally)
    served: dict[str, tuple[float, str]] = {}
    for key, record in shelf.records():
        steps[record["step"]].add(record, price)
        if record["outcome"] == "ok":
            place = (record["time"], record["step"])
            served[key] = min(served.get(key, place), place)
    for key, (_, step) in served.items():
        steps[step].answers += 1
        steps[step].hits += key in asked_for
    return dict(sorted(steps.items()))
