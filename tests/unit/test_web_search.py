"""Search engines and the merging of their results."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.web.search import Hit, LocalEngine, SearchFailed, SearxngEngine, merge, open_engine
from devqa.web.store import Store
from devqa.web.words import words

_TEXTS = {
    "https://a.example/en": ("Connection limits", "The default of max_connections in PostgreSQL is 100."),
    "https://a.example/zh": ("联合索引", "违反最左前缀原则时，联合索引会失效。"),
    "https://a.example/ru": ("Отмена коммита", "Последний коммит отменяют командой git reset."),
    "https://a.example/cpp": ("Vectors", "A std::vector in C++ grows when it is full."),
}


def _rows(status: str = "ok") -> list[dict[str, str]]:
    return [
        {"url": url, "title": title, "text": text, "words": " ".join(words(f"{title} {text}")), "status": status}
        for url, (title, text) in _TEXTS.items()
    ]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("max_connections default", "en"),
        ("how many connections", "en"),
        ("索引失效的原因", "zh"),
        ("отменить последние коммиты", "ru"),
        ("c++ std::vector<int> growth", "cpp"),
    ],
)
def test_the_local_engine_finds_pages_in_three_languages(query, page):
    assert LocalEngine(_rows()).search(query, "", 10)[0].url == f"https://a.example/{page}"


def test_pages_that_are_not_ok_are_not_found():
    assert LocalEngine(_rows("rejected")).search("max_connections", "en", 10) == []


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.server.asked.append(query)
        status, body = self.server.answers.pop(0) if self.server.answers else (200, _results(query))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """Three results on each of two pages; `answers` come before that."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, str]] = []
        self.answers: list[tuple[int, bytes]] = []


def _results(query: dict[str, str]) -> bytes:
    page = int(query["pageno"])
    urls = [f"https://r.example/{page}{i}" for i in range(3)] if page < 3 else []
    return json.dumps({"results": [{"url": url, "title": "T", "content": None} for url in urls]}).encode()


@pytest.fixture
def server() -> Iterator[_Server]:
    stamina.set_testing(True, attempts=4, cap=True)
    with _Server() as server:
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield server
        server.shutdown()
    stamina.set_testing(False)


@pytest.fixture
def engine(server, tmp_path) -> SearxngEngine:
    return SearxngEngine(f"http://127.0.0.1:{server.server_port}/", 10, Store(tmp_path))


def test_searxng_is_asked_once_for_every_page_of_results(server, engine):
    hits = engine.search("c++ & Москва", "ru", 5)
    assert [hit.url[-2:] for hit in hits] == ["10", "11", "12", "20", "21"]
    assert hits[0] == Hit("https://r.example/10", "T", "")
    asked = {"q": "c++ & Москва", "language": "ru", "format": "json"}
    assert server.asked == [asked | {"pageno": "1"}, asked | {"pageno": "2"}]
    assert engine.search("c++ & Москва", "ru", 5) == hits
    assert len(server.asked) == 2
    engine.search("c++ & Москва", "", 3)
    assert server.asked[2:] == [asked | {"language": "all", "pageno": "1"}]


def test_results_end_where_searxng_has_no_more(server, engine):
    assert len(engine.search("q", "en", 100)) == 6
    assert len(server.asked) == 3


def test_a_busy_server_is_asked_again(server, engine):
    server.answers = [(429, b""), (503, b""), (500, b"")]
    assert len(engine.search("q", "en", 3)) == 3


def test_a_server_that_stays_busy_fails_this_search_and_is_not_remembered(server, engine):
    server.answers = [(429, b"")] * 4
    with pytest.raises(SearchFailed, match="429"):
        engine.search("q", "en", 3)
    assert len(engine.search("q", "en", 3)) == 3


def test_a_query_that_searxng_does_not_take_fails_alone(server, engine):
    server.answers = [(400, b"")]
    with pytest.raises(SearchFailed, match="400"):
        engine.search("!nonsense", "en", 3)
    assert engine.search(" ", "en", 3) == []
    assert len(server.asked) == 1


def test_an_empty_answer_of_dead_engines_is_not_remembered(server, engine):
    dead = json.dumps({"results": [], "unresponsive_engines": [["google", "timeout"]]}).encode()
    server.answers = [(200, dead)]
    with pytest.raises(SearchFailed, match="google"):
        engine.search("q", "en", 3)
    assert len(engine.search("q", "en", 3)) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((403, b"Forbidden"), "add 'json' to search.formats"),
        ((200, b"<html>"), "did not answer with SearXNG's JSON"),
        ((200, b"[]"), "did not answer with SearXNG's JSON"),
        ((200, b'{"results": [1]}'), "did not answer with SearXNG's JSON"),
        ((404, b""), "HTTP 404"),
        ((302, b""), "HTTP 302"),
    ],
)
def test_a_server_that_needs_setting_up_is_named(server, engine, answer, message):
    server.answers = [answer]
    with pytest.raises(UserError, match=message) as error:
        engine.search("q", "en", 3)
    assert "search.url" in str(error.value)
    assert len(engine.search("q", "en", 3)) == 3


def test_no_server_is_the_users_to_mend(server, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(UserError, match="there is no SearXNG"):
        SearxngEngine(f"http://127.0.0.1:{port}", 5, Store(tmp_path)).search("q", "en", 3)


def test_the_configuration_chooses(server, tmp_path):
    search = {"engine": "searxng", "url": f"http://127.0.0.1:{server.server_port}", "timeout_s": 5}
    assert len(open_engine(search, None, Store(tmp_path)).search("q", "en", 3)) == 3


def _hits(names: str) -> list[Hit]:
    return [Hit(f"https://{name}.example/", name, "") for name in names]


def test_pages_that_several_queries_find_come_first():
    merged = merge([_hits("abc"), _hits("dbe")], 10)
    assert "".join(hit.title for hit in merged) == "badce"
    assert merge([_hits("abc"), _hits("dbe")], 2) == merged[:2]


def test_fragments_are_the_same_page():
    merged = merge([[Hit("https://a.example/#x", "X", "x"), Hit("https://a.example/#y", "Y", "y")], _hits("b")], 10)
    assert merged == [Hit("https://a.example/", "X", "x"), Hit("https://b.example/", "b", "")]
    assert merge([[Hit("http://[no address", "", "")]], 10)[0].url == "http://[no address"


@given(st.lists(st.text("abcdef", max_size=8).map(_hits), max_size=4), st.integers(0, 8))
def test_merging_keeps_every_page_once(lists, limit):
    every = merge(lists, 100)
    assert {hit.url for hit in every} == {hit.url for hits in lists for hit in hits}
    assert len({hit.url for hit in every}) == len(every)
    assert merge(lists, limit) == every[:limit]
