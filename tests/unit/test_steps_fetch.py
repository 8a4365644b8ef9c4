"""search → pages."""

import threading
import weakref
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.fetch import fetch
from devqa.web.fetching.fetch import Fetched
from devqa.web.store import NotKept, Store
from fetching import Site, answer, fetcher
from standins import assert_sound

PAGES = {
    "good": Fetched("https://e/good", 200, "text/html", b"<p>good", "ok", "", "2026-11-01T00:00:00+00:00"),
    "same": Fetched("https://e/same", 200, "text/html", b"<p>good", "ok", ""),
    "empty": Fetched("https://e/empty", 200, "text/html", b"", "ok", ""),
    "gone": Fetched("https://e/gone", 404, "text/html", None, "rejected", "HTTP 404"),
    "slow": Fetched("https://e/slow", None, "", None, "failed", "time-out"),
}


class Fetcher:
    def __init__(self):
        self.asked = Counter()

    def fetch(self, url):
        self.asked[url] += 1
        if url == "absent":
            raise NotKept(url)
        return PAGES[url]


def searched(name, *urls):
    results = [{"rank": rank, "url": url, "title": f"t-{name}", "snippet": ""} for rank, url in enumerate(urls, 1)]
    return {"dialogue_id": name, "source": "s", "language": "en", "results": results, "status": "ok"}


def test_every_result_of_every_dialogue_is_a_row_and_each_address_is_fetched_once(tmp_path):
    fetcher, store = Fetcher(), Store(tmp_path)
    rows = fetch([searched("b", "good", "slow"), searched("a", "good", "gone", "same")], fetcher, store, 3)
    assert_sound(rows, "pages")
    assert [(row["dialogue_id"], row["rank"], row["url"], row["status"], row["title"]) for row in rows] == [
        ("a", 1, "good", "ok", "t-a"),
        ("a", 2, "gone", "rejected", "t-a"),
        ("a", 3, "same", "ok", "t-a"),
        ("b", 1, "good", "ok", "t-b"),
        ("b", 2, "slow", "failed", "t-b"),
    ]
    assert fetcher.asked == {"good": 1, "gone": 1, "same": 1, "slow": 1}


def test_the_bytes_are_kept_under_the_hash_that_the_row_names(tmp_path):
    store = Store(tmp_path)
    good, same, empty, gone = fetch([searched("d", "good", "same", "empty", "gone")], Fetcher(), store, 1)
    assert store.get_page(good["sha256"]) == b"<p>good"
    assert (same["sha256"], same["bytes"]) == (good["sha256"], 7)
    assert (empty["bytes"], store.get_page(empty["sha256"])) == (0, b"")
    assert "sha256" not in gone
    assert (gone["http_status"], gone["final_url"]) == (404, "https://e/gone")
    assert (good["fetched"], same["fetched"]) == ("2026-11-01T00:00:00+00:00", "")


def test_offline_a_page_that_is_not_there_has_failed(tmp_path):
    rows = fetch([searched("d", "absent", "good")], Fetcher(), Store(tmp_path), 2)
    assert_sound(rows, "pages")
    assert [(row["status"], row["reason"]) for row in rows] == [
        ("failed", "offline: the page is not in the cache"),
        ("ok", ""),
    ]


def test_offline_without_any_page_nothing_is_put_in_the_place_of_good_results(tmp_path):
    with pytest.raises(UserError, match="offline: the cache holds not one of 1 pages"):
        fetch([searched("d", "absent")], Fetcher(), Store(tmp_path), 2)


def test_jobs_that_want_the_same_pages_begin_with_different_ones(tmp_path):
    class Noting(Fetcher):
        def fetch(self, url):
            asked.append(url)
            return PAGES["good"]

    orders = []
    for _ in range(8):
        asked = []
        wanted = [f"http://e/{number}" for number in range(30)]
        rows = fetch([searched("d", *wanted)], Noting(), Store(tmp_path), 1)
        assert [row["url"] for row in rows] == wanted
        orders.append(tuple(asked))
    assert len(set(orders)) > 1


