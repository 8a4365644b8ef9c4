"""A scripted endpoint that also has OpenAI's Batch API: files, batches, and rows that are executed in the background.

    with ScriptedBatches(reply, plan=lambda number: Plan("expired", executed=3)) as endpoint:
        configuration["models"]["scripted"] = endpoint.model(mode="batch", batch={"poll_s": 0.05})
        ...
        assert set(endpoint.executed.values()) == {1}

`reply` answers the rows as it answers online requests; a `Reply` with another status than 200 becomes a line of the
error file. After https://platform.openai.com/docs/api-reference/batch and …/files.
"""

import asyncio
import itertools
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson
from aiohttp import BodyPartReader, web

from scripted import Reply, ScriptedEndpoint, _completion, _json, _send

if TYPE_CHECKING:
    from devqa.llm.chat import Chat

Deed = Literal["upload", "create", "retrieve", "list", "content"]
_URL = "/v1/chat/completions"
_LONGEST_ID = 64


@dataclass(frozen=True)
class Plan:
    """How one batch ends.

    `executed` rows are answered before that; None: all. `errors` are those of a failed batch. `spoil` gets the lines of
    the output file and returns what is written instead.
    """

    end: Literal["completed", "expired", "cancelled", "failed"] = "completed"
    executed: int | None = None
    errors: tuple[dict[str, Any], ...] = ()
    spoil: Callable[[list[bytes]], list[bytes]] = lambda lines: lines


