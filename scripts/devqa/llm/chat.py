"""The one way to ask a model: cache, concurrency, retries, structured output, usage and progress.

A step says what to ask; the answers come back in the order of the requests. What was ever answered well is
not sent again.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import orjson

from devqa.errors import UserError
from devqa.llm import outcomes
from devqa.llm.cache import Cache, Record, Writer
from devqa.llm.outcomes import Answer
from devqa.llm.parsing import whole
from devqa.llm.pricing import tokens_usd
from devqa.progress import Progress

if TYPE_CHECKING:
    from devqa.llm.endpoints import Endpoint

__all__ = ["Answer", "Chat", "Request", "usage"]

# What has to be sent: by key, the request's body and the schema of its answer.
_Missing = dict[str, tuple[dict[str, Any], dict[str, Any] | None]]

# Requests that wait for their next attempt give their slot to others, but not without end.
_STARTED_PER_SLOT = 4
_STARTED_AT_LEAST = 16


@dataclass(frozen=True)
class Request:
    """What to ask.

    Attributes:
        messages: dicts with `role` and `content`.
        schema: the JSON Schema (2020-12) that the answer must follow; None for free text. Endpoints that enforce
            schemas want `additionalProperties: false` and every property required.
        repeat: tells apart draws of the same question; with a seed, draw n uses seed + n.
    """

    messages: tuple[Mapping[str, str], ...]
    schema: dict[str, Any] | None = None
    repeat: int = 0

    def __post_init__(self):
        object.__setattr__(self, "messages", tuple(self.messages))


class Chat:
    """One model, ready to be asked. Use as a context manager.

    Args:
        asked: what decides the answers, from `config.models.asked_with`.
        runtime: how the model is reached, from `config.models.Model.model_dump()`.
        cache: where answers are kept.
        step: the step's name, for progress and the records.
    """

    def __init__(self, asked: dict[str, Any], runtime: dict[str, Any], cache: Cache, step: str):
        self.label: str = asked["label"]
        self.context: int = asked["context"]
        self.max_tokens: int = asked["sampling"].get("max_tokens", 0)
        self._asked = asked
        self._runtime = runtime
        self._shelf = cache.shelf(asked["endpoint"], asked["model"])
        self._step = step
        self._open = ExitStack()
        self._base_url: str | None = None

    def __enter__(self) -> "Chat":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._open.close()
        self._base_url = None

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        """The answers to `requests`, in their order. Equal requests are sent once.

        Raises:
            UserError: the endpoint can't be used (key, address, model, quota), is down, or the disk is full. What
                was answered until then is in the cache.
        """
        if not requests:
            return []
        bodies = [body(self._asked, request) for request in requests]
        keys = [key(self._asked, request, body) for request, body in zip(requests, bodies, strict=True)]
        answers = {key: outcomes.answer(record, True) for key, record in self._shelf.lookup(keys).items()}
        missing = {
            key: (body, request.schema)
            for key, body, request in zip(keys, bodies, requests, strict=True)
            if key not in answers
        }
        label = f"{self._step} with {self._asked['label']}"
        with Progress(label, len(answers) + len(missing)) as progress:
            progress.advance(len(answers), cached=len(answers))
            if missing:
                answers |= self._send(missing, progress)
        return [answers[key] for key in keys]

    def _send(self, missing: _Missing, progress: Progress) -> dict[str, Answer]:
        with self._shelf.writer(self._step) as writer:
            records = asyncio.run(self._send_all(missing, writer, progress))
        # Another job may have answered the same meanwhile: what is returned is what any later look-up returns.
        records |= self._shelf.lookup(missing)
        return {key: outcomes.answer(record, False) for key, record in records.items()}

    async def _send_all(self, missing: _Missing, writer: Writer, progress: Progress) -> dict[str, Record]:
        from devqa.llm.endpoints import Endpoint
        from devqa.llm.pacing import Pace

        limits = self._runtime["limits"]
        concurrency = limits["concurrency"]
        if self._runtime["runtime"] == "llama.cpp":
            concurrency = min(concurrency, self._runtime["slots"])
        room = asyncio.Semaphore(max(concurrency * _STARTED_PER_SLOT, _STARTED_AT_LEAST))
        records: dict[str, Record] = {}

        async def send(key: str, body: dict[str, Any], schema: dict[str, Any] | None) -> None:
            record = records[key] = await _answered(endpoint, body, schema)
            writer.write(key, record)
            usd = tokens_usd(record["input_tokens"], record["output_tokens"], self._runtime["price"])
            progress.advance(failed=record["outcome"] != "ok", usd=usd)
            room.release()

        address, variable = self._address(), self._runtime["api_key_env"]
        pace = Pace(limits["requests_per_minute"], limits["tokens_per_minute"])
        async with Endpoint(
            self._asked["label"], address, variable, concurrency, limits["timeout_s"], limits["retries"], pace
        ) as endpoint:
            try:
                async with asyncio.TaskGroup() as group:
                    for key, (body, schema) in missing.items():
                        await room.acquire()
                        group.create_task(send(key, body, schema))
            except* UserError as errors:
                # The first one has cancelled all others.
                raise errors.exceptions[0] from None
        return records

    def _address(self) -> str:
        """The endpoint's base URL; a model of our own is started at the first request that needs it."""
        if self._runtime["runtime"] != "llama.cpp":
            return self._runtime["base_url"]
        if self._base_url is None:
            from devqa.llm.local import serve

            try:
                self._base_url = self._open.enter_context(serve(self._runtime))
            except UserError as error:
                raise UserError(f"models.{self._asked['label']}.{error}") from error
        return self._base_url


