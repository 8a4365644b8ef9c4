"""Looking again at the pages that a benchmark cites."""

import hashlib

import pytest

from devqa.errors import UserError
from devqa.steps.drift import COLUMNS, Seen, cited, drift, in_a_corpus, on_the_web, summary
from devqa.web.store import Store
from fetching import Site, answer, fetcher

NOW = "2027-01-01T00:00:00+00:00"
CLEANING = {
    "timeout_s": 20,
    "max_bytes": 1_500_000,
    "max_tags": 60_000,
    "min_characters": 20,
    "max_characters": 200_000,
    "duplicate_similarity": 0.8,
}
FACT = "The default of client_max_body_size is 1m."


def row(name, *supports):
    """A row of the benchmark; each support is an address and a sentence."""
    urls = list(dict.fromkeys(url for url, _ in supports))
    return {
        "id": name,
        "question": f"Question {name}?",
        "references": [{"url": url, "title": "", "text": ""} for url in urls],
        "supports": [{"reference": urls.index(url) + 1, "span": span, "match": "exact"} for url, span in supports],
    }


def drifted(benchmark, seen, sources=None):
    rows = drift(benchmark, seen.items(), sources or {}, NOW)
    assert all(each.keys() == set(COLUMNS) for each in rows)
    return rows


@pytest.mark.parametrize(
    ("page", "state", "match", "note"),
    [
        (Seen("unchanged"), "unchanged", "exact", ""),
        (Seen("changed", f"New words. {FACT} More."), "there", "exact", ""),
        (Seen("changed", "The default of `client_max_body_size` is 1m"), "there", "near", ""),
        (Seen("changed", "The default of client_max_body_size is 2m."), "vanished", "", ""),
        (Seen("gone", note="HTTP 404"), "gone", "", "HTTP 404"),
        (Seen("unreadable", note="empty page"), "unreadable", "", "empty page"),
        (Seen("failed", note="HTTP 503"), "failed", "", "HTTP 503"),
    ],
)
def test_a_sentence_is_where_it_was_or_it_is_said_what_became_of_it(page, state, match, note):
    sources = {"u": {"fetched": "2026-11-30T09:00:00+00:00"}}
    assert drifted([row("1", ("u", FACT))], {"u": page}, sources) == [
        {
            "id": "1",
            "question": "Question 1?",
            "url": "u",
            "span": FACT,
            "state": state,
            "match": match,
            "first_fetched": "2026-11-30T09:00:00+00:00",
            "looked_at": NOW,
            "note": note,
        }
    ]


def test_answers_that_have_lost_all_come_first_and_then_those_that_have_lost_some():
    benchmark = [
        row("a", ("same", "One."), ("same", "Two.")),
        row("b", ("away", "One."), ("same", "Two.")),
        row("c", ("down", "One."), ("same", "Two.")),
        row("d", ("away", "One."), ("other", "Two.")),
        row("e", ("away", "One."), ("down", "Two.")),
    ]
    seen = {"same": Seen("unchanged"), "away": Seen("gone"), "other": Seen("changed", "Three."), "down": Seen("failed")}
    assert cited(benchmark) == ["away", "down", "other", "same"]
    found = drifted(benchmark, seen)
    assert [each["id"] for each in found] == [*"ddbbeeccaa"]
    assert summary(found, "results/drift.csv") == [
        "1 of 5 answers has lost its support; see results/drift.csv",
        "2 of 5 have lost a part of it",
        "1 of 5 rest on a page that could not be looked at or read",
        "Sentences: 2 failed, 3 gone, 4 unchanged, 1 vanished",
    ]


def test_where_nothing_has_changed_the_summary_says_so():
    found = drifted([row("a", ("u", FACT)), row("b", ("u", FACT))], {"u": Seen("unchanged")})
    assert summary(found, "x.csv") == ["0 of 2 answers have lost their support; see x.csv", "Sentences: 2 unchanged"]


def html(*sentences):
    paragraphs = "".join(f"<p>{sentence} It is said in a paragraph of this page.</p>" for sentence in sentences)
    return f"<html><head><title>Page</title></head><body><article><h1>Page</h1>{paragraphs * 3}</article></body></html>"


def test_pages_on_the_web_are_looked_at_again_and_nothing_that_is_kept_changes(tmp_path):
    with Site() as site:
        first = answer(html(FACT, "Another fact stands here."), ETag='"1"')
        for name in ("same", "silent", "kept", "lost", "gone", "broken", "empty"):
            site.pages[f"/{name}"] = first
        urls = sorted(site.url(path) for path in site.pages if path != "/robots.txt")
        store = Store(tmp_path / "kept")
        before = {url: fetcher(store).fetch(url) for url in urls}
        files = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
        site.pages["/same"] = answer(status=304, ETag='"1"')
        site.pages["/kept"] = answer(html("A new fact stands here.", FACT))
        site.pages["/lost"] = answer(html("A new fact stands here.", FACT.replace("1m", "2m")))
        site.pages["/gone"] = answer("no more", 410)
        site.pages["/broken"] = answer("no", 403)
        site.pages["/empty"] = answer("")
        sources = {url: {"sha256": hashlib.sha256(page.content).hexdigest()} for url, page in before.items()}
        look_again = fetcher(store, retries=0).look_again
        seen = dict(on_the_web(urls, look_again, Store(tmp_path / "scratch"), sources, CLEANING, 4, 1))
    rows = drifted([row(url.rsplit("/", 1)[1], (url, FACT)) for url in urls], seen)
    assert {each["id"]: (each["state"], each["match"], each["note"]) for each in rows} == {
        "same": ("unchanged", "exact", ""),
        "silent": ("unchanged", "exact", ""),
        "kept": ("there", "exact", ""),
        "lost": ("vanished", "", ""),
        "gone": ("gone", "", "HTTP 410"),
        "broken": ("failed", "", "HTTP 403"),
        "empty": ("unreadable", "", "empty page"),
    }
    after = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert {path: after[path] for path in files} == files
    assert {url: fetcher(store, more={"offline": True}).fetch(url) for url in urls} == before


def corpus_row(url, text, status="ok", reason=""):
    return {"url": url, "content": text.encode(), "text": text, "status": status, "reason": reason}


def test_a_local_corpus_is_looked_at_as_its_files_are_now():
    corpus = [
        corpus_row("file:same", "to the byte"),
        corpus_row("file:new", f"{FACT} And more."),
        corpus_row("file:short", "short", "rejected", "too short: 5 characters"),
        corpus_row("file:new", "another of this name", "rejected", "duplicate url"),
    ]
    sources = {"file:same": {"sha256": hashlib.sha256(b"to the byte").hexdigest()}}
    urls = ["file:away", "file:new", "file:same", "file:short"]
    assert list(in_a_corpus(urls, corpus, sources)) == [
        ("file:away", Seen("gone", note="not in the local corpus")),
        ("file:new", Seen("changed", f"{FACT} And more.")),
        ("file:same", Seen("unchanged")),
        ("file:short", Seen("unreadable", note="too short: 5 characters")),
    ]


def test_a_corpus_that_the_benchmark_was_not_built_with_is_named():
    with pytest.raises(UserError, match="search.corpus: it has none of the pages"):
        list(in_a_corpus(["https://e.example"], [corpus_row("file:a", "text")], {}))
