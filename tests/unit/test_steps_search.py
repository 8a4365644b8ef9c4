"""queries → search."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.search import search
from devqa.web.engines.base import Found, Hit, QuotaExhausted, SearchFailed
from devqa.web.store import NotKept
from standins import assert_sound


class Engine:
    """Finds what it was told for each query, with as many requests as results; an exception is raised."""

    name = "brave"

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def search(self, query, language, limit):
        self.asked.append((query, language, limit))
        found = self.answers.get(query, [])
        if isinstance(found, Exception):
            raise found
        return Found([Hit(url, f"title of {url}", "…") for url in found[:limit]], len(found))


def row(name, *queries):
    return {"dialogue_id": name, "source": "s", "language": "en", "queries": [*queries], "topics": [], "status": "ok"}


def calls(found):
    return [(entry["model"], entry["calls"], entry["input_tokens"]) for entry in found["usage"]]


def test_the_results_of_all_queries_are_one_ranked_list_of_different_pages():
    engine = Engine(
        {"a": ["http://x.example", "http://y.example#part"], "b": ["https://y.example/", "http://z.example"]}
    )
    (found,) = search([row("d", "a", "b")], engine, 2, 1)
    assert_sound([found], "search")
    assert [(hit["rank"], hit["url"]) for hit in found["results"]] == [(1, "http://y.example"), (2, "http://x.example")]
    assert found["results"][0]["title"] == "title of http://y.example#part"
    assert engine.asked == [("a", "en", 2), ("b", "en", 2)]
    assert calls(found) == [("search:brave", 4, 0)]


def test_a_search_that_finds_nothing_is_rejected_and_one_that_fails_has_failed():
    engine = Engine({"fine": ["http://x"], "down": SearchFailed("Brave gave no answer: HTTP 503")})
    rows = search([row("c", "fine"), row("b", "fine", "down"), row("a", "unheard of")], engine, 10, 3)
    assert_sound(rows, "search")
    assert [(found["dialogue_id"], found["status"], found["reason"]) for found in rows] == [
        ("a", "rejected", "the search found nothing"),
        ("b", "failed", "Brave gave no answer: HTTP 503"),
        ("c", "ok", ""),
    ]
    # What one query found is no result while another's answer is missing, but it was paid for.
    assert rows[1]["results"] == []
    assert [calls(found) for found in rows] == [[], [("search:brave", 1, 0)], [("search:brave", 1, 0)]]


def test_offline_what_the_cache_does_not_hold_has_failed():
    rows = search([row("d", "a"), row("e", "b")], Engine({"a": NotKept("a"), "b": ["http://x"]}), 10, 1)
    assert_sound(rows, "search")
    assert (rows[0]["status"], rows[0]["reason"]) == ("failed", "offline: the cache holds no answer to a")


def test_offline_without_any_answer_nothing_is_put_in_the_place_of_good_results():
    with pytest.raises(UserError, match="offline: the cache holds not one of 2 dialogues' searches: .*cache_import"):
        search([row("d", "a"), row("e", "a")], Engine({"a": NotKept("a")}), 10, 1)
    assert search([], Engine({}), 10, 1) == []


@pytest.mark.parametrize("fault", [UserError("start it"), QuotaExhausted("used up")])
def test_what_the_user_has_to_mend_ends_the_step_and_asks_for_no_more(fault):
    engine = Engine({"bad": fault, "slow": ["http://x"]})
    broken = threading.Event()

    class Waiting:
        name = "brave"

        def search(self, query, language, limit):
            # The first row is still searched for while another one meets the fault.
            if query == "slow":
                assert broken.wait(5)
            try:
                return engine.search(query, language, limit)
            finally:
                broken.set()

    with pytest.raises(type(fault), match=str(fault)):
        search([row("d000", "slow"), *(row(f"d{number:03}", "bad") for number in range(1, 200))], Waiting(), 10, 2)
    assert len(engine.asked) == 2


FOUND = st.one_of(
    st.lists(st.sampled_from(["http://x", "http://y", "http://z", "http://x/#1", "https://www.y"]), max_size=8),
    st.builds(SearchFailed, st.just("down")),
    st.builds(NotKept, st.just("q")),
)


@given(
    st.dictionaries(st.sampled_from("abcd"), FOUND),
    st.lists(st.lists(st.sampled_from("abcd"), max_size=4), max_size=6),
    st.integers(1, 4),
)
def test_one_row_per_dialogue_whatever_the_engine_does(answers, asked, results):
    # A dialogue without queries: so not every one lacks its answer for want of a cache.
    asked = [*asked, []]
    names = [f"d{number}" for number in range(len(asked))]
    rows = search(
        [row(name, *queries) for name, queries in zip(names, asked, strict=True)], Engine(answers), results, 2
    )
    assert_sound(rows, "search")
    assert [found["dialogue_id"] for found in rows] == names
    for found, queries in zip(rows, asked, strict=True):
        urls = [hit["url"] for hit in found["results"]]
        assert [hit["rank"] for hit in found["results"]] == list(range(1, len(urls) + 1))
        assert len(set(urls)) == len(urls) <= results
        assert bool(urls) == (found["status"] == "ok")
        assert (found["status"] == "failed") == any(isinstance(answers.get(query), Exception) for query in queries)
