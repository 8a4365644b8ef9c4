"""What all engines over HTTP have in common."""

import json
import logging
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest
import stamina

from devqa.errors import UserError
from devqa.web.engines import online
from devqa.web.engines.base import QuotaExhausted, SearchFailed
from devqa.web.engines.sites import Sites
from devqa.web.store import NotKept, Store
from searching import KEY, NAMES, PAID, Asked, Response, Service, body, engine, failing, numbered, page_number


@pytest.fixture(autouse=True)
def no_waiting():
    stamina.set_testing(True, attempts=4, cap=True)
    yield
    stamina.set_testing(False)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def service(name):
    with Service(numbered(name, 10)) as running:
        yield running


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "web")


@pytest.fixture
def searcher(name, service, store):
    return engine(name, service.url, store)


class Purse:
    """Records what is paid, and admits `most` requests."""

    def __init__(self, most=100):
        self.most = most
        self.settled = []
        self.open = 0

    def admit(self):
        if self.open + len(self.settled) >= self.most:
            raise UserError("budget_usd: reached")
        self.open += 1

    def settle(self, charged):
        self.open -= 1
        self.settled.append(charged)


def urls(found):
    return [hit.url for hit in found.hits]


def test_results_are_read_and_nothing_is_bought_twice(name, service, searcher, store):
    found = searcher.search("c++ & Москва", "ru", 5)
    assert urls(found) == [f"https://r.example/1-{number}" for number in range(5)]
    assert (found.hits[0].title, found.hits[0].snippet) == ("T", "" if name == "searxng" else "S")
    assert found.requests == 1
    assert searcher.search("c++ & Москва", "ru", 5) == found
    # Fewer or more of what is on the page cost nothing either, in another job as well.
    assert urls(engine(name, service.url, store, key="another").search("c++ & Москва", "ru", 7))[:5] == urls(found)
    assert len(service.asked) == 1
    searcher.search("another", "ru", 5)
    assert len(service.asked) == 2
    assert "c++ & Москва" in service.asked[0].what.values()


def test_pages_are_bought_as_needed(name, service, searcher):
    found = searcher.search("q", "en", 25)
    pages = {"searxng": [1, 2, 3], "tavily": [1]}.get(name, [1, 2, 3])
    assert [page_number(name, asked) for asked in service.asked] == pages
    assert found.requests == len(pages)
    assert len(found.hits) == min(25, 10 * len(pages))
    assert len(set(urls(found))) == len(found.hits)


def test_the_last_page_ends_a_search(name, service, searcher):
    service.reply = numbered(name, 3, pages=2)
    found = searcher.search("q", "en", 100)
    assert len(found.hits) == (3 if name == "tavily" else 6)
    # Brave, Google and Tavily say that there is no more; the others give an empty page.
    assert len(service.asked) == {"tavily": 1, "brave": 2, "google": 2}.get(name, 3)


def test_a_search_without_words_asks_nothing(service, searcher):
    assert searcher.search(" \n", "en", 3).hits == []
    assert service.asked == []


def test_nothing_found_is_an_answer_and_kept(name, service, searcher):
    service.reply = lambda asked: body(name, [], more=False)
    assert searcher.search("q", "en", 3) == ([], 1)
    assert searcher.search("q", "en", 3) == ([], 1)
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_service_is_asked_again(service, searcher, status):
    service.answers = [failing(status)] * 3
    assert len(searcher.search("q", "en", 3).hits) == 3
    assert len(service.asked) == 4


def test_a_service_that_stays_busy_fails_this_search_and_is_not_remembered(service, searcher):
    service.answers = [failing(503)] * 4
    with pytest.raises(SearchFailed, match="gave no answer: HTTP 503"):
        searcher.search("q", "en", 3)
    assert len(searcher.search("q", "en", 3).hits) == 3


def test_what_a_service_asks_to_wait_is_waited_within_bounds(service, searcher, monkeypatch):
    stamina.set_testing(False)
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    service.answers = [failing(429, Retry_After="7")]
    assert len(searcher.search("q", "en", 3).hits) == 3
    assert waits == [7]
    service.answers = [failing(429, Retry_After="3600")]
    with pytest.raises(SearchFailed, match="asks to wait 3,600 s"):
        searcher.search("another", "en", 3)
    assert waits == [7]


