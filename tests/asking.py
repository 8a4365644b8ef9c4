"""What tests of asking a model share: short requests, and looking at what was sent and what came of it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from devqa.llm.chat import Answer, Request


def ask(text: object = "hello", schema: dict[str, Any] | None = None) -> Request:
    """A request of one message."""
    return Request(({"role": "user", "content": str(text)},), schema)


def text_of(body: dict[str, Any]) -> str:
    """The first message of a request's body."""
    return body["messages"][0]["content"]


def outcomes(answers: Iterable[Answer]) -> Counter[str]:
    """How many answers had which outcome."""
    return Counter(answer.outcome for answer in answers)