class ScriptedBatches(ScriptedEndpoint):
    """The server. Batches run while `running` is set; a row's execution is counted in `executed`, by its `custom_id`
    and its body.

    Args:
        plan: how the batch of that number, counted from 0, ends.
        before: called with what is asked for, such as "create"; a `Reply` is sent instead of doing it.
        after: the same, once it has been done: what was done is not told.
    """

    def __init__(
        self,
        reply: Callable[[dict[str, Any]], str | dict | list | Reply] = lambda body: "ok",
        *,
        plan: Callable[[int], Plan] = lambda number: Plan(),
        before: Callable[[Deed], Reply | None] = lambda deed: None,
        after: Callable[[Deed], Reply | None] = lambda deed: None,
        **more: Any,
    ):
        super().__init__(reply, **more)
        self.plan = plan
        self.before = before
        self.after = after
        self.running = threading.Event()
        self.running.set()
        self.executed: Counter[tuple[str, bytes]] = Counter()
        self.deeds: Counter[str] = Counter()
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task] = set()

    def batching(self, cache_dir: str | os.PathLike, requests: int = 50_000, **more: Any) -> "Chat":
        """A `Chat` in batch mode with at most `requests` in a batch; `more` as for `chat`."""
        return self.chat(cache_dir, mode="batch", batch={"poll_s": 0.02, "requests": requests}, **more)

    def clear(self) -> None:
        """Forget what came so far; files and batches stay."""
        super().clear()
        self.executed.clear()
        self.deeds.clear()

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await super()._stop()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        deed = _deed(request)
        if deed is None:
            return await super()._handle(request)
        if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            self.unauthorised += 1
            return _json({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, 401)
        self.headers.append(dict(request.headers))
        self.deeds[deed] += 1
        if spoilt := self.before(deed):
            return await _send(request, {}, spoilt)
        done = await self._do(deed, request)
        spoilt = self.after(deed)
        return await _send(request, {}, spoilt) if spoilt else done

    async def _do(self, deed: Deed, request: web.BaseRequest) -> web.Response:
        last = request.path.split("/")[-1]
        match deed:
            case "upload":
                return await self._upload(request)
            case "create":
                return self._create(orjson.loads(await request.read()))
            case "list":
                return self._list(request.query.get("after"), int(request.query.get("limit", 20)))
            case "retrieve":
                return _json(self.batches[last]) if last in self.batches else _missing("batch", last)
            case "content":
                name = request.path.split("/")[-2]
                return web.Response(body=self.files[name]) if name in self.files else _missing("file", name)

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        fields = {part.name: await _whole(part) async for part in await request.multipart()}
        if fields.get("purpose") != b"batch":
            return _json({"error": {"message": "purpose must be batch"}}, 400)
        name = self._store(fields["file"])
        size = len(self.files[name])
        return _json({"id": name, "object": "file", "bytes": size, "purpose": "batch", "status": "processed"})

    def _store(self, content: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self.files[name] = content
        return name

    def _create(self, asked: dict[str, Any]) -> web.Response:
        if asked.get("completion_window") != "24h" or asked.get("endpoint") != _URL:
            return _json({"error": {"message": "completion_window or endpoint is not valid"}}, 400)
        if asked.get("input_file_id") not in self.files:
            return _missing("file", asked.get("input_file_id"))
        name, number = f"batch_{next(self._numbers)}", len(self.batches)
        self.batches[name] = {
            **asked,
            "id": name,
            "object": "batch",
            "status": "validating",
            "created_at": int(time.time()),
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        task = asyncio.get_running_loop().create_task(self._run(self.batches[name], self.plan(number)))
        self._tasks.add(task)
        return _json(self.batches[name])

    def _list(self, after: str | None, limit: int) -> web.Response:
        """Newest first, as OpenAI lists them."""
        names = list(self.batches)[::-1]
        start = names.index(after) + 1 if after else 0
        page = names[start : start + limit]
        return _json(
            {
                "object": "list",
                "data": [self.batches[name] for name in page],
                "first_id": page[0] if page else None,
                "last_id": page[-1] if page else None,
                "has_more": start + limit < len(names),
            }
        )

    async def _run(self, batch: dict[str, Any], plan: Plan) -> None:
        lines = self.files[batch["input_file_id"]].splitlines()
        errors = plan.errors if plan.end == "failed" else _problems(lines)
        if errors:
            batch |= {"status": "failed", "errors": {"object": "list", "data": list(errors)}}
            return
        batch["request_counts"]["total"] = len(lines)
        batch["status"] = "in_progress"
        while not self.running.is_set():
            await asyncio.sleep(0.01)
        good, bad = [], []
        for number, line in enumerate(map(orjson.loads, lines)):
            if plan.executed is not None and number >= plan.executed:
                bad.append(_not_executed(line["custom_id"], plan.end))
            else:
                row = {
                    "id": f"req-{number}",
                    "custom_id": line["custom_id"],
                    **self._execute(line["custom_id"], line["body"]),
                }
                (good if row["response"] and row["response"]["status_code"] == 200 else bad).append(row)
            batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}
        # Rows come back in any order.
        # The standard library's encoder, because it lets lone surrogates through.
        written = plan.spoil([json.dumps(row).encode() for row in reversed(good)])
        batch["output_file_id"] = self._store(b"".join(line + b"\n" for line in written)) if good else None
        batch["error_file_id"] = self._store(b"".join(json.dumps(row).encode() + b"\n" for row in bad)) if bad else None
        batch["status"] = plan.end

    def _execute(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        self.executed[custom_id, orjson.dumps(body, option=orjson.OPT_SORT_KEYS)] += 1
        with self._lock:
            self._requests.append(body)
        try:
            reply = self.reply(body)
        except Exception as error:  # noqa: BLE001 -- whatever the test's function raises is raised again at the exit
            self._errors.append(error)
            reply = Reply(status=400, error=f"the test's reply function raised {error!r}")
        reply = reply if isinstance(reply, Reply) else Reply(reply)
        if reply.fault:
            return {"response": None, "error": {"code": "server_error", "message": "scripted fault"}}
        error = {"message": reply.error} if isinstance(reply.error, str) else reply.error
        answer = _completion(body, reply) if reply.status == 200 else {"error": error}
        return {"response": {"status_code": reply.status, "request_id": "req", "body": answer}, "error": None}


async def _whole(part: BodyPartReader) -> bytes:
    """A part's content, however large: `part.read` has a limit."""
    content = bytearray()
    while piece := await part.read_chunk():
        content += piece
    return bytes(content)


def _deed(request: web.BaseRequest) -> Deed | None:
    match request.method, request.path.strip("/").split("/"):
        case "POST", ["v1", "files"]:
            return "upload"
        case "GET", ["v1", "files", _, "content"]:
            return "content"
        case "POST", ["v1", "batches"]:
            return "create"
        case "GET", ["v1", "batches"]:
            return "list"
        case "GET", ["v1", "batches", _]:
            return "retrieve"
    return None


def _problems(lines: list[bytes]) -> list[dict[str, Any]]:
    """What validation has against an input file."""
    problems, seen = [], set()
    for number, line in enumerate(map(orjson.loads, lines), 1):
        name = line.get("custom_id", "")
        if not 0 < len(name) <= _LONGEST_ID or name in seen or line.get("url") != _URL or line.get("method") != "POST":
            problems.append({"code": "invalid_line", "message": "not a valid request", "line": number, "param": None})
        seen.add(name)
    return problems or ([] if lines else [{"code": "empty_file", "message": "The input file is empty.", "line": None}])


def _not_executed(custom_id: str, end: str) -> dict[str, Any]:
    error = {"code": f"batch_{end}", "message": "This request could not be executed before the batch ended."}
    return {"id": "req", "custom_id": custom_id, "response": None, "error": error}


def _missing(what: str, name: Any) -> web.Response:
    return _json({"error": {"message": f"No such {what}: {name}", "type": "invalid_request_error"}}, 404)


def tickets(folder: Path) -> list[Path]:
    """What jobs have left in the cache `folder` about batches that are under way."""
    return list(folder.glob("*/batches/*"))
