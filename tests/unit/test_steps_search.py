"""queries → search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.search import search
from devqa.web.search import Hit, SearchFailed
from standins import assert_sound


class Engine:
    """Finds what it was told for each query; an exception is raised."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def search(self, query, language, limit):
        self.asked.append((query, language, limit))
        found = self.answers.get(query, [])
        if isinstance(found, Exception):
            raise found
        return [Hit(url, f"title of {url}", "…") for url in found[:limit]]


def row(name, *queries):
    return {"dialogue_id": name, "source": "s", "language": "en", "queries": [*queries], "topics": [], "status": "ok"}


def test_the_results_of_all_queries_are_one_ranked_list_of_different_pages():
    engine = Engine({"a": ["x", "y#part"], "b": ["y", "z"]})
    (found,) = search([row("d", "a", "b")], engine, 2, 1)
    assert_sound([found], "search")
    assert [(hit["rank"], hit["url"]) for hit in found["results"]] == [(1, "y"), (2, "x")]
    assert engine.asked == [("a", "en", 2), ("b", "en", 2)]


def test_a_search_that_finds_nothing_is_rejected_and_one_that_fails_has_failed():
    engine = Engine({"fine": ["x"], "down": SearchFailed("no answer")})
    rows = search([row("c", "fine"), row("b", "down", "fine"), row("a", "unheard of")], engine, 10, 3)
    assert_sound(rows, "search")
    assert [(found["dialogue_id"], found["status"], found["reason"]) for found in rows] == [
        ("a", "rejected", "the search found nothing"),
        ("b", "failed", "no answer"),
        ("c", "ok", ""),
    ]
    assert rows[1]["results"] == []


def test_an_engine_that_must_be_set_up_ends_the_step():
    with pytest.raises(UserError, match="start it"):
        search([row("d", "a")], Engine({"a": UserError("start it")}), 10, 2)


FOUND = st.one_of(
    st.lists(st.sampled_from(["x", "y", "z", "x#1", "x#2"]), max_size=8), st.builds(SearchFailed, st.just("down"))
)


@given(
    st.dictionaries(st.sampled_from("abcd"), FOUND),
    st.lists(st.lists(st.sampled_from("abcd"), max_size=4), max_size=6),
    st.integers(1, 4),
)
def test_one_row_per_dialogue_whatever_the_engine_does(answers, asked, results):
    names = [f"d{number}" for number in range(len(asked))]
    rows = search(
        [row(name, *queries) for name, queries in zip(names, asked, strict=True)], Engine(answers), results, 2
    )
    assert_sound(rows, "search")
    assert [found["dialogue_id"] for found in rows] == names
    for found in rows:
        urls = [hit["url"] for hit in found["results"]]
        assert [hit["rank"] for hit in found["results"]] == list(range(1, len(urls) + 1))
        assert len(set(urls)) == len(urls) <= results
        assert bool(urls) == (found["status"] == "ok")
