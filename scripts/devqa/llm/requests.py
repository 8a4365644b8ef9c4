"""What a step asks: a request, the key under which its answer is kept, and the body that is sent for it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from devqa.llm import attached
from devqa.llm.parsing import whole


@dataclass(frozen=True)
class Request:
    """What to ask.

    Attributes:
        messages: dicts with `role` and `content`; of an assistant that has called tools also `tool_calls` (then
            `content` may be None) and what the endpoint attached to them (`devqa.llm.attached`), and with role `tool`
            the result of one call under its `tool_call_id`.
        schema: the JSON Schema (2020-12) that the answer must follow; None for free text. Endpoints that enforce
            schemas want `additionalProperties: false` and every property required.
        repeat: tells apart draws of the same question; with a seed, draw n uses seed + n.
        tools: the functions that the model may call (https://platform.openai.com/docs/guides/function-calling), each
            `{"type": "function", "function": {"name", "description", "parameters"}}`; None for a request without.
        tool_choice: `none`: it has called them before and may no longer. The tools are sent all the same: some
            endpoints refuse a conversation with calls of tools that they don't know, and the prompt's beginning stays
            as it was, so that they have it in their cache.
        accepted: the JSON Schema that an answer is held to, where that bears more than `schema`, which is asked for. It
            is not sent, and not in the key.
    """

    messages: tuple[Mapping[str, Any], ...]
    schema: dict[str, Any] | None = None
    repeat: int = 0
    tools: tuple[Mapping[str, Any], ...] | None = None
    tool_choice: Literal["auto", "none"] = "auto"
    accepted: dict[str, Any] | None = None

    def __post_init__(self):
        object.__setattr__(self, "messages", tuple(self.messages))
        object.__setattr__(self, "tools", tuple(self.tools or ()) or None)

    @property
    def held_to(self) -> dict[str, Any] | None:
        """The JSON Schema without which an answer can't be used; None for free text."""
        return self.schema if self.accepted is None else self.accepted

    @property
    def offers_tools(self) -> bool:
        """May the model call a tool instead of answering?"""
        return self.tools is not None and self.tool_choice != "none"


def key(asked: Mapping[str, Any], request: Request) -> str:
    """The cache's key: the sha256 in hex of what was asked, and of whom. Nothing else is in it.

    Args:
        asked: how the model is asked (`devqa.config.models.asked_with`).
    """
    material = [
        asked["endpoint"],
        asked["model"],
        _messages(request),
        asked["sampling"],
        request.schema,
        asked["structured"],
        asked["extra_body"],
        request.repeat,
    ]
    # Requests without tools keep the keys that they have always had.
    if request.tools:
        material += [request.tools, request.tool_choice]
    return hashlib.sha256(orjson.dumps(material, option=orjson.OPT_SORT_KEYS)).hexdigest()


def body(asked: Mapping[str, Any], request: Request, structured: str) -> dict[str, Any]:
    """The body of the request as it is sent (https://platform.openai.com/docs/api-reference/chat/create).

    Args:
        asked: how the model is asked (`devqa.config.models.asked_with`).
        structured: how the schema travels: `json_schema` has it enforced, `json_object` only that the answer is JSON,
            `prompt` nothing; in the last two the schema stands in the last message.
    """
    sent: dict[str, Any] = {"model": asked["model"], "messages": _messages(request)}
    sampling = dict(asked["sampling"])
    if (max_tokens := sampling.pop("max_tokens", None)) is not None:
        sent[asked["max_tokens_key"]] = max_tokens
    if "seed" in sampling:
        sampling["seed"] += request.repeat
    sent |= sampling
    if request.tools:
        sent["tools"] = request.tools
        if not request.offers_tools:
            sent["tool_choice"] = request.tool_choice
    if request.schema is not None:
        _ask_for(request.schema, structured, sent)
    return sent | asked["extra_body"]


def _messages(request: Request) -> list[dict[str, Any]]:
    return [_message(message) for message in request.messages]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message["content"]
    sent = {"role": message["role"], "content": None if content is None else whole(content)}
    names = ("tool_calls", *attached.IN_MESSAGE) if "tool_calls" in message else ("tool_call_id",)
    return sent | {name: message[name] for name in names if name in message}


def _ask_for(schema: dict[str, Any], structured: str, sent: dict[str, Any]) -> None:
    if structured == "json_schema":
        wanted = {"name": "answer", "strict": True, "schema": schema}
        sent["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return
    if structured == "json_object":
        sent["response_format"] = {"type": "json_object"}
    sent["messages"][-1]["content"] += (
        "\n\nAnswer with one JSON value that follows this JSON Schema, and with nothing else:\n"
        + json.dumps(schema, ensure_ascii=False)
    )
