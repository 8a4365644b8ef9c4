"""What a search step needs of an engine, and what it gets."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from devqa.errors import UserError


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    url: str
    title: str
    snippet: str


class Found(NamedTuple):
    """What a query found, best first, and how many requests (pages of results) that took, now or when it was kept."""

    hits: list[Hit]
    requests: int


class SearchFailed(Exception):
    """The engine gave no answer this time; it may another time."""


class QuotaExhausted(UserError):
    """The engine takes no more queries of this key for now. What was found is kept; the same command goes on later."""


class Engine(Protocol):
    """What a search step needs of an engine; `name` is the engine's name in the configuration."""

    name: str

    def search(self, query: str, language: str, limit: int) -> Found:
        """At most `limit` pages for `query`, best first; `language` is ISO 639-1 or "" where it is not known.

        Raises:
            SearchFailed: no answer this time.
            UserError: the engine needs setting up, or the run's budget is reached.
            NotKept: nothing may be sent, and the answer is not in the store.
        """
