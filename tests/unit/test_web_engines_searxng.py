"""A SearXNG server of one's own."""

import json

import orjson
import pytest
import stamina

from devqa.errors import UserError
from devqa.web.engines.base import Hit, SearchFailed
from devqa.web.engines.sites import Sites
from devqa.web.store import Store
from searching import Response, Service, body, engine, failing, numbered


@pytest.fixture
def server():
    stamina.set_testing(True, attempts=4, cap=True)
    with Service(numbered("searxng", 3, pages=2)) as running:
        yield running
    stamina.set_testing(False)


@pytest.fixture
def searxng(server, tmp_path):
    return engine("searxng", f"{server.url}/", Store(tmp_path))


def test_searxng_is_asked_once_for_every_page_of_results(server, searxng):
    found = searxng.search("c++ & Москва", "ru", 5)
    assert [hit.url[-3:] for hit in found.hits] == ["1-0", "1-1", "1-2", "2-0", "2-1"]
    assert found.hits[0] == Hit("https://r.example/1-0", "T", "")
    asked = {"q": "c++ & Москва", "language": "ru", "format": "json"}
    assert [each.what for each in server.asked] == [asked | {"pageno": "1"}, asked | {"pageno": "2"}]
    assert {each.path for each in server.asked} == {"/search"}
    assert searxng.search("c++ & Москва", "ru", 5) == found
    assert len(server.asked) == 2
    searxng.search("c++ & Москва", "", 3)
    assert server.asked[2].what == asked | {"language": "all", "pageno": "1"}


def test_sites_are_asked_for_with_operators(server, tmp_path):
    sites = Sites(("python.org", "github.com/pallets"), ("w3schools.com",))
    engine("searxng", server.url, Store(tmp_path), sites=sites).search("flask", "en", 3)
    assert server.asked[0].what["q"] == "flask site:python.org OR site:github.com/pallets -site:w3schools.com"


def test_what_earlier_versions_kept_is_found(server, tmp_path, searxng):
    key = orjson.dumps(["searxng", server.url, {"language": "en", "pageno": 1, "q": "kept long ago"}]).decode()
    Store(tmp_path).put(f"search:{key}", body("searxng", ["https://old.example/"]))
    assert [hit.url for hit in searxng.search("kept long ago", "en", 1).hits] == ["https://old.example/"]
    assert server.asked == []


def test_an_empty_answer_of_dead_engines_is_not_remembered(server, searxng):
    dead = json.dumps({"results": [], "unresponsive_engines": [["google", "timeout"]]}).encode()
    server.answers = [Response(200, dead)]
    with pytest.raises(SearchFailed, match="google"):
        searxng.search("q", "en", 3)
    assert len(searxng.search("q", "en", 3).hits) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Response(403, b"Forbidden"), "add 'json' to search.formats"),
        (Response(200, b"<html>"), "did not answer with SearXNG's JSON.* add 'json' to search.formats"),
        (
            Response(200, b'{"hits": [1]}'),
            "did not answer with SearXNG's JSON but with '{\"hits\": .*: mend the address$",
        ),
        (failing(404), "HTTP 404: is that SearXNG[?] mend the address$"),
        (failing(302), "HTTP 302"),
    ],
)
def test_a_server_that_needs_setting_up_is_named(server, searxng, answer, message):
    server.answers = [answer]
    with pytest.raises(UserError, match=message) as error:
        searxng.search("q", "en", 3)
    assert str(error.value).startswith("search.url: ")
    assert len(searxng.search("q", "en", 3).hits) == 3


def test_a_server_under_a_path_of_its_own_is_asked_there(server, tmp_path):
    engine("searxng", f"{server.url}/search", Store(tmp_path)).search("q", "en", 3)
    assert server.asked[0].path == "/search/search"


def test_what_its_engines_say_can_be_written_down(server, searxng):
    server.answers = [Response(200, rb'{"results": null, "unresponsive_engines": ["half \ud83d"]}')]
    with pytest.raises(SearchFailed, match="half") as error:
        searxng.search("q", "en", 3)
    str(error.value).encode()
