"""An OpenAI-compatible server on loopback whose answers a test writes.

    def reply(body):
        return {"grade": "CORRECT"} if "judge" in body["messages"][0]["content"] else "forty-two"

    with ScriptedEndpoint(reply) as endpoint:
        configuration["models"]["scripted"] = endpoint.model()
        ...
        assert endpoint.count == 3

It runs in a thread of the test's process, so `reply` may look at the test's own variables. Faults are
`Reply`s: `Reply(status=429, headers={"Retry-After": "1"})`, `Reply(fault="close")`, `Reply(finish_reason="length")` …
"""

import asyncio
import json
import os
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import orjson
from aiohttp import web

if TYPE_CHECKING:
    from devqa.llm.chat import Chat

Fault = Literal["close", "half", "hang", "head", "garbage", "drip"]
# What one piece of an answer that only drips takes.
DRIP_S = 0.05


@dataclass(frozen=True)
class Reply:
    """One response. The default is a good answer; each field spoils it in one way.

    `text` is the message's content (a dict or list is sent as JSON text), None is `content: null`. `error` is
    the text of an error body when `status` is not 200. `body` replaces the whole body, `choices=False` sends an
    empty list of choices. `tool_calls` are names and arguments of tools that are called (a dict is sent as JSON text),
    beside the content; their ids are the endpoint's own, or `call_ids`. `beside` are further fields of the message,
    `in_calls` of each call. `fault`: "close" drops the connection without a byte, "head" breaks off in the headers,
    "half" in mid-body, "garbage" is no HTTP, "hang" never answers, "drip" sends a byte now and then. `usage`: None
    leaves it out, a dict replaces it.
    """

    text: str | dict | list | None = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | str = "scripted failure"
    body: bytes | None = None
    choices: bool = True
    finish_reason: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    tool_call: bool = False
    tool_calls: Sequence[tuple[str, dict | str]] = ()
    call_ids: Sequence[str] | None = None
    beside: dict[str, Any] = field(default_factory=dict)
    in_calls: Sequence[dict[str, Any]] = ()
    usage: dict[str, Any] | None | Literal["counted"] = "counted"
    fault: Fault | None = None
    delay_s: float = 0.0


