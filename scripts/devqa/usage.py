"""What was spent on rows: calls and tokens, one entry per model."""

from collections.abc import Iterable
from typing import Any

COUNTS = ("calls", "input_tokens", "output_tokens")


def usages(*parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several usage lists (table column `usage`) as one: sums per model, sorted by model."""
    sums: dict[str, dict[str, Any]] = {}
    for entry in (entry for part in parts for entry in part):
        total = sums.setdefault(entry["model"], {"model": entry["model"], **dict.fromkeys(COUNTS, 0)})
        for key in COUNTS:
            total[key] += entry[key]
    return [sums[model] for model in sorted(sums)]
