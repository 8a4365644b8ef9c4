"""Fetching pages from a server on loopback."""

import gzip
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from devqa.web.fetch import Fetched, LocalFetcher, WebFetcher, fetch_all
from devqa.web.store import Store

_OPTIONS = {"timeout_s": 10, "max_bytes": 100_000, "max_redirects": 3, "user_agent": "devqa-test"}
_PAGE = "<p>Привет".encode("cp1251")


class _Handler(BaseHTTPRequestHandler):
    """Answers by path; counts what it was asked."""

    server: "_Server"

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        self.server.headers.append(dict(self.headers))
        name, _, rest = self.path[1:].partition("/")
        if name == "redirect":
            self._send(302, b"x" * 10, {"Location": unquote(rest)})
        elif name == "status":
            self._send(int(rest), b"<p>Sorry", {})
        elif name == "bomb":
            self._send(200, gzip.compress(b"a" * 50_000_000), {"Content-Encoding": "gzip"})
        elif name.startswith("drip"):
            self._drip(name)
        else:
            self._send(200, {"page": _PAGE, "pdf": b"%PDF-1.7", "empty": b""}[name], {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=windows-1251", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the client has seen enough
            self.close_connection = True

    def _drip(self, name: str) -> None:
        """Headers or a body that never end, a byte at a time, until the client goes."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"X: " if name == "drip-headers" else b"\r\n<p>"))
            while not self.server.stopped.wait(0.02):
                self.wfile.write(b"a")
        except OSError:
            self.server.left.set()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.stopped, self.left = threading.Event(), threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server() as server:
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield server
        server.stopped.set()
        server.shutdown()


def _fetcher(store: Store, **options: object) -> WebFetcher:
    return WebFetcher(_OPTIONS | options, store, permitted_hosts={"127.0.0.1"})


def test_a_page_comes_as_its_raw_bytes_and_is_asked_for_once(server, tmp_path):
    url = server.url("page")
    page = _fetcher(Store(tmp_path)).fetch(url + "#part")
    assert page == Fetched(url, 200, "text/html; charset=windows-1251", _PAGE, "ok", "")
    assert _fetcher(Store(tmp_path)).fetch(url) == page
    assert server.asked == {"/page": 1}
    kept = json.loads(Store(tmp_path).get(f"url:{url}"))
    assert Store(tmp_path).get_page(kept["sha256"]) == _PAGE
    assert kept["fetched"].startswith("20")
    assert server.headers[0]["User-Agent"] == "devqa-test"
    assert server.headers[0]["Accept-Encoding"] == "gzip"


def test_the_environment_sets_no_proxy(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert _fetcher(Store(tmp_path)).fetch(server.url("page")).status == "ok"


def test_a_damaged_page_is_fetched_again(server, tmp_path):
    store = Store(tmp_path)
    page = _fetcher(store).fetch(server.url("page"))
    for file in tmp_path.rglob("*.zst"):
        file.write_bytes(b"damaged")
    assert _fetcher(store).fetch(server.url("page")) == page
    assert server.asked == {"/page": 2}


@pytest.mark.parametrize(
    ("path", "status", "kept"),
    [
        ("status/404", "rejected", True),
        ("status/410", "rejected", True),
        ("status/403", "failed", False),
        ("status/429", "failed", False),
        ("status/500", "failed", False),
        ("status/503", "failed", False),
    ],
)
def test_only_what_will_not_change_is_kept(server, tmp_path, path, status, kept):
    fetcher = _fetcher(Store(tmp_path))
    first, second = fetcher.fetch(server.url(path)), fetcher.fetch(server.url(path))
    assert first == second
    assert (first.status, first.reason, first.content) == (status, f"HTTP {path[-3:]}", None)
    assert server.asked[f"/{path}"] == (1 if kept else 2)


def test_redirects_are_followed_by_hand(server, tmp_path):
    fetcher = _fetcher(Store(tmp_path))
    page = fetcher.fetch(server.url("redirect//redirect//page"))
    assert (page.final_url, page.content) == (server.url("page"), _PAGE)
    loop = fetcher.fetch(server.url("redirect//redirect//redirect//redirect//page"))
    assert (loop.status, loop.reason) == ("rejected", "more than 3 redirects")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://localhost:9/", "the address is not public"),
        ("http://[::1]/", "the address is not public"),
        ("file:///etc/passwd", "not a web address: file"),
        ("http://user:secret@127.0.0.1/", "the address holds a name or a password"),
    ],
)
def test_redirects_are_checked_like_the_address_itself(server, tmp_path, target, reason):
    fetcher = WebFetcher(_OPTIONS, Store(tmp_path), {"127.0.0.1"}, lambda host: ["127.0.0.1"])
    page = fetcher.fetch(server.url(f"redirect/{target}"))
    assert (page.status, page.reason) == ("rejected", reason)


@pytest.mark.parametrize("path", ["drip-headers", "drip-body"])
def test_a_dripping_server_is_left_at_the_deadline(server, tmp_path, path):
    page = _fetcher(Store(tmp_path), timeout_s=0.3).fetch(server.url(path))
    assert (page.status, page.reason) == ("failed", "time-out: no whole answer within 0.3 s")
    assert server.left.wait(10)
    assert Store(tmp_path).get(f"url:{server.url(path)}") is None


def test_a_compressed_bomb_is_not_unpacked(server, tmp_path):
    page = _fetcher(Store(tmp_path)).fetch(server.url("bomb"))
    assert (page.status, page.reason, page.content) == ("rejected", "longer than 100000 bytes", None)


@pytest.mark.parametrize(("path", "reason"), [("pdf", "not text: PDF"), ("empty", "empty page")])
def test_what_is_no_page_is_rejected(server, tmp_path, path, reason):
    page = _fetcher(Store(tmp_path)).fetch(server.url(path))
    assert (page.status, page.http_status, page.reason) == ("rejected", 200, reason)


def test_names_keep_their_host_header_though_the_connection_goes_to_the_checked_address(server, tmp_path):
    fetcher = WebFetcher(
        _OPTIONS, Store(tmp_path), {"docs.example"}, lambda host: {"docs.example": ["127.0.0.1"]}[host]
    )
    assert fetcher.fetch(f"http://docs.example:{server.server_port}/page").content == _PAGE
    assert server.headers[0]["Host"] == f"docs.example:{server.server_port}"


def test_a_closed_port_and_an_unknown_name_fail(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    page = _fetcher(Store(tmp_path)).fetch(f"http://127.0.0.1:{port}/?key=secret")
    assert (page.status, page.content) == ("failed", None)
    assert "secret" not in page.reason

    def unknown(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert WebFetcher(_OPTIONS, Store(tmp_path), resolver=unknown).fetch("http://no.example/").status == "failed"


def test_many_addresses_are_fetched_once_each_at_the_same_time(server, tmp_path):
    urls = [server.url(path) for path in ("page", "pdf", "status/404", "page", "empty")]
    pages = fetch_all(urls, _fetcher(Store(tmp_path)), 3)
    assert list(pages) == list(dict.fromkeys(urls))
    assert Counter(page.status for page in pages.values()) == {"ok": 1, "rejected": 3}
    assert server.asked["/page"] == 1


def test_fetching_runs_in_threads():
    barrier = threading.Barrier(4, timeout=10)

    class Together:
        def fetch(self, url: str) -> Fetched:
            barrier.wait()
            return Fetched(url, 200, "", b"", "ok", "")

    assert len(fetch_all("abcd", Together(), 4)) == 4


def test_the_local_corpus():
    row = {"url": "https://a.example/p", "content": b"x", "content_type": "text/html", "status": "ok"}
    fetcher = LocalFetcher([row, {**row, "content": b"second"}, {**row, "url": "u", "status": "rejected"}])
    assert fetcher.fetch("https://a.example/p#top") == Fetched("https://a.example/p", 200, "text/html", b"x", "ok", "")
    assert fetcher.fetch("u").reason == fetcher.fetch("v").reason == "not in the local corpus"
