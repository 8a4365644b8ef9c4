"""Web servers on loopback that answer byte by byte what a test wants, and fetchers that reach nothing else."""

import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from devqa.web.fetching.fetch import WebFetcher
from devqa.web.store import Store

OPTIONS = {
    "timeout_s": 10,
    "max_bytes": 100_000,
    "max_redirects": 3,
    "concurrency": 4,
    "user_agent": "devqa-test/1.0",
    "contact": None,
    "host_requests_per_second": 1000,
    "retries": 2,
    "private_hosts": ["127.0.0.1"],
}
ALL_ALLOWED = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

# What is sent: bytes, or what writes them to the connection itself.
Raw = bytes | Callable[[socket.socket], None]


def answer(body: bytes | str = b"", status: int = 200, kind: str = "text/html; charset=utf-8", **headers: Any) -> bytes:
    """A well-formed answer; names of further headers have _ for -, and None leaves one out."""
    body = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": kind, "Content-Length": len(body), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    return f"HTTP/1.1 {status} Whatever\r\n{head}\r\n".encode("latin-1") + body


def redirect(target: str, status: int = 302) -> bytes:
    return answer(b"moved", status, Location=target)


class Request:
    """What a client sent."""

    def __init__(self, head: bytes):
        first, *lines = head.decode("latin-1").split("\r\n")
        self.path = first.split(" ")[1]
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


class Site(socketserver.ThreadingTCPServer):
    """Answers by path; the last of several answers for good. Counts and keeps what it is asked, robots.txt apart.

    A context manager. `left` is set when a client closes the connection on an answer that never ends.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, pages: dict[str, Raw | list[Raw]] | None = None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port: int = self.server_address[1]
        self.pages: dict[str, Raw | list[Raw]] = {"/robots.txt": ALL_ALLOWED.encode(), **(pages or {})}
        self.asked: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.stopped, self.left = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.shutdown()
        super().__exit__()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def drip(self, head: bytes, piece: bytes = b"a") -> Callable[[socket.socket], None]:
        """An answer that begins with `head` and goes on with `piece` every now and then, for ever."""

        def send(connection: socket.socket) -> None:
            connection.sendall(head)
            while not self.stopped.wait(0.02):
                connection.sendall(piece)

        return send

    def flood(self, head: bytes, piece: bytes, most: int) -> Callable[[socket.socket], None]:
        """An answer that begins with `head` and goes on with `piece` as fast as it is taken, at most `most` times."""

        def send(connection: socket.socket) -> None:
            connection.sendall(head)
            for _ in range(most):
                connection.sendall(piece)

        return send


class _Handler(socketserver.BaseRequestHandler):
    server: Site

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            if not (received := self.request.recv(65_536)):
                return
            head += received
        request = Request(head)
        if request.path != "/robots.txt":
            self.server.requests.append(request)
        self.server.asked[request.path] += 1
        raw = self.server.pages.get(request.path, answer(b"nothing here", 404))
        if isinstance(raw, list):
            raw = raw[min(self.server.asked[request.path], len(raw)) - 1]
        try:
            if callable(raw):
                raw(self.request)
            else:
                self.request.sendall(raw)
        except OSError:  # the client has seen enough
            self.server.left.set()


def fetcher(
    store: Store, *, names: tuple[str, ...] = (), more: dict[str, Any] | None = None, **options: Any
) -> WebFetcher:
    """A fetcher that may ask 127.0.0.1 and `names`, which all mean 127.0.0.1; anything else can't be connected to."""
    options = {**OPTIONS, "private_hosts": ["127.0.0.1", *names], **options}
    return WebFetcher(
        options, store, **{"resolver": lambda host: ["127.0.0.1"], "connector": loopback_only, **(more or {})}
    )


def loopback_only(address: tuple[str, int], timeout_s: float) -> socket.socket:
    assert address[0] == "127.0.0.1", f"a connection to {address} was asked for"
    return socket.create_connection(address, timeout=timeout_s)
