"""Verdicts with reasons: how they are asked for and read. No verdict is lost over a reason that is too long."""

from collections.abc import Iterable, Mapping
from typing import Any

from devqa.llm.chat import Request
from devqa.prompts import Message

# Characters that the schema of a verdict allows its reason, where nothing asks for shorter ones.
LONGEST = 200


def request_for(messages: Iterable[Message], schema: dict[str, Any]) -> Request:
    """Asks for what follows `schema`, and accepts it with reasons of any length, which `shortened` cuts."""
    return Request(tuple(messages), schema, accepted=_with_any_reason(schema))


def shortened(verdict: Mapping[str, Any], longest: int = LONGEST) -> dict[str, Any]:
    """`verdict` with a reason of at most `longest` characters."""
    return {**verdict, "reason": verdict["reason"][:longest].rstrip()}


def _with_any_reason(schema: Mapping[str, Any]) -> dict[str, Any]:
    accepted = {name: _with_any_reason(part) if isinstance(part, Mapping) else part for name, part in schema.items()}
    return accepted | ({"reason": {"type": "string"}} if "reason" in schema else {})
