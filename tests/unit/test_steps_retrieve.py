"""benchmark → retrieved."""

import pytest

from devqa.steps.evidence import evidence
from devqa.steps.retrieve import retrieve
from devqa.usage import searched
from devqa.web.engines.base import Found, Hit, SearchFailed
from devqa.web.fetching.fetched import Fetched
from devqa.web.store import Store
from standins import assert_sound

CLEANING = {"timeout_s": 20, "max_bytes": 10**6, "max_tags": 10**4, "min_characters": 20, "max_characters": 5_000}
BUDGETS = {"pages": 5, "passages": 2, "passage_tokens": 40, "cleaning": CLEANING, "concurrency": 2, "workers": 1}
ZEBRA = (
    "# Stripes\n\n" + "Zebra stripes are set with the option stripes. " * 6 + "\n\n# Default\n\nIts default is seven."
)
QUESTIONS = ("zebra default", "stripes", "nothing", "broken", "gone")


class Web:
    """Search engine and fetcher in one."""

    name = "searxng"

    def __init__(self):
        self.searched = []

    def search(self, query, language, limit):
        self.searched.append((query, language))
        if query == "broken":
            raise SearchFailed("SearXNG gave no answer")
        found = {"zebra default": ["a", "b"], "stripes": ["a"], "nothing": [], "gone": ["b"]}[query]
        return Found([Hit(url, f"title {url}", "") for url in found], 1)

    def fetch(self, url):
        if url == "b":
            return Fetched(url, 503, "", None, "failed", "HTTP 503")
        return Fetched(url, 200, "text/plain", ZEBRA.encode(), "ok", "")


def row(text, language="en"):
    return {"id": f"q-{text}", "question": text, "answer": "7", "language": language}


@pytest.fixture
def found(tmp_path):
    web = Web()
    rows = retrieve([row(text) for text in QUESTIONS], web, web, Store(tmp_path), **BUDGETS)
    assert_sound(rows, "retrieved")
    return rows


def test_every_row_of_the_benchmark_has_one_in_its_order(found):
    assert [(each["id"], each["status"], each["reason"]) for each in found] == [
        ("q-zebra default", "ok", ""),
        ("q-stripes", "ok", ""),
        ("q-nothing", "rejected", "no passage was found for the question"),
        ("q-broken", "failed", "SearXNG gave no answer"),
        ("q-gone", "failed", "a page could not be read: HTTP 503"),
    ]
    assert [len(each["passages"]) for each in found] == [2, 2, 0, 0, 0]
    assert [each["usage"] for each in found] == [searched("searxng", number) for number in (1, 1, 1, 0, 1)]
    scores = [passage["score"] for passage in found[0]["passages"]]
    assert scores == sorted(scores, reverse=True)


def test_the_passages_are_those_that_a_pair_would_be_verified_with(found, tmp_path):
    pairs = [{"pair_id": f"q-{text}", "question": text, "language": "en"} for text in QUESTIONS]
    verified = {each["pair_id"]: each for each in evidence(pairs, Web(), Web(), Store(tmp_path), **BUDGETS)}
    for each in found:
        same = verified[each["id"]]
        assert [each[key] for key in ("passages", "usage", "status", "reason")] == [
            same[key] for key in ("passages", "usage", "status", "reason")
        ]


def test_a_benchmark_need_not_say_the_language(tmp_path):
    web = Web()
    retrieve([row("stripes", None), row("nothing", "zh")], web, web, Store(tmp_path), **BUDGETS)
    assert sorted(web.searched) == [("nothing", "zh"), ("stripes", "")]


def test_no_rows_no_searches(tmp_path):
    web = Web()
    assert retrieve([], web, web, Store(tmp_path), **BUDGETS) == []
    assert web.searched == []
