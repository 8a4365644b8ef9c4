"""What calls cost. Prices are in USD per million tokens; `request` is in USD for each call, as search engines take."""

from collections.abc import Iterable, Mapping
from typing import Any

from devqa.tokens import estimate

Price = Mapping[str, float | None]


def effective_price(price: Price, mode: str) -> dict[str, float]:
    """What a token costs in `mode` (`online` or `batch`).

    Args:
        price: as the configuration has it; `batch` is what the batch mode costs in parts of the others.

    Returns `input`, `output` and `cached_input` (as `input` where the model has no price of its own for it).
    """
    factor = price["batch"] if mode == "batch" else 1.0
    return {kind: _of(price, kind) * factor for kind in ("input", "output", "cached_input")}


def record_usd(record: Mapping[str, Any], price: Price) -> float:
    """The price in USD of one record of the cache, or of one usage row.

    Of its `input_tokens`, `cached_tokens` cost `cached_input`. Reasoning tokens are output like any other. What
    was not counted has no tokens: its cost is unknown and not in the figure. Of its `calls` each costs `request`.
    """
    cached = min(record.get("cached_tokens") or 0, record["input_tokens"])
    usd = (record["input_tokens"] - cached) * _of(price, "input") + cached * _of(price, "cached_input")
    usd = (usd + record["output_tokens"] * _of(price, "output")) / 1_000_000
    return usd + (record.get("calls") or 0) * _of(price, "request")


def cost_usd(usage: Iterable[Mapping[str, Any]], prices: Mapping[str, Price]) -> float:
    """The price in USD of usage rows (`devqa.usage`).

    Args:
        prices: by the label of a model or a search engine. What has no price costs nothing.
    """
    return sum(record_usd(row, prices.get(row["model"], {})) for row in usage)


def request_bound_usd(body: bytes, max_tokens: int, price: Price) -> float:
    """What one request costs at most in USD: nothing of its prompt in the endpoint's cache, the longest answer.

    Args:
        body: the request's body as it is sent; its tokens are estimated, rather too many than too few.
        max_tokens: the longest answer that the request allows; the model's context where it sets no limit.
    """
    if is_free(price):
        return 0.0
    dearest = max(_of(price, "input"), _of(price, "cached_input"))
    return (estimate(body.decode()) * dearest + max_tokens * _of(price, "output")) / 1_000_000


def is_free(price: Price) -> bool:
    """Does no token and no request of this price cost anything?"""
    return not any(_of(price, kind) for kind in ("input", "output", "cached_input", "request"))


def money(usd: float) -> str:
    """An amount as people read it: cents, and four digits after the point where it is less than a dollar."""
    return f"{usd:,.2f}" if usd >= 1 or usd == 0 else f"{usd:.4f}"


def _of(price: Price, kind: str) -> float:
    own = price.get(kind)
    if own is None and kind == "cached_input":
        own = price.get("input")
    return own or 0.0
