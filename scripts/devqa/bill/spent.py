"""What earlier answers took, as the records of the cache tell: tokens for a byte that was sent, and for an answer."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devqa.llm.cache import Cache, Record

# Fewer answers than this say too little about others.
ENOUGH = 20
_ANY = ""
_NEEDED = {"step", "outcome", "input_tokens", "output_tokens"}


@dataclass
class Spread:
    """The least, the greatest and the mean of some figures."""

    count: int = 0
    total: float = 0.0
    low: float = math.inf
    high: float = 0.0

    def add(self, value: float) -> None:
        """Take in one figure."""
        self.count += 1
        self.total += value
        self.low = min(self.low, value)
        self.high = max(self.high, value)

    @property
    def mean(self) -> float:
        """Of all figures; there must be one."""
        return self.total / self.count


@dataclass
class Spent:
    """Answers of one kind.

    Attributes:
        rate: input tokens for each byte of a request's body.
        input, output: tokens of one request; thoughts count as output.
        repaired: how many answers had to be asked for twice.
    """

    rate: Spread = field(default_factory=Spread)
    input: Spread = field(default_factory=Spread)
    output: Spread = field(default_factory=Spread)
    repaired: int = 0

    def add(self, record: Record) -> None:
        """Take in a record of the cache, if the endpoint counted its tokens."""
        if not record.get("counted", True) or not record["input_tokens"]:
            return
        if record.get("repaired"):
            # Its figures are those of two requests.
            self.repaired += 1
            return
        self.input.add(record["input_tokens"])
        self.output.add(record["output_tokens"])
        if sent := record.get("sent_bytes"):
            self.rate.add(record["input_tokens"] / sent)

    @property
    def enough(self) -> bool:
        """Are there so many answers that they tell something about others?"""
        return self.rate.count >= ENOUGH


class Earlier:
    """What is known of earlier answers: by model and step, and by step alone."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], Spent] = {}
        self._kept: Counter[tuple[str, str]] = Counter()

    def add(self, shelf: str, record: Record) -> None:
        """Take in a record from the part of the cache whose folder is named `shelf`."""
        for kind in (shelf, record["step"]), (_ANY, record["step"]):
            self._of.setdefault(kind, Spent()).add(record)
        self._kept[shelf, record["step"]] += record["outcome"] == "ok"

    def of(self, asked: Mapping[str, Any], step: str) -> Spent | None:
        """What the answers of the model that is `asked` took at a step; None where there are not enough."""
        spent = self._of.get((_shelf(asked), step))
        return spent if spent and spent.enough else None

    def of_any(self, step: str) -> Spent | None:
        """The same for the answers of all models at a step."""
        spent = self._of.get((_ANY, step))
        return spent if spent and spent.enough else None

    def kept(self, asked: Mapping[str, Any], step: str) -> int:
        """How many answers of the model that is `asked` at a step the cache holds."""
        return self._kept[_shelf(asked), step]


def earlier(cache: Cache) -> Earlier:
    """What all records of `cache` tell.

    Raises:
        UserError: a segment can't be read.
    """
    found = Earlier()
    for shelf in cache.shelves():
        for _, record in shelf.records():
            if record.keys() >= _NEEDED:
                found.add(shelf.folder.name, record)
    return found


def _shelf(asked: Mapping[str, Any]) -> str:
    return Cache("").shelf(asked["endpoint"], asked["model"]).folder.name
