"""Citations that stand in their pages, and looking at cited pages again, in real Snakemake runs."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from devqa import tables
from fetching import Site, answer
from internet import Internet, page

PAGES = 6


def files(*folders):
    """The bytes of all files below `folders`."""
    return {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


def assert_supports_stand(project):
    """Every pair that is ok is supported by sentences of its passages and of its pages; they are returned."""
    texts = {(row["dialogue_id"], row["url"]): row["text"] for row in project.table("references")}
    supports = []
    for row in project.table("pairs"):
        if row["status"] != "ok":
            continue
        assert row["supports"]
        for support in row["supports"]:
            reference = row["references"][support["reference"] - 1]
            assert support["span"] in reference["text"]
            assert support["match"] in ("exact", "near")
            if support["match"] == "exact":
                text = texts[row["dialogue_id"], reference["url"]]
                assert " ".join(support["span"].split()) in " ".join(text.split())
            supports.append(support)
    return supports


def drift(project):
    """What `snakemake drift` says, and the rows that it writes."""
    done = project.run("--", "drift")
    assert done.code == 0, done.output
    with (project.folder / "results/drift.csv").open(encoding="utf-8", newline="") as file:
        return done.output, list(csv.DictReader(file))


def refused(project):
    done = project.run("--", "drift")
    assert done.code != 0
    return done.output


def test_every_support_stands_in_its_passage_and_in_its_page(project):
    assert len(assert_supports_stand(project)) >= 60


@pytest.mark.slow
def test_a_local_corpus_is_looked_at_as_its_files_are_now(project):
    benchmark = tables.read(project.folder / "results/benchmark.parquet", "benchmark")
    sources = tables.read(project.folder / "results/sources.parquet", "sources")
    cited = {reference["url"] for row in benchmark for reference in row["references"]}
    assert cited == {row["url"] for row in sources if row["referenced_by"]}
    assert {row["status"] for row in sources} == {"ok"}
    # Of the cited pages one is left.
    pages = {row["url"]: row["content"] for row in tables.read(project.folder / "results/corpus.parquet", "corpus")}
    kept = benchmark[0]["references"][benchmark[0]["supports"][0]["reference"] - 1]["url"]
    (project.folder / "now").mkdir()
    (project.folder / "now/page.html").write_bytes(pages[kept])
    project.config["search"] = {"engine": "local", "corpus": "now"}
    before = files(project.folder / "results", project.folder / ".cache/devqa/web")
    said, rows = drift(project)
    assert {row["state"] for row in rows if row["url"] == kept} == {"unchanged"}
    assert {row["state"] for row in rows if row["url"] != kept} == {"gone"}
    assert f" of {len(benchmark)} answers have lost their support; see results/drift.csv" in said
    after = files(project.folder / "results", project.folder / ".cache/devqa/web")
    assert {path: after[path] for path in before} == before


@pytest.mark.slow
def test_what_has_no_pages_is_told(fresh):
    assert "there is no results/benchmark.parquet" in refused(fresh)
    (fresh.folder / "other.csv").write_text("question,answer\nWhy?,because\n", encoding="utf-8")
    fresh.config["evaluation"]["benchmark"] = {"path": "other.csv"}
    assert "evaluation.benchmark: a benchmark from elsewhere names no pages" in refused(fresh)


class Found(Internet):
    """A search engine that finds the pages of another site."""

    def __init__(self, site):
        super().__init__()
        self._site = site

    @property
    def url(self):
        return self._site.url("")

    @property
    def engine(self):
        return super().url


@pytest.fixture
def site():
    pages = {f"/page/{number}": answer(page(number), ETag=f'"{number}"') for number in range(PAGES)}
    with Site(pages) as site:
        yield site


@pytest.fixture
def searched(fresh, site):
    """A project whose benchmark is built of pages that are fetched, which a model has condensed."""
    with Found(site) as engine:
        fresh.config["search"] = {"engine": "searxng", "url": engine.engine, "results": PAGES}
        fresh.config["fetch"] = {"private_hosts": ["127.0.0.1"], "host_requests_per_second": 500, "retries": 0}
        fresh.config["steps"]["condense"]["document_tokens"] = 150
        fresh.config["steps"]["generate"]["pairs"] = 2 * PAGES
        done = fresh.run("--until", "sources")
        assert done.code == 0, done.output
        yield fresh


@pytest.mark.slow
def test_pages_that_change_or_vanish_are_listed_and_nothing_frozen_changes(searched, site):
    assert {row["method"] for row in searched.table("condensed")} == {"model"}
    assert assert_supports_stand(searched)
    benchmark = tables.read(searched.folder / "results/benchmark.parquet", "benchmark")
    sources = {row["url"]: row for row in tables.read(searched.folder / "results/sources.parquet", "sources")}
    assert all(row["status"] == "ok" and row["fetched"] and row["sha256"] for row in sources.values())
    spans = {}
    for row in benchmark:
        for support in row["supports"]:
            spans.setdefault(row["references"][support["reference"] - 1]["url"], []).append(support["span"])
    # One page is there no more, one has lost its facts, one has a new paragraph, one is the same as the server says.
    vanished, lost, grown, same = sorted(spans, key=lambda url: -len(spans[url]))[:4]
    number = {url: int(url.rpartition("/")[2]) for url in spans}
    site.pages[f"/page/{number[vanished]}"] = answer("no more", 404)
    changed = page(number[lost])
    for span in set(spans[lost]):
        assert span in changed
        changed = changed.replace(span, span.replace(": the", ": not the"))
    site.pages[f"/page/{number[lost]}"] = answer(changed)
    more = page(number[grown]).replace(
        "<main>", "<main><p>This paragraph has been written since then, by somebody.</p>"
    )
    site.pages[f"/page/{number[grown]}"] = answer(more)
    site.pages[f"/page/{number[same]}"] = answer(status=304, ETag=f'"{number[same]}"')
    before = files(searched.folder / "results", searched.folder / ".cache/devqa/web")
    site.requests.clear()
    # It needs the benchmark alone.
    listed = searched.folder / "results/sources.parquet"
    listed.rename(searched.folder / "sources.parquet")
    said, rows = drift(searched)
    (searched.folder / "sources.parquet").rename(listed)
    states = {url: {row["state"] for row in rows if row["url"] == url} for url in spans}
    wanted = {url: {"unchanged"} for url in spans}
    assert states == {**wanted, vanished: {"gone"}, lost: {"vanished"}, grown: {"there"}}
    assert len(rows) == sum(map(len, spans.values()))
    assert {row["first_fetched"] for row in rows} == {row["fetched"] for row in sources.values()}
    asked = Counter(request.path for request in site.requests)
    assert asked == {f"/page/{number[url]}": 1 for url in spans}
    assert all("if-none-match" in request.headers for request in site.requests)
    without = {
        row["id"]
        for row in benchmark
        if all(row["references"][each["reference"] - 1]["url"] in (vanished, lost) for each in row["supports"])
    }
    assert without
    assert {row["id"] for row in rows[: len(without)]} <= without
    assert f"{len(without)} of {len(benchmark)} answers" in said
    after = files(searched.folder / "results", searched.folder / ".cache/devqa/web")
    assert {path: after[path] for path in before} == before
    # It is no part of a run: nothing has to be made again because of it.
    site.requests.clear()
    assert searched.run("--until", "sources").rules == {}
    assert site.requests == []
    searched.config["offline"] = True
    assert "offline: pages can't be looked at again while it is true" in refused(searched)
    assert Path(searched.folder / "results/drift.csv").read_bytes() == after[searched.folder / "results/drift.csv"]
