"""What the cache holds, and what a configuration reads of it."""

import pytest

from devqa.stock.layout import WIDTH
from devqa.stock.show import shown
from devqa.stock.tally import tallies
from devqa.stock.wanted import names, responses, wanted
from stocked import configuration, fill, job, key, reading, shelf


@pytest.fixture
def config(tmp_path):
    return configuration(tmp_path, cheap={}, other={"model": "org/other"})


def folder(config, label):
    return shelf(config, label).folder.name


def test_what_jobs_ask_is_wanted_by_shelf(config):
    jobs = [
        (job(config, "queries", {"queries": "cheap"}), [reading(config, "cheap", "a", "b")]),
        (job(config, "check", {"check": "cheap"}), [reading(config, "cheap", "b", "c"), reading(config, "other", "a")]),
    ]
    found = wanted(responses(config["cache_dir"]), jobs)
    assert found.keys == {
        folder(config, "cheap"): {key("a"), key("b"), key("c")},
        folder(config, "other"): {key("a")},
    }
    assert found.unsure == {}
    assert found.may_need(folder(config, "other"), "check", key("a"))
    assert not found.may_need(folder(config, "other"), "check", key("b"))


@pytest.mark.parametrize(
    ("basis", "complete"), [("missing", None), ("present", True), ("exact", False), ("exact", None)]
)
def test_all_parts_of_a_job_that_may_ask_more_are_unsure(config, basis, complete):
    difficulty = job(config, "difficulty", {"answer": ["cheap", "other"], "judge": "cheap"}, basis)
    readings = [] if complete is None else [reading(config, "cheap", "a", complete=complete)]
    found = wanted(responses(config["cache_dir"]), [(difficulty, readings)])
    cheap, other = folder(config, "cheap"), folder(config, "other")
    assert found.unsure == {place: {"difficulty"} for place in ((cheap, "answer"), (other, "answer"), (cheap, "judge"))}
    assert found.may_need(other, "answer", key("whatever"))
    assert not found.may_need(other, "judge", key("whatever"))
    assert found.known(cheap, key("a")) == (complete is not None)
    assert found.rules() == ["difficulty"]


def test_a_job_that_has_run_is_not_to_be_run_first(config):
    ran = job(config, "check", {"check": "cheap"}, runs=False)
    found = wanted(responses(config["cache_dir"]), [(ran, [reading(config, "cheap", "a", complete=False)])])
    assert found.asked == {folder(config, "cheap"): {key("a")}}
    assert found.may_need(folder(config, "cheap"), "check", key("whatever"))
    assert found.rules() == []
    without_inputs = job(config, "check", {"check": "cheap"}, "missing", runs=False)
    assert wanted(responses(config["cache_dir"]), [(without_inputs, [])]).rules() == ["check"]
    fill(config, "cheap", "check", "a", outcome="refused")
    assert "before they have run" not in shown(config, found)


def test_a_shelf_goes_by_the_labels_of_all_models_that_share_it(tmp_path):
    config = configuration(tmp_path, a={"model": "m"}, b={"model": "m", "sampling": {"seed": 1}}, c={"mode": "batch"})
    called = names(config)
    assert called.of(folder(config, "a")) == "a, b"
    assert called.of("unknown-0123456789ab") == "unknown-0123456789ab"
    assert called.prices[folder(config, "c")]["input"] == 0.5


def test_records_are_counted_by_step_and_outcome(config):
    fill(config, "cheap", "queries", "a", "b")
    fill(config, "cheap", "queries", "a", days=1)
    fill(config, "cheap", "queries", "c", outcome="error")
    fill(config, "cheap", "check", "d", days=5)
    found = tallies(shelf(config, "cheap"), {key("a"), key("d")}, {"input": 1.0, "output": 2.0})
    assert list(found) == ["check", "queries"]
    queries = found["queries"]
    assert dict(queries.outcomes) == {"ok": 3, "error": 1}
    assert (queries.requests, queries.failed, queries.answers, queries.hits) == (4, 1, 2, 1)
    assert (queries.input_tokens, queries.usd) == (4_000_000, 12.0)
    assert queries.newest > queries.oldest > found["check"].oldest
    assert tallies(shelf(config, "cheap"), (), None)["check"].usd is None


def test_the_page_says_what_there_is(config, tmp_path):
    fill(config, "cheap", "queries", "a", "b", "c")
    fill(config, "other", "check", "a", outcome="refused")
    (tmp_path / "cache/web/aa/bb").mkdir(parents=True)
    (tmp_path / "cache/web/aa/bb/x.zst").write_bytes(b"1234")
    jobs = [
        (job(config, "queries", {"queries": "cheap"}), [reading(config, "cheap", "a", "b", "new")]),
        (job(config, "check", {"check": "other"}, "missing"), []),
    ]
    page = shown(config, wanted(responses(config["cache_dir"]), jobs))
    lines = page.splitlines()
    assert "3 ok, 1 refused" in page
    assert "4 B in 1 files" in page
    assert "in 2 segments of 2 models" in page
    assert "cheap  queries         3       0        3     2        3 M         3 M  6.00     2 d     2 d" in lines
    assert "other  check           1       1        0     0        1 M         1 M  2.00     2 d     2 d" in lines
    assert "before they have run: check." in page
    assert max(map(len, lines)) <= WIDTH


def test_an_empty_cache_has_a_page_too(config):
    page = shown(config, wanted(responses(config["cache_dir"]), []))
    assert "0 B in 0 segments of 0 models" in page