def test_a_lost_connection_is_tried_again(name, service, searcher):
    service.answers = [Response(200, b'{"half', drop=True), Response(200, b"", drop=True)]
    assert len(searcher.search("q", "en", 3).hits) == 3
    service.answers = [Response(200, b'{"half', drop=True)] * 4
    with pytest.raises(SearchFailed, match="gave no answer: the answer broke off"):
        searcher.search("another", "en", 3)


def test_no_service_is_the_users_to_mend(name, service, searcher):
    service.shutdown()
    service.server_close()
    with pytest.raises(UserError, match="search.url: there is no .*mend the address") as error:
        searcher.search("q", "en", 3)
    assert "settings.yml" not in str(error.value)


@pytest.mark.parametrize("url", ["localhost:8888", "ftp://x", "http://[no", "http://"])
def test_an_address_must_be_one(name, store, url):
    with pytest.raises(UserError, match="search.url: .* is no address"):
        engine(name, url, store)


@pytest.mark.parametrize(
    "answer",
    [
        Response(200, b"<html>", {"Content-Type": "text/html"}),
        Response(200, b"[]"),
        Response(200, b"null"),
        Response(200, b'{"results": "x", "organic": {}, "items": 1, "web": [], "query": 5}'),
        Response(200, b'{"results": [], "organic": [], "items": [], "web": {}'),
        Response(200, b"[" * 100_000),
        Response(200, b'{"message": "hello"}'),
        Response(200, b""),
        failing(302, Location="/elsewhere"),
        Response(307, b"x" * 3_000_000, {"Location": "/elsewhere"}),
        failing(404),
        failing(405, {"detail": "Method Not Allowed"}),
    ],
)
def test_what_is_not_the_service_is_named_and_not_remembered(service, searcher, answer):
    service.answers = [answer]
    with pytest.raises(UserError, match="search.url: ") as error:
        searcher.search("q", "en", 3)
    assert not isinstance(error.value, QuotaExhausted)
    assert len(service.asked) == 1
    assert len(searcher.search("q", "en", 3).hits) == 3


@pytest.mark.parametrize("name", PAID)
@pytest.mark.parametrize("slash", ["", "/"])
def test_an_address_with_the_service_s_own_path_is_the_same_address(service, name, searcher, store, slash):
    found = searcher.search("q", "en", 3)
    written_out = engine(name, f"{service.url}{searcher.path}{slash}", store)
    assert written_out.search("q", "en", 3) == found
    assert len(service.asked) == 1
    written_out.search("another", "en", 3)
    assert {asked.path for asked in service.asked} == {searcher.path}


def test_json_in_a_wrapping_of_another_type_will_do(name, service, searcher):
    service.answers = [Response(200, body(name, ["https://r.example/"]), {"Content-Type": "text/plain"})]
    assert len(searcher.search("q", "en", 1).hits) == 1


def test_proxies_and_passwords_of_the_machine_are_no_matter(service, searcher, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert len(searcher.search("q", "en", 3).hits) == 3
    assert not service.asked[0].headers.get("Authorization", "").startswith("Basic")


def test_a_huge_answer_is_not_read(name, service, searcher, monkeypatch):
    monkeypatch.setattr(online, "_MOST_BYTES", 50_000)
    service.answers = [Response(200, body(name, [f"https://r.example/{number}" for number in range(5_000)]))]
    with pytest.raises(SearchFailed, match="gave an answer of more than"):
        searcher.search("q", "en", 3)
    service.answers = [Response(500, b"x" * 3_000_000)]
    assert len(searcher.search("q", "en", 3).hits) == 3


def test_a_query_that_is_not_taken_fails_alone(service, searcher):
    service.answers = [failing(400)]
    with pytest.raises(SearchFailed, match="did not take the query: HTTP 400"):
        searcher.search("!nonsense", "en", 3)
    assert len(service.asked) == 1
    assert len(searcher.search("fine", "en", 3).hits) == 3


def test_offline_only_what_is_kept_is_found(name, service, searcher, store):
    found = searcher.search("q", "en", 3)
    asleep = engine(name, service.url, store, offline=True, key="")
    assert asleep.search("q", "en", 3) == found
    with pytest.raises(NotKept):
        asleep.search("another", "en", 3)
    assert len(service.asked) == 1


def test_only_wanted_sites_are_found_and_no_pages_bought_without_end(name, service, store):
    mixed = ["https://docs.a.example/x", "https://b.example/y", "https://a.example.evil.example/", "https://c.example/"]
    service.reply = lambda asked: body(name, [f"{url}{page_number(name, asked)}" for url in mixed])
    only = engine(name, service.url, store, sites=Sites(("a.example", "c.example"), ("c.example",)))
    found = only.search("q", "en", 20)
    asked = {"searxng": 10, "brave": 2, "serper": 3, "google": 3, "tavily": 1}[name]
    assert urls(found) == [f"https://docs.a.example/x{page}" for page in range(1, asked + 1)]
    assert found.requests == len(service.asked) == asked
    # The sites are part of the question, but where the service is not told.
    told = json.dumps([asked.what for asked in service.asked])
    assert "a.example" in told
    assert "c.example" in told


def test_what_can_not_be_fetched_is_left_out(name, service, searcher):
    service.answers = [Response(200, body(name, ["javascript:alert(1)", "https://a.example/", "ftp://b.example/"]))]
    assert urls(searcher.search("q", "en", 1)) == ["https://a.example/"]


def test_threads_that_want_the_same_ask_once(service, searcher):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: searcher.search("q", "en", 3), range(8)))
    assert len(service.asked) == 1
    assert all(each == found[0] for each in found)


