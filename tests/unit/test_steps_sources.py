"""The table of cited pages."""

import hashlib

import pytest

from devqa.steps.sources import sources
from devqa.web.fetching.fetch import LocalFetcher
from devqa.web.fetching.fetched import Fetched
from devqa.web.store import NotKept
from standins import assert_sound

CONTENT = b'<html><a rel="license" href="/terms">terms</a><p>Text</p>'


def row(name, references=(), evidence=()):
    return {
        "id": name,
        "references": [{"url": url, "title": "", "text": ""} for url in references],
        "evidence_urls": [*evidence],
    }


class Kept:
    """Gives the pages that it has, and counts what it was asked for."""

    def __init__(self, **pages):
        self.pages = {f"https://e.example/{name}": page for name, page in pages.items()}
        self.asked = []

    def fetch(self, url):
        self.asked.append(url)
        if url not in self.pages:
            raise NotKept(url)
        return self.pages[url]


def page(content=CONTENT, status="ok", code=200, reason=""):
    time = "2026-11-30T09:00:00+00:00"
    return Fetched("https://www.e.example/final", code, "text/html", content, status, reason, time)


def test_every_cited_page_has_a_row_with_what_was_kept_and_who_cites_it():
    urls = [f"https://e.example/{name}" for name in "abc"]
    kept = Kept(a=page(), b=page(None, "rejected", 404, "HTTP 404"))
    benchmark = [row("2", [urls[0], urls[0]], [urls[1]]), row("1", [urls[2], urls[0]], [urls[0]])]
    found = sources(benchmark, kept)
    assert_sound(found, "sources")
    assert found[0] == {
        "url": urls[0],
        "final_url": "https://www.e.example/final",
        "fetched": "2026-11-30T09:00:00+00:00",
        "http_status": 200,
        "content_type": "text/html",
        "license": "https://www.e.example/terms",
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "bytes": len(CONTENT),
        "referenced_by": ["1", "2"],
        "evidence_of": ["1"],
        "status": "ok",
        "reason": "",
    }
    assert [(each["url"], each["status"], each["reason"]) for each in found[1:]] == [
        (urls[1], "rejected", "HTTP 404"),
        (urls[2], "failed", "the page is not in the cache"),
    ]
    assert [(each["referenced_by"], each["evidence_of"]) for each in found[1:]] == [([], ["2"]), (["1"], [])]
    assert sorted(kept.asked) == urls


def test_a_local_corpus_has_no_time_of_fetching():
    corpus = [{"url": "file:a.md", "content": b"text", "content_type": "text/markdown", "status": "ok"}]
    (found,) = sources([row("1", ["file:a.md"])], LocalFetcher(corpus))
    assert (found["status"], found["fetched"], found["license"], found["bytes"]) == ("ok", "", "", 4)


@pytest.mark.parametrize("benchmark", [[], [row("1")], [{"id": "1", "references": None, "evidence_urls": None}]])
def test_a_benchmark_that_cites_nothing_has_no_sources(benchmark):
    assert sources(benchmark, Kept()) == []
