"""Which outcomes of fetching are kept and for how long, and what is tried again at once."""

import pytest

from devqa.web.fetching import requesting
from devqa.web.store import Store
from fetching import Site, answer, fetcher, redirect

_DAY_S = 24 * 3600


class Clock:
    def __init__(self):
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def site():
    with Site() as site:
        yield site


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(requesting, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(requesting, "WAIT_JITTER_S", 0.001)


def _drip(site: Site) -> object:
    return site.drip(b"HTTP/1.1 200 OK\r\n\r\n")


@pytest.mark.parametrize(
    ("raw", "status", "reason"),
    [
        (answer(b"", 404), "rejected", "HTTP 404"),
        (answer(b"", 410), "rejected", "HTTP 410"),
        (answer(b""), "rejected", "empty page"),
        (answer(b"", 204), "rejected", "empty page"),
        (answer(b"x" * 100_001), "rejected", "longer than 100000 bytes"),
        (answer(b"\x89PNG\r\n\x1a\n", kind="image/png"), "rejected", "not text: image/png"),
        (answer(b"PK\x03\x04"), "rejected", "not text: archive"),
        (answer(b"x", Content_Encoding="br"), "rejected", "an encoding that was not asked for: br"),
        (redirect("/it"), "rejected", "more than 3 redirects"),
        (answer(b"good"), "ok", ""),
    ],
)
def test_what_will_not_change_is_asked_once_by_all_runs(site, store, raw, status, reason):
    site.pages["/it"] = raw
    pages = [fetcher(store, more={"run": run}).fetch(site.url("/it")) for run in "abcd"]
    assert {(page.status, page.reason) for page in pages} == {(status, reason)}
    assert site.asked["/it"] == (4 if "redirects" in reason else 1)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (answer(b"", 401), "HTTP 401"),
        (answer(b"", 403), "HTTP 403"),
        (answer(b"", 418), "HTTP 418"),
        (answer(b"", 429), "HTTP 429"),
        (answer(b"", 503), "HTTP 503"),
        (answer(b"part", 206), "HTTP 206"),
        (answer(b"", 302), "HTTP 302"),
        (b"nonsense\r\n\r\n", "the answer can't be read: BadStatusLine"),
        (b"", "the connection was lost: RemoteDisconnected"),
        (_drip, "time-out: no whole answer within 0.2 s"),
    ],
)
def test_what_failed_is_asked_once_in_each_of_three_runs_and_then_no_more(site, store, raw, reason):
    site.pages["/it"] = raw(site) if callable(raw) else raw
    # So that robots.txt is there, however slow the machine is.
    fetcher(store).fetch(site.url("/"))
    outcomes = []
    for run in "aabbccdd":
        page = fetcher(store, timeout_s=0.2, retries=0, more={"run": run}).fetch(site.url("/it"))
        outcomes.append((page.status, page.reason))
    given_up = ("rejected", f"given up after 3 runs: {reason}")
    assert outcomes == [("failed", reason)] * 4 + [given_up] * 4
    assert site.asked["/it"] == 3


def test_a_page_that_comes_at_last_starts_afresh(site, store):
    site.pages["/it"] = [answer(b"", 503), answer(b"", 503), answer(b"there")]
    states = [fetcher(store, retries=0, more={"run": run}).fetch(site.url("/it")).status for run in "abcd"]
    assert states == ["failed", "failed", "ok", "ok"]


def test_without_a_name_each_fetcher_is_a_run_of_its_own(site, store):
    site.pages["/it"] = answer(b"", 503)
    first = fetcher(store, retries=0)
    assert first.fetch(site.url("/it")) == first.fetch(site.url("/it"))
    assert site.asked["/it"] == 1
    fetcher(store, retries=0).fetch(site.url("/it"))
    assert site.asked["/it"] == 2


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        (answer(b"x" * 101), {"max_bytes": 1000}),
        ([redirect("/it"), redirect("/it"), answer(b"there")], {"max_redirects": 9}),
        ([answer(b"", 503)] * 3 + [answer(b"there")], {"max_bytes": 1000}),
        (redirect("http://inside.example/"), {"names": ("inside.example",)}),
    ],
)
def test_other_terms_are_another_question(site, store, raw, options):
    site.pages["/it"] = [redirect(f"http://inside.example:{site.port}/in")] if options.get("names") else raw
    site.pages["/in"] = answer(b"inside")
    before = {"max_bytes": 100, "max_redirects": 1, "retries": 0}
    resolver = {"resolver": lambda host: ["127.0.0.1"]}
    for run in "abcd":
        page = fetcher(store, **before, more={"run": run, **resolver}).fetch(site.url("/it"))
    assert page.status == "rejected"
    later = fetcher(store, **{**before, **options}, more={"run": "e", **resolver}).fetch(site.url("/it"))
    assert later.status == "ok"


