"""robots.txt: obeyed, kept for a day, and harmless whatever stands in it."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.web.fetching import requesting
from devqa.web.fetching.robots import Rules
from devqa.web.store import Store
from fetching import Site, answer, fetcher, redirect

_FORBIDDEN = ("rejected", "robots.txt forbids it")


@pytest.fixture
def site():
    with Site({path: answer(b"page") for path in ("/open", "/closed", "/closed/but", "/a?b=c")}) as site:
        yield site


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(requesting, "WAIT_INITIAL_S", 0.001)
    monkeypatch.setattr(requesting, "WAIT_JITTER_S", 0.001)


def _robots(*lines: str) -> bytes:
    return answer("\n".join(lines), kind="text/plain")


def _states(one, site, *paths):
    return [one.fetch(site.url(path)).status for path in paths]


def test_pages_that_the_owner_wants_left_alone_are(site, store):
    site.pages["/robots.txt"] = _robots("User-agent: *", "Disallow: /closed", "Allow: /closed/but", "Disallow: /*?b=")
    one = fetcher(store)
    page = one.fetch(site.url("/closed"))
    assert (page.status, page.reason, page.content) == (*_FORBIDDEN, None)
    assert _states(one, site, "/open", "/closed/but", "/a?b=c") == ["ok", "ok", "rejected"]
    assert (site.asked["/robots.txt"], site.asked["/closed"], site.asked["/a?b=c"]) == (1, 0, 0)


def test_redirects_are_no_way_round_it(site, store):
    site.pages |= {"/robots.txt": _robots("User-agent: *", "Disallow: /closed"), "/away": redirect("/closed")}
    page = fetcher(store).fetch(site.url("/away"))
    assert (page.status, page.reason, site.asked["/closed"]) == (*_FORBIDDEN, 0)


def test_every_host_has_rules_of_its_own_also_on_the_way(site, store):
    with Site({"/robots.txt": _robots("User-agent: *", "Disallow: /"), "/page": answer(b"x")}) as other:
        site.pages["/away"] = redirect(other.url("/page", "other.example"))
        page = fetcher(store, names=("other.example",)).fetch(site.url("/away"))
        assert (page.status, page.reason, other.asked["/page"]) == (*_FORBIDDEN, 0)


@pytest.mark.parametrize(
    ("lines", "allowed"),
    [
        (["User-agent: devqa-test", "Disallow: /closed", "", "User-agent: *", "Allow: /"], False),
        (["User-agent: DevQA-Test/2.0", "Disallow: /closed"], False),
        (["User-agent: *", "Disallow: /", "", "User-agent: devqa-test", "Allow: /"], True),
        (["User-agent: *", "Disallow: /", "User-agent: devqa-test", "Disallow:"], True),
        # Whole names count: these are others.
        (["User-agent: devqa", "Disallow: /"], True),
        (["User-agent: devqa-test-2", "Disallow: /"], True),
        (["User-agent: other", "User-agent: devqa-test", "Disallow: /closed"], False),
        (["User-agent: other", "Disallow: /", "User-agent: *", "Disallow:"], True),
        (["\ufeffUser-agent: *", "Disallow: /closed  # not this"], False),
        (["<html>", "Disallow: /"], True),
        ([], True),
    ],
)
def test_the_group_of_our_name_else_that_of_all(site, store, lines, allowed):
    site.pages["/robots.txt"] = _robots(*lines)
    assert (fetcher(store).fetch(site.url("/closed")).status == "ok") is allowed


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
def test_without_robots_txt_everything_is_allowed(site, store, status):
    site.pages["/robots.txt"] = answer(b"User-agent: *\nDisallow: /", status)
    assert fetcher(store).fetch(site.url("/open")).status == "ok"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (answer(b"", 500), "HTTP 500"),
        (answer(b"", 503), "HTTP 503"),
        (b"", "the connection was lost: RemoteDisconnected"),
        (answer(b"x", Content_Encoding="br"), "an encoding that was not asked for: br"),
        (redirect("http://169.254.169.254/robots.txt"), "redirected: the address is not public"),
    ],
)
def test_where_it_can_t_be_had_nothing_is_asked_for_in_this_run(site, store, raw, reason):
    site.pages["/robots.txt"] = raw
    more = {"resolver": lambda host: [host], "run": "a"}
    for _ in range(2):
        page = fetcher(store, retries=0, more=more).fetch(site.url("/open"))
        assert (page.status, page.reason) == ("failed", f"robots.txt can't be had: {reason}")
    fetcher(store, retries=0, more=more).fetch(site.url("/closed"))
    assert (site.asked["/robots.txt"], site.asked["/open"], site.asked["/closed"]) == (1, 0, 0)
    site.pages["/robots.txt"] = answer(b"", 404)
    assert fetcher(store, more={**more, "run": "b"}).fetch(site.url("/open")).status == "ok"


def test_a_robots_txt_that_drips_is_left_in_time(site, store):
    site.pages["/robots.txt"] = site.drip(b"HTTP/1.1 200 OK\r\n\r\n")
    page = fetcher(store, timeout_s=0.2).fetch(site.url("/open"))
    assert page.reason == "robots.txt can't be had: time-out: no whole answer within 0.2 s"
    assert site.asked["/open"] == 0


@pytest.mark.parametrize(("hops", "status"), [(5, "rejected"), (6, "ok")])
def test_five_redirects_of_it_are_followed(site, store, hops, status):
    site.pages |= {f"/{number}": redirect(f"/{number + 1}") for number in range(1, hops)}
    site.pages |= {"/robots.txt": redirect("/1"), f"/{hops}": _robots("User-agent: *", "Disallow: /")}
    assert fetcher(store).fetch(site.url("/open")).status == status


def test_it_is_asked_for_again_after_a_day(site, store):
    now = [1_800_000_000.0]
    one = fetcher(store, more={"now": lambda: now[0]})
    _states(one, site, "/open", "/closed")
    # Another job has it from the store.
    _states(fetcher(store, more={"now": lambda: now[0] + 1}), site, "/closed/but")
    assert site.asked["/robots.txt"] == 1
    now[0] += 24 * 3600 + 2
    site.pages["/robots.txt"] = _robots("User-agent: *", "Disallow: /a")
    assert _states(one, site, "/a?b=c") == ["rejected"]
    assert site.asked["/robots.txt"] == 2
    kept = json.loads(store.get(f"robots:http://127.0.0.1:{site.port}"))
    assert kept["fetched"] == "2027-01-16T08:00:02+00:00"


def test_no_more_than_500_kib_are_read(site, store):
    filler = b"# nothing\n" * 51_199
    bomb = gzip.compress(filler + b"User-agent: *\nDisallow: /open" + b"\n#" * 10_000_000)
    site.pages["/robots.txt"] = answer(bomb, kind="text/plain", Content_Encoding="gzip")
    assert fetcher(store).fetch(site.url("/open")).status == "ok"
    kept = json.loads(store.get(f"robots:http://127.0.0.1:{site.port}"))
    assert len(kept["text"]) == 500 * 1024


@pytest.mark.parametrize(
    ("lines", "delay_s"),
    [
        (["Crawl-delay: 7"], 7),
        (["Crawl-delay: 0.5"], 0.5),
        (["Crawl-delay: 86400"], 30),
        (["Crawl-delay: inf"], 0),
        (["Crawl-delay: -3"], 0),
        (["Request-rate: 1/10"], 10),
        (["Request-rate: 2/1m"], 30),
        (["Request-rate: 100/1"], 0.01),
        (["Crawl-delay: 2", "Request-rate: 1/5"], 5),
        (["Disallow: /x"], 0),
    ],
)
def test_how_often_it_lets_us_ask(lines, delay_s):
    assert Rules("\n".join(["User-agent: *", *lines]), "devqa").delay_s == delay_s


def test_a_longer_delay_lowers_the_rate_of_its_host_and_a_shorter_one_raises_none(site, store):
    class Pace:
        waits: list = []

        def wait(self, name: str, per_second: float) -> None:
            self.waits.append((name, per_second))

    site.pages["/robots.txt"] = _robots("User-agent: *", "Crawl-delay: 4")
    one = fetcher(store, host_requests_per_second=0.5, more={"pace": Pace()})
    one.fetch(site.url("/open"))
    assert Pace.waits == [("127.0.0.1", 0.5), ("127.0.0.1", 0.25), ("127.0.0.1", 0.5)]
    Pace.waits.clear()
    fetcher(store, host_requests_per_second=0.2, more={"pace": Pace()}).fetch(site.url("/closed"))
    assert Pace.waits == [("127.0.0.1", 0.2)]


def _agents_and_rules() -> str:
    """With a group of rules for each name, these would be 225 million rules."""
    agents = "\n".join(f"User-agent: a{number}" for number in range(15_000))
    return f"{agents}\n{agents}\n" + "\n".join(f"Disallow: /{number}" for number in range(15_000))


@pytest.mark.parametrize(
    "text",
    [
        _agents_and_rules(),
        "User-agent: *\n" + "Disallow: /" + "*a" * 200_000,
        "User-agent: *\n" + "\n".join(f"Disallow: /*a*a*a*{number}$" for number in range(20_000)),
        "User-agent: *\nDisallow: /" + "%" * 400_000,
        "User-agent: " + "x" * 500_000,
        "\x00" * 500_000,
        "Crawl-delay: " + "9" * 500_000,
        "User-agent: *\nRequest-rate: " + "9" * 100_000 + "/1",
    ],
)
def test_hostile_rules_cost_neither_time_nor_memory(no_deadlock, text):
    rules = Rules(text, "devqa")
    rules.allows("http://e.example/" + "a" * 2_000)
    assert rules.delay_s <= 30


@given(st.text(max_size=300))
def test_no_text_is_an_error(text):
    rules = Rules(f"User-agent: *\n{text}", "devqa")
    assert isinstance(rules.allows("http://e.example/x?y"), bool)
    assert 0 <= rules.delay_s <= 30
