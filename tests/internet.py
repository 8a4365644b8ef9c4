"""A search engine and a site on loopback, for runs of the workflow that search and fetch.

    with Internet() as internet:
        config["search"] = internet.searxng(results=4)
        config["fetch"] = internet.fetch()
        ...
        assert internet.asked["/page/3"] == 1

It speaks SearXNG's and Brave's JSON. A query finds pages by the numbers in `found`, the same ones for every query.
"""

import json
import random
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"


class Internet:
    """The server, as a context manager.

    Attributes:
        found: numbers of the pages that every query finds; the same for both engines.
        pages: what the site gives in place of its own pages, by path: (status, content type, body).
        asked: how often each path was asked for; searches count as the path alone.
    """

    def __init__(self) -> None:
        self.found = list(range(6))
        self.pages: dict[str, tuple[int, str, bytes]] = {}
        self.asked: Counter[str] = Counter()
        self._server = ThreadingHTTPServer((HOST, 0), _Handler)
        self._server.daemon_threads = True
        self._server.internet = self

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address of engine and site."""
        return f"http://{HOST}:{self._server.server_port}"

    def searxng(self, **more: Any) -> dict[str, Any]:
        """Section `search` of a configuration."""
        return {"engine": "searxng", "url": self.url, **more}

    def brave(self, **more: Any) -> dict[str, Any]:
        """Section `search` of a configuration; the key is in `BRAVE_API_KEY`."""
        return {"engine": "brave", "url": self.url, **more}

    def fetch(self, **more: Any) -> dict[str, Any]:
        """Section `fetch` of a configuration that may ask this server, a page at a time."""
        return {"private_hosts": [HOST], "host_requests_per_second": 20, "timeout_s": 10, **more}

    def fetched(self) -> Counter[str]:
        """How often each page was asked for."""
        return Counter({path: count for path, count in self.asked.items() if path.startswith("/page/")})

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, str, bytes]:
        """Status, content type and body of one answer."""
        self.asked[path] += 1
        if path in self.pages:
            return self.pages[path]
        first = query.get("pageno", "1") == "1" and query.get("offset", "0") == "0"
        hits = [
            {"url": f"{self.url}/page/{number}", "title": f"Page {number}", "content": "…", "description": "…"}
            for number in (self.found if first else [])
        ]
        if path == "/search":
            return 200, "application/json", json.dumps({"results": hits}).encode()
        if path == "/res/v1/web/search":
            found = {"web": {"results": hits}, "query": {"more_results_available": False}}
            return 200, "application/json", json.dumps(found).encode()
        if path.startswith("/page/"):
            return 200, "text/html", page(int(path.rpartition("/")[2])).encode()
        return 404, "text/plain", b"not here"


def page(number: int) -> str:
    """A page that no other is like, about what the tests' dialogues ask."""
    generator = random.Random(number)
    subjects = (
        "asyncio gather",
        "git reflog",
        "SQL left join",
        "docker build cache",
        "HTTP 429 retry",
        "Redis persistence",
    )
    words = ("option", "returns", "value", "default", "reads", "writes", "keeps", "waits", "ends", "begins", "server")
    paragraphs = "".join(
        f"<p>On {subject}, point {number}.{index}: the {' '.join(generator.choices(words, k=25))}.</p>"
        for index, subject in enumerate(subjects)
    )
    return (
        f"<!DOCTYPE html><html><head><title>Page {number}</title></head><body><main>{paragraphs}</main></body></html>"
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        status, kind, body = self.server.internet.answer(parts.path, query)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""