class ScriptedEndpoint:
    """The server, as a context manager.

    Args:
        reply: gets a request's parsed body, returns a text, a dict or list (sent as JSON text) or a `Reply`. Called
            in the server's thread; an exception in it becomes a 400 answer and is raised again at the exit.
        delay_s: seconds before each answer.
        api_key: what `Authorization: Bearer …` must hold; anything else is answered with 401. None: any will do.
        models: what `GET /models` answers; its `fault` may be "hang".
        tls: the server's certificate and key; then it speaks HTTPS.
        kept: whether `requests` and `headers` are kept; hundreds of thousands are too many.

    Attributes:
        count: how many chat requests came so far.
        busy_s: seconds in which at least one chat request was under way.
        peak: how many chat requests were under way at most.
        looks: how often `GET /models` came.
    """

    def __init__(
        self,
        reply: Callable[[dict[str, Any]], str | dict | list | Reply] = lambda body: "ok",
        *,
        delay_s: float = 0.0,
        api_key: str | None = None,
        models: Reply | None = None,
        tls: ssl.SSLContext | None = None,
        kept: bool = True,
    ):
        self.reply = reply
        self.delay_s = delay_s
        self.api_key = api_key
        self.models = models
        self.tls = tls
        self.kept = kept
        self.count = 0
        self.busy_s = 0.0
        self.looks = 0
        self.port = 0
        self.peak = 0
        self.unauthorised = 0
        self.headers: list[dict[str, str]] = []
        self._requests: list[dict[str, Any]] = []
        self._errors: list[Exception] = []
        self._active = 0
        self._busy_since = 0.0
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted endpoint", daemon=True)

    def __enter__(self) -> "ScriptedEndpoint":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        if self._errors and kind is None:
            raise self._errors[0]

    @property
    def base_url(self) -> str:
        """The address as a configuration's `base_url` wants it."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The parsed bodies of all chat requests so far, in the order in which they came."""
        with self._lock:
            return list(self._requests)

    def clear(self) -> None:
        """Forget what came so far."""
        with self._lock:
            self._requests.clear()
            self.headers.clear()
            self.count = self.peak = self.unauthorised = self.looks = 0
            self.busy_s = 0.0

    def model(self, **more: Any) -> dict[str, Any]:
        """An entry of the configuration's `models` that points here."""
        return {"base_url": self.base_url, **more}

    def chat(self, cache_dir: str | os.PathLike, step: str = "test", **more: Any) -> "Chat":
        """A `Chat` with this server under the label "scripted"; `more` are keys of the model's configuration."""
        from devqa.config.models import Model, asked_with
        from devqa.llm.cache import Cache
        from devqa.llm.chat import Chat

        model = Model(**self.model(**more))
        return Chat(asked_with("scripted", model), model.model_dump(), Cache(cache_dir), step)

    async def _start(self) -> None:
        # The low-level server without routing or access log: a busy test needs thousands of answers a second.
        # A client that goes away cancels its request, so that `peak` counts what is really under way.
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=2048, ssl_context=self.tls)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/v1/models" and request.method == "GET":
            self.looks += 1
            if self.models:
                return await _send(request, {}, self.models)
            return _json({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]})
        if request.path != "/v1/chat/completions" or request.method != "POST":
            return _json({"error": {"message": f"no such path: {request.path}"}}, 404)
        if not self._active:
            self._busy_since = time.monotonic()
        self._active += 1
        self.peak = max(self.peak, self._active)
        try:
            return await self._answer(request)
        finally:
            self._active -= 1
            if not self._active:
                self.busy_s += time.monotonic() - self._busy_since

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        with self._lock:
            self.count += 1
            if self.kept:
                self._requests.append(body)
                self.headers.append(dict(request.headers))
        if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            self.unauthorised += 1
            return _json({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, 401)
        try:
            reply = self.reply(body)
        except Exception as error:  # noqa: BLE001 -- whatever the test's function raises is raised again at the exit
            self._errors.append(error)
            return _json({"error": {"message": f"the test's reply function raised {error!r}"}}, 400)
        reply = reply if isinstance(reply, Reply) else Reply(reply)
        if delay := self.delay_s + reply.delay_s:
            await asyncio.sleep(delay)
        return await _send(request, body, reply)


async def _send(request: web.BaseRequest, body: dict[str, Any], reply: Reply) -> web.StreamResponse:
    if reply.fault == "hang":
        await asyncio.Event().wait()
    if reply.fault in ("close", "head", "garbage"):
        return _break_off(request, reply.fault)
    if reply.body is not None:
        content = reply.body
    elif reply.status != 200:
        error = {"message": reply.error} if isinstance(reply.error, str) else reply.error
        content = orjson.dumps({"error": error})
    else:
        # The standard library's encoder, because it lets lone surrogates through, as some endpoints do.
        content = json.dumps(_completion(body, reply)).encode()
    headers = {"Content-Type": "application/json", **reply.headers}
    if reply.fault == "half":
        response = web.StreamResponse(status=reply.status, headers={**headers, "Content-Length": str(len(content))})
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        request.transport.abort()
        return response
    if reply.fault == "drip":
        response = web.StreamResponse(status=reply.status, headers=headers)
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(DRIP_S)
    return web.Response(body=content, status=reply.status, headers=headers)


def _break_off(request: web.BaseRequest, fault: Fault) -> web.Response:
    """End the connection without a response."""
    if fault == "head":
        request.transport.write(b"HTTP/1.1 200 OK\r\nContent-Ty")
    elif fault == "garbage":
        request.transport.write(b"\x00\x01 220 mail.example ESMTP\r\n\r\n")
    else:
        request.transport.abort()
    request.transport.close()
    return web.Response()


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    text = reply.text if isinstance(reply.text, str | None) else json.dumps(reply.text, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_call:
        call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if reply.tool_calls:
        message["tool_calls"] = _calls(body, reply)
    message |= reply.beside
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    completion: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model"),
        "choices": [choice] if reply.choices else [],
    }
    if reply.usage == "counted":
        completion["usage"] = _usage(body, text or "", reply.reasoning or "")
    elif reply.usage is not None:
        completion["usage"] = reply.usage
    return completion


def _calls(body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    """The calls of a reply; an id is the endpoint's own, told apart by how long the conversation is."""
    ids = reply.call_ids or [f"call_{len(body['messages'])}_{place}" for place in range(len(reply.tool_calls))]
    written = ((name, said if isinstance(said, str) else json.dumps(said)) for name, said in reply.tool_calls)
    return [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}
        for id, (name, arguments), more in zip(ids, written, reply.in_calls or [{}] * len(ids), strict=True)
    ]


def _usage(body: dict[str, Any], text: str, reasoning: str) -> dict[str, Any]:
    """Tokens as an endpoint would count them, at four characters a token."""
    prompt = sum(4 + len(message["content"] or "") // 4 for message in body["messages"]) + 3
    thought = len(reasoning) // 4
    answered = len(text) // 4 + 1 + thought
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")
