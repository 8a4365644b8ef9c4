"""What a model's answers took, and what that costs at today's prices."""

from collections.abc import Iterable, Mapping
from typing import Any

from devqa.llm.pricing import is_free, record_usd
from devqa.tables import Row, batches
from devqa.usage import added

# Model and setting, and how often each of `devqa.usage.COUNTS` and `counted`: answers with a token count.
Spent = dict[tuple[str, str], dict[str, int]]


def spent(answers: Iterable[Row]) -> Spent:
    """What answers took by model and setting: the sums of their `usage`, and how many were `counted`."""
    groups: dict[tuple[str, str], tuple[list[Row], list[bool]]] = {}
    for row in answers:
        usage, counted = groups.setdefault((row["model"], row["setting"]), ([], []))
        usage.extend(row["usage"] or [])
        counted.append(row["input_tokens"] is not None)
    return {key: {**added(usage), "counted": sum(counted)} for key, (usage, counted) in groups.items()}


def read_spent(paths: Iterable[str]) -> Spent:
    """The same as `spent`, from files of table `answers`."""
    columns = ["model", "setting", "input_tokens", "usage"]
    return spent(row for batch in batches(paths, "answers", 10_000, columns) for row in batch)


def cost(taken: Mapping[str, int] | None, price: Mapping[str, float]) -> dict[str, Any]:
    """`usd` and `usd_per_answer` of the answers whose tokens were counted, `uncounted` calls.

    USD are null where no answer was counted, and where the model has no price: that is not known to cost nothing.

    Args:
        taken: as `spent` gives it for one model and setting; None where it has no answers.
        price: in USD per million tokens.
    """
    if not taken or not taken["counted"] or is_free(price):
        return {"usd": None, "usd_per_answer": None, "uncounted": taken["uncounted"] if taken else 0}
    usd = record_usd(taken, price)
    return {"usd": usd, "usd_per_answer": usd / taken["counted"], "uncounted": taken["uncounted"]}
