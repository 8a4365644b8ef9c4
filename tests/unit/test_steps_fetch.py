"""search → pages."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from devqa.steps.fetch import fetch
from devqa.web.fetch import Fetched
from devqa.web.store import Store
from standins import assert_sound

PAGES = {
    "good": Fetched("https://e/good", 200, "text/html", b"<p>good", "ok", ""),
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
