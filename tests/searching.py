"""Search services on loopback that answer as their documentation says."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from devqa.web.engines.brave import BraveEngine
from devqa.web.engines.google import GoogleEngine
from devqa.web.engines.online import OnlineEngine
from devqa.web.engines.searxng import SearxngEngine
from devqa.web.engines.serper import SerperEngine
from devqa.web.engines.tavily import TavilyEngine
from devqa.web.store import Store

KEY = "sk-a/secret+key_0123456789"
PAID = ("brave", "serper", "tavily", "google")
NAMES = ("searxng", *PAID)
_CLASSES = {"searxng": SearxngEngine, "brave": BraveEngine, "serper": SerperEngine, "tavily": TavilyEngine}


@dataclass(frozen=True)
class Asked:
    """One request as it came: `what` are the parameters of a GET, or the JSON of a POST."""

    method: str
    path: str
    what: dict[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Response:
    """What is answered; with `drop` the connection ends after the headers."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False


def failing(status: int, body: Any = None, **headers: str) -> Response:
    """An error with a JSON body."""
    content = b"" if body is None else json.dumps(body).encode()
    return Response(status, content, {name.replace("_", "-"): value for name, value in headers.items()})


class _Handler(BaseHTTPRequestHandler):
    server: "Service"

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        self._answer({name: values[0] for name, values in query.items()})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, what: dict[str, Any]) -> None:
        asked = Asked(self.command, urlsplit(self.path).path, what, dict(self.headers))
        with self.server.lock:
            self.server.asked.append(asked)
            response = self.server.answers.pop(0) if self.server.answers else None
        response = response or self.server.reply(asked)
        response = Response(200, response) if isinstance(response, bytes) else response
        self.send_response(response.status)
        for name, value in {"Content-Type": "application/json", **response.headers}.items():
            self.send_header(name, value)
        length = len(response.body) + 100 * response.drop
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(response.body)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class Service(ThreadingHTTPServer):
    """Answers with `answers` first, then with what `reply` makes of the request."""

    daemon_threads = True

    def __init__(self, reply: "Callable[[Asked], bytes | Response]") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.asked: list[Asked] = []
        self.answers: list[Response] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> "Service":
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


def engine(name: str, url: str, store: Store, **options: Any) -> OnlineEngine:
    """An engine whose service is at `url`."""
    options = {"key": KEY if name in PAID else "", **options}
    if name == "google":
        return GoogleEngine("0123456789abcdef0", url, 5, store, **options)
    return _CLASSES[name](url, 5, store, **options)


def page_number(name: str, asked: Asked) -> int:
    """Which page of results a request asks for; the first one is 1."""
    match name:
        case "searxng":
            return int(asked.what["pageno"])
        case "brave":
            return int(asked.what["offset"]) + 1
        case "serper":
            return asked.what["page"]
        case "google":
            return (int(asked.what["start"]) - 1) // int(asked.what["num"]) + 1
    return 1


def body(name: str, urls: Iterable[str], more: bool = True) -> bytes:
    """A page of results in the shape of the service's own example."""
    match name:
        case "searxng":
            answer = {"query": "q", "results": [{"url": url, "title": "T", "content": None} for url in urls]}
        case "brave":
            results = [
                {"title": "T", "url": url, "description": "S", "age": "2 days ago", "language": "en"} for url in urls
            ]
            query = {"original": "q", "spellcheck_off": True, "more_results_available": more}
            answer = {"type": "search", "query": query, "web": {"type": "search", "results": results}}
        case "serper":
            organic = [{"title": "T", "link": url, "snippet": "S", "position": 1} for url in urls]
            answer = {"searchParameters": {"q": "q", "type": "search"}, "organic": organic, "credits": 1}
        case "tavily":
            results = [{"title": "T", "url": url, "content": "S", "score": 0.8, "raw_content": None} for url in urls]
            answer = {"query": "q", "answer": None, "images": [], "results": results, "response_time": "1.67"}
        case "google":
            items = [{"kind": "customsearch#result", "title": "T", "link": url, "snippet": "S"} for url in urls]
            queries = {"request": [{"startIndex": 1}], **({"nextPage": [{"startIndex": 11}]} if more else {})}
            # It leaves `items` out where there are none.
            answer = {"kind": "customsearch#search", "queries": queries, **({"items": items} if items else {})}
    return json.dumps(answer).encode()


def numbered(name: str, size: int, pages: int = 100) -> Callable[[Asked], bytes]:
    """Replies with `size` results of their own on each of `pages` pages."""

    def reply(asked: Asked) -> bytes:
        page = page_number(name, asked)
        urls = [f"https://r.example/{page}-{number}" for number in range(size)] if page <= pages else []
        return body(name, urls, more=page < pages)

    return reply