async def _answered(endpoint: "Endpoint", body: dict[str, Any], schema: dict[str, Any] | None) -> Record:
    from devqa.llm.faults import RowFault

    try:
        return outcomes.read(await endpoint.complete(body), schema)
    except RowFault as fault:
        return outcomes.failed(str(fault))


def body(asked: dict[str, Any], request: Request) -> dict[str, Any]:
    """The body of the request as it is sent (https://platform.openai.com/docs/api-reference/chat/create).

    How the schema travels depends on what the endpoint can do: `json_schema` has it enforced, `json_object` only
    that it is JSON, `prompt` nothing; in the last two the schema stands in the last message.
    """
    messages = [{"role": message["role"], "content": whole(message["content"])} for message in request.messages]
    sent: dict[str, Any] = {"model": asked["model"], "messages": messages}
    sampling = dict(asked["sampling"])
    if (max_tokens := sampling.pop("max_tokens", None)) is not None:
        sent[asked["max_tokens_key"]] = max_tokens
    if "seed" in sampling:
        sampling["seed"] += request.repeat
    sent |= sampling
    if request.schema is not None:
        _ask_for(request.schema, asked["structured"], sent)
    return sent | asked["extra_body"]


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


def key(asked: dict[str, Any], request: Request, sent: dict[str, Any]) -> str:
    """The cache's key: the sha256 in hex of what was asked, and of whom. Nothing else is in it."""
    material = [
        asked["endpoint"],
        asked["model"],
        sent["messages"],
        asked["sampling"],
        request.schema,
        asked["structured"],
        asked["extra_body"],
        request.repeat,
    ]
    return hashlib.sha256(orjson.dumps(material, option=orjson.OPT_SORT_KEYS)).hexdigest()


def usage(label: str, answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """What `answers` took, in the shape of the tables' `usage` column: one entry, or none without answers.

    From the cache or not makes no difference: it is what these answers cost whoever paid for them.
    """
    answers = list(answers)
    if not answers:
        return []
    return [
        {
            "model": label,
            "calls": len(answers),
            "input_tokens": sum(answer.input_tokens for answer in answers),
            "output_tokens": sum(answer.output_tokens for answer in answers),
        }
    ]
