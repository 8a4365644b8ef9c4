"""What requests that have not been sent yet will take in tokens, and cost.

The range holds the true cost: its low end has only what is certain to be sent, with the shortest answers that were ever
seen; its high end has all that may be sent, each with the longest answer that its request allows. Thoughts count as
part of an answer. Requests that an endpoint charges for without answering them are in neither.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from devqa.bill.flow import Basis, Line
from devqa.bill.meter import Missing
from devqa.bill.sizes import Size, usual_answer
from devqa.bill.spent import Spent

# Tokens of a request in parts of `devqa.tokens.estimate`, where no earlier answers tell: at least, mostly, at most.
_UNSEEN = (0.4, 0.8, 2.0)
# How much of the least and the greatest that was seen may be undercut and exceeded.
_SLACK = 0.1
# Answers that were asked for twice: as often again as was seen may come to that, and some where none was seen.
_MORE_REPAIRS, _SOME_REPAIRS = 3, 0.05
# What a question about an answer has beside the answer.
_OBJECTION = 200


class Tokens(NamedTuple):
    """Tokens of one direction: at least, probably, at most."""

    low: float
    usual: float
    high: float


class Usage(NamedTuple):
    """What requests take."""

    input: Tokens
    output: Tokens


@dataclass(frozen=True)
class Cost:
    """A line of the bill.

    Attributes:
        step, model: the step, with the part that the model plays where there are several, and the model's name.
        cached, sent, most: requests that have their answer, that will probably be sent, and at most.
        input_tokens, output_tokens: of those that will probably be sent.
        low, usual, high: their price in USD.
        bases: what the requests were counted on.
        free: no token of the model costs anything, as far as the configuration says.
    """

    step: str
    model: str
    cached: float
    sent: float
    most: float
    input_tokens: float
    output_tokens: float
    low: float
    usual: float
    high: float
    bases: frozenset[Basis]
    free: bool


def cost(line: Line, own: Spent | None, others: Spent | None, size: Size, price: Mapping[str, float]) -> Cost:
    """What `line` costs.

    Args:
        own, others: what earlier answers of this model at this step took, and of any model; None where there are
            too few.
        size: the tokens of a request whose text is not known.
        price: USD per million tokens: `input`, `output` and `cached_input` (`devqa.llm.pricing.effective_price`).
    """
    usual = usual_answer(line.role, line.asked)
    sure = _of(line.sure.values(), own, others, usual)
    likely = _of(line.likely.values(), own, others, usual)
    further = _unknown(line, own, others, size)
    low = _usd(sure.input.low, sure.output.low, price, min)
    parts = (sure, likely, further)
    return Cost(
        step=_step(line),
        model=line.label,
        cached=line.cached,
        sent=line.sent,
        most=max(line.sent_most, line.sent),
        input_tokens=sum(part.input.usual for part in parts),
        output_tokens=sum(part.output.usual for part in parts),
        low=low,
        usual=_usd(sum(part.input.usual for part in parts), sum(part.output.usual for part in parts), price, _full),
        high=_usd(sum(part.input.high for part in parts), sum(part.output.high for part in parts), price, max),
        bases=frozenset(line.bases),
        free=not any(price.values()),
    )


def _step(line: Line) -> str:
    """Difficulty has models that answer, and one that judges them; answers are given in several settings."""
    return line.rule if line.role in (line.rule, "answer") else f"{line.rule} {line.role}"


def _of(requests: Iterable[Missing], own: Spent | None, others: Spent | None, usual_answer: float) -> Usage:
    """What requests take whose text is known."""
    requests = list(requests)
    count, sent = len(requests), sum(each.sent_bytes for each in requests)
    least, mostly, most = (share * sum(each.input_tokens for each in requests) for share in _UNSEEN)
    if own:
        given = Tokens(sent * own.rate.low * (1 - _SLACK), sent * own.rate.mean, sent * own.rate.high * (1 + _SLACK))
    else:
        given = Tokens(least, sent * others.rate.mean if others else mostly, most)
    longest = sum(each.max_tokens for each in requests)
    answer = _answer(own, others, usual_answer)
    answers = Tokens(count * (own.output.low if own else 1), min(count * answer, longest), longest)
    return _with_repairs(Usage(given, answers), sum(each.structured for each in requests), count, own)


def _unknown(line: Line, own: Spent | None, others: Spent | None, size: Size) -> Usage:
    """What the requests of a line take whose text is not known."""
    seen, count, most = own or others, line.further, line.most
    longest = max(size.input_most, own.input.high if own else 0)
    # The model's context is all that bounds the others.
    whole = max(longest, line.asked["context"]) if line.unbounded else 0
    given = Tokens(
        0.0,
        count * (seen.input.mean if seen else size.input),
        (most - line.unbounded) * longest + line.unbounded * whole,
    )
    answer = min(_answer(own, others, size.output), size.output_most)
    usage = Usage(given, Tokens(0.0, count * answer, most * size.output_most))
    return _with_repairs(usage, most if size.structured else 0, most, own)


def _answer(own: Spent | None, others: Spent | None, usual: float) -> float:
    seen = own or others
    return seen.output.mean if seen else usual


def _with_repairs(usage: Usage, structured: float, count: float, own: Spent | None) -> Usage:
    """`usage` of `count` requests with the questions about answers that don't follow their schema.

    Such a question repeats the request and the answer, and is asked once for an answer.
    """
    if not structured:
        return usage
    share = own.repaired / (own.repaired + own.output.count) if own else 0.0
    most = structured
    if own:
        most = min(structured, math.ceil(structured * (_MORE_REPAIRS * share + _SOME_REPAIRS)) + 1)
    part = structured / count * share
    part_most = most / count
    (low, mostly, high), (low_out, mostly_out, high_out) = usage
    objections = _OBJECTION * count
    return Usage(
        Tokens(low, mostly + part * (mostly + mostly_out), high + part_most * (high + high_out + objections)),
        Tokens(low_out, mostly_out * (1 + part), high_out * (1 + part_most)),
    )


def _usd(input_tokens: float, output_tokens: float, price: Mapping[str, float], which) -> float:
    """The price of tokens; `which` of the two prices of input is taken."""
    return (input_tokens * which(price["input"], price["cached_input"]) + output_tokens * price["output"]) / 1_000_000


def _full(price: float, cached: float) -> float:
    """Nobody knows before what an endpoint will have in its cache."""
    return price


def total(costs: Sequence[Cost]) -> Cost:
    """All lines as one."""
    sums = {
        name: sum(getattr(cost, name) for cost in costs)
        for name in ("cached", "sent", "most", "input_tokens", "output_tokens", "low", "usual", "high")
    }
    bases = frozenset(basis for cost in costs for basis in cost.bases)
    return Cost(step="all", model="", bases=bases, free=all(cost.free for cost in costs), **sums)
