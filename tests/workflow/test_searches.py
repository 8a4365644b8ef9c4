"""Searches that fail are sent again by the next run, and only they."""

import json

import pytest

from internet import Internet

SILENT = json.dumps({"results": [], "unresponsive_engines": [["somewhere", "timeout"]]}).encode()


@pytest.mark.slow
def test_evidence_whose_search_failed_is_searched_for_by_the_next_run(fresh):
    with Internet() as internet:
        fresh.config |= {"search": internet.searxng(results=4), "fetch": internet.fetch(retries=0)}
        assert fresh.run("--until", "check").code == 0
        internet.asked.clear()
        internet.pages["/search"] = (200, "application/json", SILENT)
        first = fresh.run("--until", "evidence")
        assert first.code == 0, first.output
        rows = fresh.table("evidence")
        assert {row["status"] for row in rows} == {"failed"}
        assert all(row["usage"] == [] and "SearXNG" in row["reason"] for row in rows)

        internet.asked.clear()
        fresh.endpoint.clear()
        del internet.pages["/search"]
        second = fresh.run("--until", "evidence")
        assert second.code == 0, second.output
        assert second.rules == {"evidence": 2}
        assert internet.asked["/search"] == len({row["question"] for row in rows})
        assert {row["status"] for row in fresh.table("evidence")} == {"ok"}

        internet.asked.clear()
        third = fresh.run("--until", "evidence")
        assert (third.code, third.rules) == (0, {})
        assert internet.asked.total() == fresh.endpoint.count == 0


@pytest.mark.slow
def test_the_last_lines_count_what_failed_in_this_run_where_it_makes_no_funnel(fresh):
    with Internet() as internet:
        fresh.config |= {"search": internet.searxng(results=4), "fetch": internet.fetch(retries=0)}
        internet.pages["/search"] = (200, "application/json", SILENT)
        results = fresh.folder / "results"
        results.mkdir()
        (results / "funnel.csv").write_text("stage,status,reason,rows_in,rows_out\nqueries,failed,of old,4,4\n")
        first = fresh.run("--until", "clean")
        assert first.code == 0, first.output
        count = len(fresh.table("search"))
        assert f"FAILED  search: {count} of {count} rows: none of SearXNG's engines answered" in first.output
        assert "asked again by the next run (search): give the same command" in first.output
        assert not [word for word in ("of old", "--forcerun", "Benchmark: ") if word in first.output]

        del internet.pages["/search"]
        second = fresh.run("--until", "clean")
        assert second.code == 0, second.output
        assert "FAILED" not in second.output