class Counting:
    """A fetcher that counts the pages of its own that are in memory."""

    def __init__(self):
        self.lock = threading.Lock()
        self.pages = []
        self.most = 0

    def fetch(self, url):
        page = Fetched(url, 200, "text/html", url.encode(), "ok", "")
        with self.lock:
            self.pages = [known for known in self.pages if known() is not None] + [weakref.ref(page)]
            self.most = max(self.most, len(self.pages))
        return page


def test_no_more_pages_than_threads_are_in_memory(tmp_path):
    fetcher, store = Counting(), Store(tmp_path)
    rows = fetch([searched("d", *[f"http://h{number}/" for number in range(60)])], fetcher, store, 3)
    assert store.get_page(rows[59]["sha256"]) == b"http://h59/"
    assert 1 <= fetcher.most <= 3


class Hosts:
    """Hosts by name: dead ones, and what others say."""

    def __init__(self, *dead, known=()):
        self.dead, self.known, self.asked = dead, known, []

    def fetch(self, url):
        self.asked.append(url)
        host = url.split("/")[2]
        page = Fetched(url, None, "", None, "failed", "the host can't be reached: no such name")
        if host in self.dead:
            return replace(page, reached=False)
        return page if host in self.known else Fetched(url, 404, "", None, "rejected", "HTTP 404", reached=True)


NAMES = [f"h{number}.example" for number in range(10)]


@pytest.mark.parametrize(
    ("hosts", "asked", "stops"),
    [
        (Hosts(*NAMES), NAMES, True),
        (Hosts(*NAMES[:9]), NAMES[:9], False),
        (Hosts(*NAMES[1:]), NAMES, False),
        # Those that are known to be dead say nothing of the network.
        (Hosts(*NAMES[:9], known=NAMES), NAMES, False),
        (Hosts(*NAMES[:9]), [*NAMES[:9], *NAMES[:9]], False),
    ],
)
def test_where_no_host_can_be_reached_there_is_no_network(tmp_path, hosts, asked, stops):
    urls = [f"http://{host}/{number}" for number, host in enumerate(asked)]
    if stops:
        with pytest.raises(UserError, match="not one of 10 web servers could be reached: is there a network"):
            fetch([searched("d", *urls)], hosts, Store(tmp_path), 2)
    else:
        assert len(fetch([searched("d", *urls)], hosts, Store(tmp_path), 2)) == len(urls)


def test_without_a_network_not_all_hosts_are_asked(tmp_path):
    names = [f"h{number}.example" for number in range(1000)]
    hosts = Hosts(*names)
    with pytest.raises(UserError, match="is there a network"):
        fetch([searched("d", *[f"http://{name}/" for name in names])], hosts, Store(tmp_path), 8)
    assert 16 <= len(hosts.asked) <= 16 + 8


def test_nothing_found_nothing_fetched(tmp_path):
    assert fetch([], Fetcher(), Store(tmp_path), 2) == []
    assert fetch([searched("d")], Fetcher(), Store(tmp_path), 2) == []


@given(st.lists(st.lists(st.sampled_from(sorted(PAGES)), max_size=6), max_size=5))
def test_rows_out_are_results_in_also_with_an_address_that_is_named_twice(tmp_path_factory, found):
    searches = [searched(f"d{number}", *urls) for number, urls in enumerate(found)]
    fetcher = Fetcher()
    rows = fetch(searches, fetcher, Store(tmp_path_factory.mktemp("store")), 2)
    assert_sound(rows, "pages")
    assert [(row["dialogue_id"], row["rank"], row["url"]) for row in rows] == [
        (search["dialogue_id"], hit["rank"], hit["url"]) for search in searches for hit in search["results"]
    ]
    assert set(fetcher.asked.values()) <= {1}


def test_a_network_that_is_down_takes_no_page_away_however_often(tmp_path):
    def nowhere(address, timeout_s):
        raise OSError("Network is unreachable")

    with Site({"/page": answer(b"there")}) as site:
        names = tuple(f"h{number}.test" for number in range(12))
        searches, store = [searched("d", *[site.url("/page#a", name) for name in names])], Store(tmp_path)
        for run in "abcd":
            down = fetcher(store, names=names, more={"run": run, "connector": nowhere})
            with pytest.raises(UserError, match="is there a network"):
                fetch(searches, down, store, 2)
        up = fetcher(store, names=names, more={"run": "e"})
        assert {row["status"] for row in fetch(searches, up, store, 2)} == {"ok"}
