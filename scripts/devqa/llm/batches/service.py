"""One endpoint's Files and Batch API through the `openai` package (https://platform.openai.com/docs/api-reference/batch)."""

import asyncio
import json
import logging
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import httpx2
import openai

from devqa.errors import UserError
from devqa.llm.access import Secret, api_key, checked_address
from devqa.llm.batches.rows import CHAT
from devqa.llm.faults import NoStructuredOutput, Passing, RowFault, raise_of_status

_log = logging.getLogger(__name__)

T = TypeVar("T")

# The metadata under which a batch carries its ticket's name.
_MARK = "devqa"
_CONNECT_S = 10.0
# An upload of 200 MB takes a while; a ticket counts as abandoned only after that (state).
_UPLOAD_S = 600.0
_PAGE = 100
_WAIT_INITIAL_S = 1.0
_WAIT_LONGEST_S = 60.0
_ENDED = ("completed", "failed", "expired", "cancelled")
_NO_BATCHES = (404, 405, 501)
_TOO_LARGE = 413

for _name in ("httpx2", "openai"):
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(frozen=True)
class Batch:
    """The state of a batch, as far as it matters here.

    Attributes:
        done, failed, total: counts of its requests.
        files: its output file and its error file, where there are any.
        errors: why it failed: code and message of each.
    """

    id: str
    status: str
    done: int
    failed: int
    total: int
    files: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]

    @property
    def ended(self) -> bool:
        return self.status in _ENDED


class Service:
    """The API of one endpoint. Use as an async context manager.

    All methods raise `Passing` for a fault that may be gone at the next attempt and `UserError` for any other.

    Args:
        label: the model's name in the configuration, for messages.
        base_url: such as `https://api.openai.com/v1`.
        api_key_env: the environment variable that holds the key; None where the endpoint wants none.
        timeout_s: seconds that an answer may take; an upload has longer.

    Raises:
        UserError: the environment variable is not set, or the address is none.
    """

    def __init__(self, label: str, base_url: str, api_key_env: str | None, timeout_s: float):
        self.label = label
        self.address = checked_address(label, base_url)
        key = api_key(label, api_key_env)
        self._secret = Secret(key)
        self._timeout_s = timeout_s
        self._client = _client(self.address, key, timeout_s)

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        await self._client.close()

    async def upload(self, name: str, content: bytes) -> str:
        """The id of a new input file with `content`."""
        with self._faults():
            async with asyncio.timeout(_UPLOAD_S):
                file = await self._client.files.create(file=(f"{name}.jsonl", content), purpose="batch")
        return self._id(file)

    async def create(self, name: str, file: str) -> Batch:
        """A new batch of the input file `file`, marked with `name`."""
        with self._faults():
            async with asyncio.timeout(self._timeout_s):
                batch = await self._client.batches.create(
                    input_file_id=file, endpoint=CHAT, completion_window="24h", metadata={_MARK: name}
                )
        return self._batch(batch)

    async def find(self, name: str) -> Batch | None:
        """The batch that is marked with `name`; None if there is none."""
        after = None
        while True:
            page = await self._page(after)
            marked = [batch for batch in page["data"] if _mark(batch) == name]
            if marked:
                return await self.retrieve(str(marked[0].get("id")))
            last = page["data"][-1].get("id") if page["data"] else None
            if not page.get("has_more") or last in (None, after):
                return None
            after = last

    async def _page(self, after: str | None) -> dict[str, Any]:
        """A page of the list of batches. What is no such list must not pass for one that is empty."""
        params = {"limit": _PAGE} | ({"after": after} if after else {})
        with self._faults():
            response = await self._client.get("/batches", cast_to=httpx2.Response, options={"params": params})
            page = response.json()
        data = page.get("data") if isinstance(page, dict) else None
        if not isinstance(data, list) or not all(isinstance(batch, dict) for batch in data):
            raise Passing(f"{self.address} answered with something else than a list of batches", heard=True)
        return page

    async def retrieve(self, id: str) -> Batch | None:
        """The state of batch `id`; None if the endpoint knows it no longer."""
        with self._faults():
            try:
                async with asyncio.timeout(self._timeout_s):
                    return self._batch(await self._client.batches.retrieve(id))
            except openai.NotFoundError:
                return None

    async def lines(self, file: str) -> AsyncIterator[bytes]:
        """The lines of an output or error file, without their ends; none if the endpoint keeps it no longer."""
        with self._faults():
            try:
                async with self._client.files.with_streaming_response.content(file) as response:
                    rest = b""
                    async for piece in response.iter_bytes():
                        *lines, rest = (rest + piece).split(b"\n")
                        for line in lines:
                            yield self._secret.out_of(line)
                    yield self._secret.out_of(rest)
            except openai.NotFoundError:
                _log.warning("%s keeps the file %s no longer", self.address, file)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            self._raise_of(error.response)
        except TimeoutError:
            raise Passing("no answer in time") from None
        except json.JSONDecodeError:
            raise Passing(f"{self.address} answered with a body that is no JSON", heard=True) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            raise Passing(self._secret.out_of_text(f"{type(cause).__name__}: {cause}")) from None

    def _raise_of(self, response: httpx2.Response) -> None:
        said = f"{response.request.method} {response.request.url.path} answers {response.status_code}"
        if response.status_code in _NO_BATCHES:
            raise UserError(
                f"models.{self.label}.mode: batch: {self.address} has no Batch API ({said}): use mode: online"
            )
        if response.status_code == _TOO_LARGE:
            raise UserError(
                f"models.{self.label}.batch.requests: {self.address} takes no such large file ({said}): lower it"
            )
        headers = {name.lower(): self._secret.out_of_text(value) for name, value in response.headers.items()}
        body = self._secret.out_of(response.content)
        try:
            raise_of_status(response.status_code, headers, body, self.label, self.address)
        except (RowFault, NoStructuredOutput) as fault:
            raise UserError(f"models.{self.label}.mode: batch: the endpoint refuses the batch: {fault}") from None

    def _batch(self, batch: Any) -> Batch:
        # The package hands on whatever the endpoint sent: fields may be missing, or of another type.
        counts = getattr(batch, "request_counts", None)
        errors = getattr(getattr(batch, "errors", None), "data", None) or []
        files = (getattr(batch, "output_file_id", None), getattr(batch, "error_file_id", None))
        return Batch(
            id=self._id(batch),
            status=str(getattr(batch, "status", "")),
            done=getattr(counts, "completed", None) or 0,
            failed=getattr(counts, "failed", None) or 0,
            total=getattr(counts, "total", None) or 0,
            files=tuple(file for file in files if file),
            errors=tuple((self._text(error, "code"), self._text(error, "message")) for error in errors),
        )

    def _id(self, thing: Any) -> str:
        id = getattr(thing, "id", None)
        if not isinstance(id, str) or not id:
            raise Passing(
                f"{self.address} answered with something else than a file or batch: {str(thing)[:80]!r}", heard=True
            )
        return id

    def _text(self, error: Any, name: str) -> str:
        return self._secret.out_of_text(str(getattr(error, name, None) or ""))


