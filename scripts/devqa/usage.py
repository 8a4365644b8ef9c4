"""What was spent on rows: calls and tokens, one entry per model."""

from collections.abc import Iterable
from typing import Any

# `reasoning_tokens` are part of the output, `cached_tokens` part of the input. `uncounted` calls came without a token
# count: what they cost is unknown, and not 0.
COUNTS = ("calls", "uncounted", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


def usages(*parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several usage lists (table column `usage`) as one: sums per model, sorted by model."""
    sums: dict[str, dict[str, Any]] = {}
    for entry in (entry for part in parts for entry in part):
        total = sums.setdefault(entry["model"], {"model": entry["model"], **dict.fromkeys(COUNTS, 0)})
        for key in COUNTS:
            total[key] += entry[key]
    return [sums[model] for model in sorted(sums)]


def added(usage: Iterable[dict[str, Any]]) -> dict[str, int]:
    """The sum of each count over all entries, whatever their model."""
    usage = list(usage)
    return {key: sum(entry[key] for entry in usage) for key in COUNTS}


def searched(engine: str, requests: int) -> list[dict[str, Any]]:
    """The usage of `requests` requests to a search engine, as calls of `search:<engine>`; empty if none."""
    return [{"model": f"search:{engine}", **dict.fromkeys(COUNTS, 0), "calls": requests}] if requests else []
