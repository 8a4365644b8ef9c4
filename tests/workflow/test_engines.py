"""A search engine that is paid for, in real Snakemake runs: what is bought, and that nothing is bought twice."""

import shutil
from collections import Counter

import pytest
import zstandard

from searching import KEY, Service, failing, numbered

VARIABLE = "SOME_SEARCH_KEY"
GONE = {"type": "ErrorResponse", "error": {"code": "QUOTA_LIMITED", "detail": "Request quota limit exceeded for plan."}}


@pytest.fixture
def service():
    with Service(numbered("brave", 20)) as running:
        yield running


@pytest.fixture
def searching(fresh, service):
    """A project that searches with Brave, as it answers on loopback; nothing has run yet."""
    fresh.config["search"] = {"engine": "brave", "url": service.url, "results": 3, "api_key_env": VARIABLE}
    return fresh


def run(project, **environment):
    """As far as searching: what is found is nowhere to be fetched."""
    return project.run("--until", "search", environment={VARIABLE: KEY} | environment)


def queries(project):
    """All queries, each once."""
    return {query for row in project.table("queries") for query in row["queries"]}


def asked(service):
    """How often each query came since the last look."""
    came = Counter(each.what["q"] for each in service.asked)
    service.asked.clear()
    return came


@pytest.mark.slow
def test_nothing_is_bought_twice(searching, service):
    first = run(searching)
    assert first.code == 0, first.output
    assert first.rules["search"] == 2
    bought = queries(searching)
    assert asked(service) == dict.fromkeys(bought, 1)
    rows = searching.table("search")
    assert len(rows) == 6
    for row in rows:
        assert (row["status"], len(row["results"])) == ("ok", 3)
        assert [(entry["model"], entry["calls"]) for entry in row["usage"]] == [("search:brave", len(row["queries"]))]
    # Once more; with the results gone; with more results of what is kept.
    assert (run(searching).rules, asked(service)) == ({}, {})
    shutil.rmtree(searching.folder / "results/search")
    assert (run(searching).rules, asked(service)) == ({"search": 2}, {})
    assert searching.table("search") == rows
    searching.config["search"]["results"] = 12
    again = run(searching)
    assert (again.code, again.rules, asked(service)) == (0, {"search": 2}, {})
    assert {len(row["results"]) for row in searching.table("search")} == {12}
    # Another question to the engine: it is bought, and nothing before it runs.
    searching.config["search"]["exclude_sites"] = ["r.example/1-0", "w3schools.com"]
    again = run(searching)
    assert (again.code, again.rules) == (0, {"search": 2})
    assert asked(service) == {f"{query} NOT site:w3schools.com": 1 for query in bought}
    found = {hit["url"] for row in searching.table("search") for hit in row["results"]}
    assert "https://r.example/1-0" not in found
    assert "https://r.example/1-1" in found
    # The key is in none of the files that are left.
    for file in searching.folder.rglob("*"):
        if file.is_file():
            raw = file.read_bytes()
            raw += zstandard.ZstdDecompressor().decompress(raw) if file.suffix == ".zst" else b""
            assert KEY.encode() not in raw, file


@pytest.mark.slow
def test_a_quota_that_ends_stops_the_run_which_goes_on_later(searching, service):
    good, sold = numbered("brave", 20), []

    def limited(each):
        with service.lock:
            if len(sold) >= 5:
                return failing(429, GONE)
            sold.append(each.what["q"])
        return good(each)

    service.reply = limited
    broken = run(searching)
    assert broken.code != 0
    said = "ERROR  search: search.api_key_env: what your plan at Brave Search allows is used up"
    assert said in broken.output
    assert "Request quota limit exceeded for plan" in broken.output
    assert "Traceback" not in broken.output
    # Nobody goes on asking: each of the four threads of two jobs was told at most once.
    assert len(service.asked) <= 5 + 2 * 4
    asked(service)
    service.reply = good
    later = run(searching)
    assert later.code == 0, later.output
    assert asked(service) == dict.fromkeys(queries(searching) - set(sold), 1)
    assert {row["status"] for row in searching.table("search")} == {"ok"}


@pytest.mark.slow
def test_what_failed_is_searched_for_by_the_next_run(searching, service):
    good = numbered("brave", 20)
    service.reply = lambda each: failing(503, Retry_After="0") if "Redis" in each.what["q"] else good(each)
    unwell = run(searching)
    assert unwell.code == 0, unwell.output
    reasons = Counter((row["status"], row["reason"]) for row in searching.table("search"))
    assert reasons == {("ok", ""): 5, ("failed", "Brave Search gave no answer: HTTP 503"): 1}
    asked(service)
    service.reply = good
    again = run(searching)
    assert (again.code, again.rules) == (0, {"search": 1})
    came = asked(service)
    assert set(came.values()) == {1}
    assert all("Redis" in query for query in came)
    assert {row["status"] for row in searching.table("search")} == {"ok"}
    assert (run(searching).rules, asked(service)) == ({}, {})


def test_a_missing_key_is_refused_before_anything_starts(searching, service, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    refused = searching.run("--until", "search")
    assert refused.code != 0
    assert f"search.api_key_env: the environment variable {VARIABLE} is not set" in refused.output
    assert (refused.rules, searching.endpoint.count, service.asked) == ({}, 0, [])


@pytest.mark.slow
def test_offline_rows_come_from_the_cache_or_the_run_stops(searching, service):
    assert run(searching).code == 0
    rows = searching.table("search")
    asked(service)
    shutil.rmtree(searching.folder / "results/search")
    searching.config["offline"] = True
    assert searching.run("--until", "search").code == 0
    assert searching.table("search") == rows
    shutil.rmtree(searching.folder / ".cache/devqa/web")
    shutil.rmtree(searching.folder / "results/search")
    stopped = searching.run("--until", "search")
    assert stopped.code == 1
    assert "offline: the cache holds not one of" in stopped.output
    assert not list((searching.folder / "results/search").rglob("*.parquet"))
    assert asked(service) == {}
