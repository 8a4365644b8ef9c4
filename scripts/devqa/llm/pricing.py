"""What calls cost."""

from collections.abc import Iterable, Mapping
from typing import Any


def cost_usd(usage: Iterable[Mapping[str, Any]], prices: Mapping[str, Mapping[str, float]]) -> float:
    """The price in USD of usage rows (`model`, `input_tokens`, `output_tokens`; see `tables`).

    Args:
        prices: by the model's label, `{"input": …, "output": …}` in USD per million tokens. A model without a
            price costs nothing.
    """
    return sum(tokens_usd(row["input_tokens"], row["output_tokens"], prices.get(row["model"], {})) for row in usage)


def tokens_usd(input_tokens: int, output_tokens: int, price: Mapping[str, float]) -> float:
    """The price in USD of tokens of one model; `price` is in USD per million tokens."""
    return (input_tokens * price.get("input", 0.0) + output_tokens * price.get("output", 0.0)) / 1_000_000