def test_smaller_bounds_take_no_page_away(site, store):
    site.pages |= {"/it": answer(b"x" * 500), "/gone": answer(b"", 404)}
    for bound in (1000, 100):
        states = [fetcher(store, max_bytes=bound).fetch(site.url(path)).status for path in ("/it", "/gone")]
        assert states == ["ok", "rejected"]
    assert (site.asked["/it"], site.asked["/gone"]) == (1, 1)


def test_what_a_robots_file_or_a_name_server_forbids_holds_for_a_day(site, store):
    clock = Clock()
    site.pages["/robots.txt"] = answer(b"User-agent: *\nDisallow: /", kind="text/plain")
    asked = []

    def resolver(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1" if host == "127.0.0.1" else "10.0.0.1"]

    def look() -> list[str]:
        one = fetcher(store, more={"now": clock, "resolver": resolver})
        return [one.fetch(site.url("/it")).reason, one.fetch("http://inside.example/").reason]

    assert look() == look() == ["robots.txt forbids it", "the address is not public"]
    assert (site.asked["/robots.txt"], asked) == (1, ["127.0.0.1", "inside.example"])
    clock.time += _DAY_S + 1
    look()
    assert (site.asked["/robots.txt"], asked.count("inside.example")) == (2, 2)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_servers_out_of_order_are_asked_again_at_once(site, store, status):
    site.pages["/it"] = [answer(b"", status), answer(b"", status), answer(b"there")]
    assert fetcher(store).fetch(site.url("/it")).content == b"there"
    assert site.asked["/it"] == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451])
def test_other_answers_are_not_asked_for_again(site, store, status):
    site.pages["/it"] = answer(b"", status)
    fetcher(store).fetch(site.url("/it"))
    assert site.asked["/it"] == 1


@pytest.mark.parametrize(
    "raw", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", b"HTTP/1.1 200 OK\r\nContent-Le"]
)
def test_lost_connections_are_tried_again(site, store, raw):
    site.pages["/it"] = [raw, answer(b"there")]
    assert fetcher(store).fetch(site.url("/it")).content == b"there"


@pytest.mark.parametrize(
    ("after", "waits", "tries"),
    [
        ("0", [0], 2),
        ("7", [7], 2),
        ("31", [], 1),
        ("Thu, 01 Jan 2099 00:00:00 GMT", [], 1),
        ("9" * 4000, [], 1),
        ("Thu, 01 Jan 1970 00:00:00 GMT", [0], 2),
        ("soon", [None], 2),
        ("-5", [None], 2),
        (None, [None], 2),
    ],
)
def test_who_says_when_to_come_again_is_heard(site, store, monkeypatch, after, waits, tries):
    import tenacity

    waited = []
    monkeypatch.setattr(tenacity.nap.time, "sleep", waited.append)
    site.pages["/it"] = [answer(b"", 429, Retry_After=after), answer(b"there")]
    page = fetcher(store).fetch(site.url("/it"))
    assert (page.status, site.asked["/it"]) == ("ok" if tries == 2 else "failed", tries)
    assert len(waited) >= len(waits)
    for each, wanted in zip(waited, waits, strict=False):
        assert each == wanted if wanted is not None else each < 1


def test_as_many_tries_as_the_configuration_says(site, store):
    site.pages["/it"] = answer(b"", 503)
    assert fetcher(store, retries=4).fetch(site.url("/it")).reason == "HTTP 503"
    assert site.asked["/it"] == 5


def test_only_a_host_that_is_asked_for_the_first_time_says_something_of_the_network(store):
    def nowhere(address: tuple[str, int], timeout_s: float) -> None:
        raise ConnectionRefusedError

    def reached(run: str, path: str) -> bool | None:
        return fetcher(store, more={"run": run, "connector": nowhere}).fetch(f"http://127.0.0.1:8000{path}").reached

    assert [reached("a", "/"), reached("a", "/"), reached("b", "/"), reached("b", "/new")] == [False, None, None, False]