def _mark(batch: dict[str, Any]) -> Any:
    metadata = batch.get("metadata")
    return metadata.get(_MARK) if isinstance(metadata, dict) else None


async def patiently(call: Callable[[], Awaitable[T]], unheard_s: float, heard_s: float) -> T:
    """What `call` returns, tried again while it raises `Passing`.

    Args:
        unheard_s: for so many seconds after the first fault while the endpoint does not answer at all.
        heard_s: for so many while it answers, but with such a fault.

    Raises:
        Passing: the last one.
    """
    began: float | None = None
    wait_s = _WAIT_INITIAL_S
    while True:
        try:
            return await call()
        except Passing as fault:
            began = began or time.monotonic()
            pause_s = wait_s if fault.wait_s is None else fault.wait_s
            pause_s += random.random() * _WAIT_INITIAL_S  # noqa: S311 -- no secret
            if time.monotonic() - began + pause_s > (heard_s if fault.heard else unheard_s):
                raise
            _log.warning("%s: trying again in %.0f s", fault, pause_s)
            await asyncio.sleep(pause_s)
            wait_s = min(_WAIT_LONGEST_S, wait_s * 2)


def _client(address: str, key: str, timeout_s: float) -> openai.AsyncOpenAI:
    timeout = httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))
    with _without_openai_variables():
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=address,
            timeout=timeout,
            max_retries=0,
            # Redirects are refused: they would carry requests, and perhaps the key, where nobody sent them.
            http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, trust_env=False, follow_redirects=False),
        )


@contextmanager
def _without_openai_variables() -> Iterator[None]:
    """The SDK takes its organisation, project and more headers from OPENAI_*: only the configuration shall count."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENAI_")}
    try:
        yield
    finally:
        os.environ.update(hidden)
