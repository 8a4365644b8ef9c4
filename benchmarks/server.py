"""The server that clients are measured against: one prepared answer after a delay, and as little work as can be.

    python benchmarks/server.py --delay 0.05          # prints its base URL, serves until standard input closes

A client can only be measured by a server that is faster than it. One that parses JSON and builds each response
(`tests/scripted.py`) bears about as many requests a second as bare aiohttp sends; this one bears several
times that, because it looks at a request's length and nothing else. It serves HTTP/1.1 with keep-alive to clients
that state `Content-Length`, which all do, and has no dependency, so that any interpreter can run it.
"""

import argparse
import asyncio
import json
import sys

ANSWER = {"grade": "A", "reason": "because " * 150}
_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"


def response(answer: object = ANSWER) -> bytes:
    """A whole HTTP response: a chat completion of about 300 tokens whose text is `answer` as JSON."""
    completion = {
        "id": "chatcmpl-benchmark",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": json.dumps(answer), "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 260,
            "completion_tokens": 300,
            "total_tokens": 560,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }
    body = json.dumps(completion).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Answering(asyncio.Protocol):
    """One connection: answers each request `delay_s` after its last byte."""

    def __init__(self, prepared: bytes, delay_s: float):
        self._prepared = prepared
        self._delay_s = delay_s
        self._pending = b""
        self._needed = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio when a client has connected."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Called by asyncio with what has arrived: a part of a request, one, or several."""
        self._pending += data
        while len(self._pending) >= self._needed:
            if not self._needed:
                end = self._pending.find(_END)
                if end < 0:
                    return
                self._needed = end + len(_END) + _content_length(self._pending[:end])
                continue
            self._pending = self._pending[self._needed :]
            self._needed = 0
            asyncio.get_running_loop().call_later(self._delay_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._prepared)


def _content_length(head: bytes) -> int:
    lowered = head.lower()
    start = lowered.find(_LENGTH)
    return int(lowered[start + len(_LENGTH) :].split(b"\r", 1)[0]) if start >= 0 else 0


async def serve(delay_s: float) -> None:
    """Serve on a free port of 127.0.0.1 until standard input closes; the base URL is the first line of the output."""
    loop = asyncio.get_running_loop()
    prepared = response()
    server = await loop.create_server(lambda: Answering(prepared, delay_s), "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds until a request is answered")
    asyncio.run(serve(parser.parse_args().delay))
