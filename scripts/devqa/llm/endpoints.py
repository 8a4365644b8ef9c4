"""One request to one OpenAI-compatible endpoint, with bounded concurrency and retries.

The transport is the `openai` package on aiohttp; its own retries are off, because they would hold a slot
while they wait and don't retry a broken body.
"""

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai
import orjson
import stamina
import stamina.instrumentation

from devqa.errors import UserError
from devqa.llm import faults
from devqa.llm.faults import Passing, RowFault
from devqa.llm.pacing import Pace

# Back-off where the endpoint names none: 1, 2, 4 … seconds plus jitter. Six retries outlast a minute's rate limit.
WAIT_INITIAL_S = 1.0
WAIT_JITTER_S = 1.0
WAIT_LONGEST_S = 60.0
# An endpoint that could not be reached for this long is down.
DOWN_AFTER_S = 30.0
# So is one that let this many requests in a row run out of retries without answering any other meanwhile.
GIVEN_UP_IN_A_ROW = 10
_CONNECT_S = 10.0

# Progress counts failures; a line per retry, or per request, would flood a job's log.
stamina.instrumentation.set_on_retry_hooks(())
for _name in ("httpx2", "openai", "aiohttp"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Endpoint:
    """An open connection to one model. Use as an async context manager.

    Args:
        label: the model's name in the configuration, for messages.
        base_url: such as `http://localhost:8000/v1`.
        api_key_env: the environment variable that holds the key; None where the endpoint wants none.
        concurrency: how many requests may be under way at once; one that waits for its next attempt is not.
        timeout_s: seconds until an attempt counts as lost.
        retries: how often a request is tried again.
        pace: the rate that requests are held to, retries included.

    Raises:
        UserError: the environment variable is not set, or the address is none.
    """

    def __init__(
        self,
        label: str,
        base_url: str,
        api_key_env: str | None,
        concurrency: int,
        timeout_s: float,
        retries: int,
        pace: Pace,
    ):
        self._label = label
        self._address = _checked(label, base_url).rstrip("/")
        self._key = _key(label, api_key_env)
        self._slots = asyncio.Semaphore(concurrency)
        self._timeout_s = timeout_s
        self._retries = retries
        self._pace = pace
        self._answered = 0
        self._given_up = 0
        self._unreachable_since: float | None = None
        self._client = _client(self._address, self._key, concurrency, timeout_s)

    async def __aenter__(self) -> "Endpoint":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self._client.close()

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's completion of `body`, both as in the API reference of `/chat/completions`.

        Raises:
            RowFault: the endpoint does not answer this request.
            UserError: it will answer none.
        """
        answered = self._answered
        content = orjson.dumps(body)
        try:
            async for attempt in stamina.retry_context(
                on=_wait,
                attempts=self._retries + 1,
                timeout=None,
                wait_initial=WAIT_INITIAL_S,
                wait_max=WAIT_LONGEST_S,
                wait_jitter=WAIT_JITTER_S,
            ):
                with attempt:
                    await self._pace.wait(body, content)
                    async with self._slots:
                        return await self._attempt(content)
        except Passing as fault:
            raise self._out_of_retries(fault, answered) from None
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _attempt(self, content: bytes) -> dict[str, Any]:
        try:
            completion = await self._post(content)
        except Passing as fault:
            self._check_reachable(fault)
            raise
        except RowFault:
            self._heard()
            raise
        self._heard()
        return completion

    async def _post(self, content: bytes) -> dict[str, Any]:
        try:
            # The SDK's time-outs are per read: a server that trickles would never run into them.
            async with asyncio.timeout(self._timeout_s):
                response = await self._client.post("/chat/completions", content=content, cast_to=httpx2.Response)
        except TimeoutError:
            raise Passing(f"no answer within {self._timeout_s:g} s") from None
        except openai.APIStatusError as error:
            raise self._of_status(error.response) from None
        except openai.APIConnectionError as error:
            raise self._of_connection(error) from None
        return self._parsed(self._without_key(response.content))

    def _of_status(self, response: httpx2.Response) -> Exception:
        body = self._without_key(response.content)
        return faults.of_status(response.status_code, response.headers, body, self._label, self._address)

    def _without_key(self, body: bytes) -> bytes:
        """Some endpoints quote the key that they refuse; it must not reach messages, tables and the cache."""
        return body.replace(self._key.encode(), b"***") if self._key else body

    def _of_connection(self, error: openai.APIConnectionError) -> Passing:
        cause: BaseException = error
        unreachable = False
        while cause.__cause__ is not None:
            cause = cause.__cause__
            unreachable |= isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
        return Passing(f"{type(cause).__name__}: {cause}", unreachable=unreachable)

    def _parsed(self, body: bytes) -> dict[str, Any]:
        try:
            completion = _loads(body)
        except ValueError:
            raise Passing(f"{self._address} answered with a body that is no JSON: {body[:80]!r}") from None
        if not isinstance(completion, dict):
            raise RowFault(f"{self._address} answered with JSON that is no object")
        return completion

    def _heard(self) -> None:
        self._answered += 1
        self._given_up = 0
        self._unreachable_since = None

    def _check_reachable(self, fault: Passing) -> None:
        """Stop the job when the endpoint could not be reached for a while."""
        if not fault.unreachable:
            self._unreachable_since = None
            return
        now = time.monotonic()
        self._unreachable_since = self._unreachable_since or now
        if now - self._unreachable_since >= DOWN_AFTER_S:
            raise self._down(fault)

    def _out_of_retries(self, fault: Passing, answered: int) -> RowFault | UserError:
        """`answered`: how many requests had been answered when this one began."""
        if answered == self._answered:
            # No other request was answered meanwhile: it may not be this request's fault.
            self._given_up += 1
            if fault.unreachable or self._given_up >= GIVEN_UP_IN_A_ROW:
                return self._down(fault)
        return RowFault(f"given up after {self._retries + 1} attempts: {fault}")

    def _down(self, fault: Passing) -> UserError:
        problem = "nothing answers at" if fault.unreachable else "no request succeeds at"
        return UserError(
            f"models.{self._label}.base_url: {problem} {self._address} ({fault}). "
            "What was answered so far is kept in the cache: run again when the endpoint is up."
        )


def _wait(error: Exception) -> bool | float:
    """Whether stamina tries again, or after how many seconds."""
    if not isinstance(error, Passing):
        return False
    return True if error.wait_s is None else error.wait_s


def _checked(label: str, base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"models.{label}.base_url: {base_url} is no address such as http://localhost:8000/v1")
    return base_url


def _key(label: str, variable: str | None) -> str:
    """The API key, "" where none is wanted. Nothing else reads it."""
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"models.{label}.api_key_env: the environment variable {variable} is not set: export it")
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"models.{label}.api_key_env: the environment variable {variable} does not hold an API key")
    return key


def _client(address: str, key: str, concurrency: int, timeout_s: float) -> openai.AsyncOpenAI:
    timeout = httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=60)
    with _without_openai_variables():
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=address,
            timeout=timeout,
            max_retries=0,
            default_headers={"Content-Type": "application/json"},
            # Redirects are refused: they would carry requests, and perhaps the key, where nobody sent them.
            http_client=openai.DefaultAioHttpClient(
                timeout=timeout, limits=limits, trust_env=False, follow_redirects=False
            ),
        )


@contextmanager
def _without_openai_variables() -> Iterator[None]:
    """The SDK takes its organisation, project and more headers from OPENAI_*: only the configuration shall count."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENAI_")}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # Lone surrogates, which orjson refuses, are mended later.
        import json

        return json.loads(body)
