"""How one model is reached in this job: what every way of sending is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devqa.llm.budget import Budget
from devqa.llm.cache import Record

# Called with a request's key and its record as soon as it is answered, or given up: writes it to the cache.
Answered = Callable[[str, Record], None]


@dataclass(frozen=True)
class Channel:
    """One model in one job.

    Attributes:
        asked: what decides the answers, from `devqa.config.models.asked_with`.
        runtime: the model's configuration, from `Model.model_dump()`; its limits are this job's share.
        base_url: the endpoint's address, such as `http://localhost:8000/v1`.
        folder: the model's part of the cache, for what must survive the job beside answers.
        step: the step that asks.
        budget: what this run may still spend; None without a limit.
        retrying: all that is asked has failed before.
    """

    asked: dict[str, Any]
    runtime: dict[str, Any]
    base_url: str
    folder: Path
    step: str
    budget: Budget | None = None
    retrying: bool = False
