"""checked → evidence."""

import pytest

from devqa.steps.evidence import evidence
from devqa.usage import added
from devqa.web.engines.base import Found, Hit, SearchFailed
from devqa.web.fetching.fetched import Fetched
from devqa.web.store import NotKept, Store
from standins import assert_sound

CLEANING = {"timeout_s": 20, "max_bytes": 10**6, "max_tags": 10**4, "min_characters": 20, "max_characters": 5_000}
ZEBRA = "Zebra stripes are set with the option stripes. Its default is seven. " * 3
OTHER = "Nothing of interest stands on this page about completely different animals. " * 3


class Web:
    """Search engine and fetcher in one: pages by address, and what each question finds, in two requests."""

    name = "brave"

    def __init__(self, pages, found):
        self.pages, self.found, self.fetched, self.searched = pages, found, [], []

    def search(self, query, language, limit):
        self.searched.append((query, language))
        found = self.found[query]
        if isinstance(found, Exception):
            raise found
        return Found([Hit(url, f"title {url}", "") for url in found], 2)

    def fetch(self, url):
        self.fetched.append(url)
        page = self.pages[url]
        if page is None:
            raise NotKept(url)
        if isinstance(page, str):
            return Fetched(url, 200, "text/plain", page.encode(), "ok", "")
        return Fetched(url, page, "", None, "rejected" if page == 404 else "failed", f"HTTP {page}")


@pytest.fixture
def find(tmp_path):
    def rows(web, *questions, pages=5, passages=2, numbered=False):
        pairs = [
            {"pair_id": f"p{'-' * number}-{text}", "question": text, "language": "en", "answer": "7"}
            for number, text in enumerate(questions)
        ]
        pairs = pairs if numbered else [{**pair, "pair_id": f"p-{pair['question']}"} for pair in pairs]
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


def test_equal_questions_are_searched_for_once_and_each_row_says_what_its_search_took(find):
    web = Web({"a": ZEBRA}, {"zebra": ["a"], "stripes": ["a"]})
    rows = find(web, "zebra", "stripes", "zebra", numbered=True)
    assert sorted(web.searched) == [("stripes", "en"), ("zebra", "en")]
    assert [row["status"] for row in rows] == ["ok"] * 3
    assert [[(each["model"], each["calls"]) for each in row["usage"]] for row in rows] == [[("search:brave", 2)]] * 3
    assert {added(row["usage"])["input_tokens"] for row in rows} == {0}


def test_a_search_that_failed_took_nothing_that_is_kept(find):
    rows = find(Web({}, {"broken": SearchFailed("no answer"), "nothing": []}), "broken", "nothing")
    assert [(row["status"], len(row["usage"])) for row in rows] == [("failed", 0), ("rejected", 1)]


def test_offline_what_is_not_in_the_cache_is_a_failure_that_another_run_may_mend(find):
    web = Web({"a": ZEBRA, "gone": None}, {"kept": ["a"], "new": NotKept("new"), "gone": ["gone"]})
    rows = find(web, "kept", "new", "gone")
    assert [(row["question"], row["status"], row["reason"]) for row in rows] == [
        ("gone", "failed", "offline: the page is not in the cache"),
        ("kept", "rejected", "no passage was found for the question"),
        ("new", "failed", "offline: the cache holds no answer to new"),
    ]


def test_pages_that_are_alike_are_no_duplicates_of_each_other(find, monkeypatch):
    monkeypatch.setitem(CLEANING, "duplicate_similarity", 0.8)
    web = Web({"a": ZEBRA, "b": ZEBRA + "It is."}, {"zebra": ["a"], "stripes": ["b"]})
    assert [row["status"] for row in find(web, "zebra", "stripes")] == ["ok", "ok"]


def test_one_page_under_several_fragments_is_one_page(find):
    (row,) = find(
        Web({"http://e/a": ZEBRA}, {"zebra": [f"http://e/a{part}" for part in ("#top", "", "#end")]}), "zebra"
    )
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
