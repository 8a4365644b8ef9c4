"""What is searched, fetched and cleaned again after a change, in real Snakemake runs against loopback."""

import shutil

import pytest

from internet import Internet

KEY = {"BRAVE_API_KEY": "some-key"}
RESULTS = ("search", "pages", "references")


@pytest.fixture
def internet():
    with Internet() as server:
        yield server


@pytest.fixture
def searched(fresh, internet):
    """A project whose references have been found; the internet has forgotten who asked."""
    # One job at a time: what two come to at the very same moment is asked for by both.
    fresh.config["dialogues"]["mine"]["shards"] = 1
    fresh.config |= {"search": internet.searxng(results=4), "fetch": internet.fetch(retries=0)}
    internet.found = [0, 1, 2, 3]
    run(fresh)
    assert internet.fetched() == {f"/page/{number}": 1 for number in range(4)}
    assert internet.asked["/robots.txt"] == 1
    internet.asked.clear()
    fresh.endpoint.clear()
    return fresh


def run(project):
    done = project.run("--until", "clean", environment=KEY)
    assert done.code == 0, done.output
    return done


def texts(project):
    return {(row["dialogue_id"], row["url"]): row["text"] for row in project.table("references")}


def files(project):
    return {
        file.relative_to(project.folder): file.read_bytes()
        for name in RESULTS
        for file in (project.folder / "results" / name).rglob("*.parquet")
    }


def test_a_cleaning_option_cleans_the_frozen_pages_again_and_fetches_nothing(searched, internet):
    before = texts(searched)
    searched.config["clean"] = {"max_characters": 300}
    assert set(run(searched).rules) == {"clean"}
    assert internet.asked.total() == searched.endpoint.count == 0
    after = texts(searched)
    assert after.keys() == before.keys()
    assert all(before[page].startswith(text) and len(text) <= 300 for page, text in after.items())


@pytest.mark.slow
def test_another_engine_fetches_only_pages_that_are_new(searched, internet):
    internet.found = [2, 3, 4, 5]
    searched.config["search"] = internet.brave(results=4)
    assert set(run(searched).rules) == {"search", "fetch", "clean"}
    assert internet.fetched() == {"/page/4": 1, "/page/5": 1}
    assert {row["url"].rpartition("/")[2] for row in searched.table("references")} == {"2", "3", "4", "5"}
    assert searched.endpoint.count == 0


@pytest.mark.slow
def test_limits_and_manners_make_nothing_run_again(searched, internet):
    searched.config["search"] |= {"concurrency": 2, "timeout_s": 5, "requests_per_second": 100}
    searched.config["fetch"] |= {"concurrency": 2, "timeout_s": 5, "contact": "me@example.org", "retries": 1}
    searched.config["clean"] = {"timeout_s": 30}
    assert run(searched).rules == {}
    assert internet.asked.total() == 0


@pytest.mark.slow
def test_results_are_made_again_from_the_frozen_evidence_with_nothing_sent(searched, internet):
    internet.pages["/page/3"] = (503, "text/plain", b"later")
    shutil.rmtree(searched.folder / ".cache/devqa/web")
    shutil.rmtree(searched.folder / "results/search")
    run(searched)
    internet.asked.clear()
    before = files(searched)
    for name in RESULTS:
        shutil.rmtree(searched.folder / "results" / name)
    searched.config["offline"] = True
    assert set(run(searched).rules) == {"search", "fetch", "clean"}
    assert internet.asked.total() == 0
    assert files(searched) == before
    assert {row["status"] for row in searched.table("pages")} == {"ok", "failed"}


@pytest.mark.slow
def test_pages_that_failed_are_asked_for_again_by_the_next_run_but_not_for_ever(searched, internet):
    internet.pages["/page/3"] = (403, "text/plain", b"not for you")
    internet.found = [2, 3]
    searched.config["search"] |= {"exclude_sites": ["example.org"]}
    shutil.rmtree(searched.folder / ".cache/devqa/web")
    for wanted in (2, 1, 1):
        internet.asked.clear()
        assert "fetch" in run(searched).rules
        assert internet.fetched().total() == wanted
    assert "given up" in {row["reason"] for row in searched.table("pages") if row["status"] == "rejected"}.pop()
    assert run(searched).rules == {}
