"""The BM25 index, and the look at a few documents without one."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.web.bm25 import Index, best

_WORD = st.sampled_from(["a", "b", "c++", "std::vector<int>", "数据"])


def test_rare_words_weigh_more():
    index = Index(["the cat", "the dog", "the bird"])
    assert [number for number, _ in index.search(["the", "dog"], 3)] == [1, 0, 2]


def test_documents_without_any_of_the_words_are_no_hits():
    index = Index(["a b", "", "b"])
    assert [number for number, _ in index.search(["a", "z"], 10)] == [0]
    assert index.search(["z"], 10) == index.search([], 10) == index.search(["a"], 0) == []


def test_words_that_query_parsers_choke_on():
    index = Index([["c++", "AND"], ["-x", '"', "field:"]])
    assert [number for number, _ in index.search(["c++"], 5)] == [0]
    assert [number for number, _ in index.search(['"', "field:", "-x"], 5)] == [1]


def test_an_index_of_nothing():
    assert Index([]).search(["a"], 5) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(_WORD, max_size=4), max_size=30), st.lists(_WORD, max_size=3), st.integers(1, 8))
def test_the_best_come_first_and_ties_in_the_order_of_numbers(documents, query, limit):
    every = Index(documents).search(query, len(documents) + 1)
    assert sorted(number for number, _ in every) == [i for i, words in enumerate(documents) if set(words) & set(query)]
    assert every == sorted(every, key=lambda hit: (-hit[1], hit[0]))
    assert Index(documents).search(query, limit) == every[:limit]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_WORD, max_size=12), max_size=30), st.lists(_WORD, max_size=4), st.integers(0, 8))
def test_a_look_at_each_document_finds_what_the_index_finds(documents, query, limit):
    # The index rounds lengths above forty words.
    counts = [Counter(words) for words in documents]
    every = best(counts, query, len(documents))
    indexed = dict(Index(documents).search(query, len(documents) + 1))
    assert dict(every) == pytest.approx(indexed, abs=2e-4)
    assert every == sorted(every, key=lambda hit: (-hit[1], hit[0]))
    assert best(counts, query, limit) == every[:limit]