def test_each_request_waits_for_its_turn_and_what_is_kept_does_not(name, service, store):
    turns = []
    slow = engine(name, service.url, store, wait=lambda: turns.append(len(service.asked)))
    service.answers = [failing(503)]
    slow.search("q", "en", 3)
    slow.search("q", "en", 3)
    assert turns == [0, 1]


def test_each_answer_is_paid_and_nothing_else(name, service, store):
    purse = Purse()
    paying = engine(name, service.url, store, purse=purse)
    service.answers = [failing(503), Response(200, b"{}", drop=True)]
    paying.search("q", "en", 3)
    paying.search("q", "en", 3)
    assert purse.settled == [False, True, True]
    assert purse.open == 0


def test_a_spent_budget_stops_before_anything_is_sent(name, service, store):
    paying = engine(name, service.url, store, purse=Purse(1))
    paying.search("q", "en", 3)
    with pytest.raises(UserError, match="budget_usd"):
        paying.search("another", "en", 3)
    assert len(service.asked) == 1
    assert paying.search("q", "en", 3).requests == 1


def test_nothing_is_paid_where_the_connection_fails(name, service, store):
    purse = Purse()
    service.shutdown()
    service.server_close()
    with pytest.raises(UserError):
        engine(name, service.url, store, purse=purse).search("q", "en", 3)
    assert set(purse.settled) == {False}
    assert purse.open == 0


# A service that quotes the key wherever it can, in every documented place of a message, and in its answers.
def quoting(status):
    said = f"the key {KEY} is not good"
    return failing(
        status,
        {
            "message": said,
            "detail": {"error": said, "detail": said, "code": KEY},
            "error": {"message": said, "detail": said, "code": KEY, "errors": [{"reason": KEY}]},
            "errors": [{"detail": said}],
        },
        Location=f"/elsewhere?key={KEY}",
    )


@pytest.mark.parametrize("name", PAID)
@pytest.mark.parametrize("status", [200, 302, 400, 401, 402, 403, 404, 422, 429, 432, 500, None])
def test_the_key_is_in_no_log_no_message_and_no_file(name, service, store, tmp_path, caplog, status):
    caplog.set_level(logging.DEBUG)
    searcher = engine(name, service.url, store)
    if status == 200:
        answer = body(name, [f"https://r.example/?{KEY}"]).replace(b'"T"', json.dumps(KEY).encode())
        service.answers = [Response(200, answer)]
        assert searcher.search("q", "en", 1).hits
    elif status is None:
        service.shutdown()
        service.server_close()
    else:
        service.answers = [quoting(status)] * 6
    if status != 200:
        with pytest.raises((UserError, SearchFailed)) as caught:
            searcher.search("q", "en", 3)
        for error in _chain(caught.value):
            said = "".join([str(error), repr(error), *traceback.format_exception(error), str(vars(error))])
            assert KEY not in said
    assert KEY not in caplog.text
    assert all(KEY not in str(vars(record)) for record in caplog.records)
    assert KEY not in repr(searcher)
    sent = service.asked[0] if service.asked else Asked("", "", {}, {"": KEY})
    # It was sent, and not as a part of the address.
    assert any(KEY in value for value in sent.headers.values())
    assert KEY not in json.dumps(sent.what)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == (status == 200)
    assert all(KEY.encode() not in _content(store, file) for file in files)


def _chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _content(store, file):
    import zstandard

    return file.name.encode() + zstandard.ZstdDecompressor().decompress(file.read_bytes())
