"""The results of several queries as one list."""

from hypothesis import given
from hypothesis import strategies as st

from devqa.web.engines.base import Hit
from devqa.web.merging import merge
from devqa.web.urls import canonical


def _hits(names):
    return [Hit(f"https://{name}.example/", name, "") for name in names]


def test_pages_that_several_queries_find_come_first():
    merged = merge([_hits("abc"), _hits("dbe")], 10)
    assert "".join(hit.title for hit in merged) == "badce"
    assert merge([_hits("abc"), _hits("dbe")], 2) == merged[:2]


def test_a_page_under_several_addresses_stands_once_with_the_first_ones_words():
    first = Hit("http://www.a.example/x?utm_source=s#part", "X", "x")
    other = [Hit("https://m.a.example/x/", "Y", "y"), Hit("https://a.example/x#z", "Z", "z")]
    assert merge([[first], _hits("b"), other], 10) == [
        Hit("http://www.a.example/x?utm_source=s", "X", "x"),
        Hit("https://b.example/", "b", ""),
    ]


def test_a_page_has_its_best_rank_of_each_list():
    once = merge([_hits("ab"), _hits("cb")], 10)
    # That the list has it again, further down, makes it no better, and what stands behind it no worse.
    again = [*_hits("a"), Hit("https://a.example/#part", "", ""), *_hits("b")]
    assert merge([again, _hits("cb")], 10) == once


def test_what_a_local_corpus_calls_its_pages_stays():
    hits = [
        Hit("file:c#/notes.md", "", ""),
        Hit("file:c", "", ""),
        Hit("doc-1", "", ""),
        Hit("http://[no address", "", ""),
    ]
    assert merge([hits], 10) == hits


ADDRESSES = st.builds(
    "{}://{}a{}.example/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www.", "m."]),
    st.sampled_from("12"),
    st.sampled_from(["", "x", "x/"]),
    st.sampled_from(["", "#y", "?gclid=1", "?q=1"]),
)
LISTS = st.lists(st.lists(st.builds(Hit, ADDRESSES, st.text(max_size=1), st.just("")), max_size=8), max_size=4)


@given(LISTS, st.integers(0, 8))
def test_merging_keeps_every_page_once(lists, limit):
    every = merge(lists, 1_000)
    pages = {canonical(hit.url) for hits in lists for hit in hits}
    assert {canonical(hit.url) for hit in every} == pages
    assert len(every) == len(pages)
    assert merge(lists, limit) == every[:limit]
    firsts = {}
    for hits in lists:
        for hit in hits:
            firsts.setdefault(canonical(hit.url), hit)
    for hit in every:
        first = firsts[canonical(hit.url)]
        assert (hit.url, hit.title) == (first.url.partition("#")[0], first.title)


@given(LISTS)
def test_a_page_that_is_first_everywhere_is_first(lists):
    best = Hit("https://best.example/", "best", "")
    assert merge([[best, *hits] for hits in lists] or [[best]], 3)[0] == best
