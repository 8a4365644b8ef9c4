"""checked → evidence."""

import pytest

from devqa.steps.evidence import evidence
from devqa.web.fetch import Fetched
from devqa.web.search import Hit, SearchFailed
from devqa.web.store import Store
from standins import assert_sound

CLEANING = {"timeout_s": 20, "max_bytes": 10**6, "max_tags": 10**4, "min_characters": 20, "max_characters": 5_000}
ZEBRA = "Zebra stripes are set with the option stripes. Its default is seven. " * 3
OTHER = "Nothing of interest stands on this page about completely different animals. " * 3


class Web:
    """Search engine and fetcher in one: pages by address, and what each question finds."""

    def __init__(self, pages, found):
        self.pages, self.found, self.fetched = pages, found, []

    def search(self, query, language, limit):
        found = self.found[query]
        if isinstance(found, Exception):
            raise found
        return [Hit(url, f"title {url}", "") for url in found]

    def fetch(self, url):
        self.fetched.append(url)
        page = self.pages[url]
        if isinstance(page, str):
            return Fetched(url, 200, "text/plain", page.encode(), "ok", "")
        return Fetched(url, page, "", None, "rejected" if page == 404 else "failed", f"HTTP {page}")


@pytest.fixture
def find(tmp_path):
    def rows(web, *questions, pages=5, passages=2):
        pairs = [{"pair_id": f"p-{text}", "question": text, "language": "en", "answer": "7"} for text in questions]
        found = evidence(
            pairs,
            web,
            web,
            Store(tmp_path),
            pages=pages,
            passages=passages,
            passage_tokens=100,
            cleaning=CLEANING,
            concurrency=2,
            workers=1,
        )
        assert_sound(found, "evidence")
        return found

    return rows


def test_the_passages_that_fit_the_question_are_kept_with_their_address(find):
    (row,) = find(Web({"a": OTHER, "b": ZEBRA}, {"zebra default": ["a", "b"]}), "zebra default")
    assert (row["status"], [passage["url"] for passage in row["passages"]]) == ("ok", ["b"])
    assert "default is seven" in row["passages"][0]["text"]


def test_every_pair_is_a_row_and_each_page_is_fetched_once(find):
    web = Web({"a": ZEBRA}, {"zebra": ["a"], "stripes": ["a"], "nothing": [], "broken": SearchFailed("no answer")})
    rows = find(web, "zebra", "stripes", "nothing", "broken")
    assert [(row["pair_id"], row["status"], row["reason"]) for row in rows] == [
        ("p-broken", "failed", "no answer"),
        ("p-nothing", "rejected", "no passage was found for the question"),
        ("p-stripes", "ok", ""),
        ("p-zebra", "ok", ""),
    ]
    assert web.fetched == ["a"]


def test_one_page_under_several_fragments_is_one_page(find):
    (row,) = find(Web({"a": ZEBRA}, {"zebra": ["a#top", "a", "a#end"]}), "zebra")
    assert len(row["passages"]) == len({passage["text"] for passage in row["passages"]}) == 1


def test_an_engine_that_gives_more_than_it_was_asked_for_is_cut(find):
    web = Web({"a": OTHER, "b": ZEBRA}, {"zebra": ["a", "b"]})
    assert find(web, "zebra", pages=1)[0]["status"] == "rejected"
    assert web.fetched == ["a"]


@pytest.mark.parametrize(
    ("pages", "status", "reason"),
    [
        ({"a": 404}, "rejected", "no passage was found for the question"),
        ({"a": 503}, "failed", "a page could not be read: HTTP 503"),
        ({"a": 503, "b": OTHER}, "failed", "a page could not be read: HTTP 503"),
        ({"a": 503, "b": ZEBRA}, "ok", ""),
        ({"a": "short"}, "rejected", "no passage was found for the question"),
    ],
)
def test_a_page_that_may_come_another_time_is_a_failure_and_no_verdict(find, pages, status, reason):
    (row,) = find(Web(pages, {"zebra": [*pages]}), "zebra")
    assert (row["status"], row["reason"]) == (status, reason)


def test_a_question_without_words_finds_nothing(find):
    assert find(Web({"a": ZEBRA}, {"???": ["a"]}), "???")[0]["status"] == "rejected"


def test_no_pairs_no_rows(find):
    assert find(Web({}, {})) == []
