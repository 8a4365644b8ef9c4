"""Search in a corpus of one's own, the sites that are searched, and which engine the configuration opens."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.sources import Search
from devqa.errors import UserError
from devqa.web.engines.base import Found
from devqa.web.engines.local import LocalEngine
from devqa.web.engines.opening import open_engine
from devqa.web.engines.sites import Bounds, Sites, worded
from devqa.web.store import NotKept
from devqa.web.words import words
from searching import KEY, NAMES, PAID, Service, numbered

_TEXTS = {
    "https://a.example/en": ("Connection limits", "The default of max_connections in PostgreSQL is 100."),
    "https://a.example/zh": ("联合索引", "违反最左前缀原则时，联合索引会失效。"),
    "https://docs.b.example/ru": ("Отмена коммита", "Последний коммит отменяют командой git reset."),
    "file:notes/cpp.md": ("Vectors", "A std::vector in C++ grows when it is full."),
}


def _rows(status="ok"):
    return [
        {"url": url, "title": title, "text": text, "words": " ".join(words(f"{title} {text}")), "status": status}
        for url, (title, text) in _TEXTS.items()
    ]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("max_connections default", "https://a.example/en"),
        ("how many connections", "https://a.example/en"),
        ("索引失效的原因", "https://a.example/zh"),
        ("отменить последние коммиты", "https://docs.b.example/ru"),
        ("c++ std::vector<int> growth", "file:notes/cpp.md"),
    ],
)
def test_the_local_engine_finds_pages_in_three_languages(query, page):
    found = LocalEngine(_rows()).search(query, "", 10)
    assert (found.hits[0].url, found.requests) == (page, 0)


def test_pages_that_are_not_ok_are_not_found():
    assert LocalEngine(_rows("rejected")).search("max_connections", "en", 10) == Found([], 0)


def test_pages_of_other_sites_are_not_found():
    def found(*sites):
        hits = LocalEngine(_rows(), Sites(*sites)).search("connections 索引 git vector", "", 10).hits
        return {hit.url for hit in hits}

    assert found() == set(_TEXTS)
    assert found(("b.example",)) == {"https://docs.b.example/ru"}
    # A file is of no site.
    assert found((), ("a.example",)) == {"https://docs.b.example/ru", "file:notes/cpp.md"}
    assert found(("a.example",), ("a.example/zh",)) == {"https://a.example/en"}


@pytest.mark.parametrize(
    ("site", "url", "is_of"),
    [
        ("python.org", "https://python.org/", True),
        ("python.org", "http://DOCS.Python.org:8080/3/", True),
        ("python.org", "https://python.org.evil.example/", False),
        ("python.org", "https://notpython.org/", False),
        ("python.org", "https://evil.example/python.org", False),
        ("python.org", "https://python.org@evil.example/", False),
        ("docs.python.org", "https://python.org/", False),
        ("github.com/pallets", "https://github.com/pallets", True),
        ("github.com/pallets/", "https://github.com/pallets/flask?tab=readme", True),
        ("github.com/pallets", "https://github.com/palletsprojects/x", False),
        ("github.com/pallets", "https://github.com/%70allets/flask", True),
        ("münchen.example", "https://www.xn--mnchen-3ya.example/", True),
        ("example.org", "http://[no address", False),
        ("example.org", "", False),
    ],
)
def test_what_is_of_a_site(site, url, is_of):
    assert Sites((site,)).allow(url) == is_of
    assert Sites((), (site,)).allow(url) != is_of


@given(st.text(max_size=80), st.text("ab :.", max_size=30), st.text("ab :.", max_size=30), st.integers(2, 40))
def test_a_worded_query_is_within_its_bounds(query, include, exclude, most):
    bounds = Bounds(characters=most, words=max(2, most // 5))
    text = worded(query, include, exclude, bounds)
    assert bounds.hold(text)
    if bounds.hold(query) and not include and not exclude:
        assert text == query


def test_without_bounds_and_sites_a_query_stays_as_it_is():
    assert worded("  two  spaces ", "", "", None) == "  two  spaces "


def job(folder, offline=False, **search):
    config = {"search": Search.model_validate(search).model_dump(mode="json"), "offline": offline, "budget_usd": None}
    return SimpleNamespace(config=config, cache=folder, offline=offline, corpus=lambda: None)


@pytest.fixture
def opened(tmp_path):
    with Service(numbered("searxng", 3)) as service:

        def opened(name, **options):
            service.reply = numbered(name, 3)
            more = {"engine_id": "0123456789abcdef0"} if name == "google" else {}
            return open_engine(job(tmp_path, engine=name, url=service.url, **more, **options))

        opened.service = service
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_the_configuration_chooses(opened, monkeypatch, name):
    monkeypatch.setenv("ELSEWHERE", f" {KEY}\n")
    engine = opened(name, api_key_env="ELSEWHERE" if name in PAID else None, exclude_sites=["c.example"])
    assert engine.name == name
    assert engine.sites.exclude == ("c.example",)
    assert len(engine.search("q", "en", 3).hits) == 3
    sent = opened.service.asked[0].headers.values()
    assert any(KEY in value for value in sent) == (name in PAID)


@pytest.mark.parametrize("name", PAID)
@pytest.mark.parametrize(("value", "message"), [(None, "is not set"), ("  ", "is not set"), ("ключ", "does not hold")])
def test_a_key_that_is_missing_is_named(opened, monkeypatch, name, value, message):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(UserError, match=f"search.api_key_env: the environment variable MY_KEY {message}"):
        opened(name, api_key_env="MY_KEY")
    # Where nothing is sent none is needed.
    with pytest.raises(NotKept):
        opened(name, api_key_env="MY_KEY", offline=True).search("q", "en", 3)


def test_requests_take_turns_over_all_jobs(opened, monkeypatch):
    waits = []
    monkeypatch.setattr("devqa.web.pace.Pace.wait", lambda pace, *turn: waits.append(turn))
    opened("searxng", requests_per_second=2.5).search("q", "en", 3)
    opened("searxng", requests_per_second=2.5).search("another", "en", 3)
    assert waits == [("search searxng", 2.5)] * 2


def test_what_has_a_price_is_paid_from_the_runs_purse(opened, monkeypatch):
    paid = []
    purse = SimpleNamespace(admit=lambda: paid.append("admitted"), settle=paid.append)
    monkeypatch.setattr("devqa.web.purse.open_purse", lambda this: purse)
    opened("searxng").search("q", "en", 3)
    assert paid == []
    opened("searxng", price_per_request=0.005).search("another", "en", 3)
    assert paid == ["admitted", True]
