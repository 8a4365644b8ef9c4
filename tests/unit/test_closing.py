"""The last lines of a run."""

import os

import pytest

from devqa import closing, tables
from devqa.ledger import COLUMNS
from devqa.llm.spend import Account, picodollars
from devqa.usage import COUNTS

HEADER = ",".join(COLUMNS)
NOTHING = "0," * len(COUNTS) + "0"


def funnel(results, *rows):
    """A funnel of these rows, as the only file of the run."""
    (results / "funnel.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return {results / "funnel.csv"}


def table(results, name, *verdicts, stage=None, **columns):
    """A table with a row for each (status, reason)."""
    path = results / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"status": status, "reason": reason, **columns} for status, reason in verdicts]
    tables.write(rows, stage or path.relative_to(results).parts[0], path)
    return path


def test_reports_and_benchmark_are_named_where_this_run_has_made_them(tmp_path):
    benchmark, index = tmp_path / "benchmark.parquet", tmp_path / "reports/index.html"
    tables.write([{"id": "1"}, {"id": "2"}], "benchmark", benchmark)
    assert closing.summary(tmp_path, {benchmark}) == [f"Benchmark: {benchmark} (2 rows)"]
    assert closing.summary(tmp_path, {benchmark, index}) == [f"Reports: {index}   Benchmark: {benchmark} (2 rows)"]
    assert closing.summary(tmp_path, {index}) == [f"Reports: {index}"]
    assert closing.summary(tmp_path, set()) == []


def test_what_failed_is_named_with_its_hint(tmp_path):
    rows = [f"queries,ok,,4,3,{NOTHING}", f'"queries",failed,"error: no answer, at all",4,1,{NOTHING}']
    assert closing.summary(tmp_path, funnel(tmp_path, *rows)) == [
        "FAILED  queries: 1 of 4 rows: error: no answer, at all",
        "Failed rows (queries) are tried again, and only they, with --forcerun queries",
    ]


def test_without_a_funnel_of_this_run_rows_are_counted_from_its_own_tables(tmp_path):
    funnel(tmp_path, f"search,failed,an earlier fault,4,4,{NOTHING}")
    made = {
        table(tmp_path, "queries/a/0-of-2.parquet", ("ok", "")),
        table(tmp_path, "search/a/0-of-2.parquet", ("ok", ""), ("failed", "HTTP 500: one server")),
        table(tmp_path, "search/b/0-of-1.parquet", ("failed", "HTTP 500: another server"), ("rejected", "nothing")),
        table(tmp_path, "panel/gpt/plain/own/1.parquet", ("rejected", "odd word"), stage="grades"),
        tmp_path / "logs.txt",
        tmp_path.parent / "elsewhere.parquet",
    }
    # Of another sharding: not of this run.
    table(tmp_path, "search/a/1-of-3.parquet", ("failed", "long ago"))
    assert closing.summary(tmp_path, made) == [
        "NOTE  panel: 1 of 1 rows: odd word",
        "FAILED  search: 2 of 4 rows: HTTP 500",
        "What was given up is asked again by the next run (search): give the same command.",
    ]


@pytest.mark.parametrize(("age", "said"), [(-10, "long ago"), (10, "now")])
def test_a_funnel_that_is_older_than_its_tables_says_nothing(tmp_path, age, said):
    made = funnel(tmp_path, f"queries,failed,now,1,1,{NOTHING}")
    queries = table(tmp_path, "queries/a/0-of-1.parquet", ("failed", "long ago"))
    written = queries.stat().st_mtime
    os.utime(tmp_path / "funnel.csv", (written + age, written + age))
    assert closing.summary(tmp_path, made | {queries})[0] == f"FAILED  queries: 1 of 1 rows: {said}"


def test_a_benchmark_from_elsewhere_is_named_with_its_rows_and_what_matches_nothing(tmp_path):
    made = funnel(tmp_path, f"grades,failed,odd,2,1,{NOTHING}")
    benchmark, index = tmp_path / "imported_benchmark.parquet", tmp_path / "reports/index.html"
    tables.write([{"id": "1"}, {"id": "2"}], "benchmark", benchmark)
    long = "x" * 200_000
    (tmp_path / "imports/plain").mkdir(parents=True)
    unmatched = [tmp_path / f"imports/plain/{name}.csv" for name in "ab"]
    unmatched[0].write_text(f'row,reason\n1,"two\nlines"\n2,{long}\n')
    unmatched[1].write_text("row,reason\n")
    # Of an import that is no longer part of the configuration.
    (tmp_path / "imports/plain/old.csv").write_text("row,reason\n1,odd\n")
    rules = {"grades": ["judge", "judge_plain_x_gpt"]}
    lines = closing.summary(tmp_path, {*made, *unmatched, benchmark, index}, rules)
    reports, note, _, hint = lines
    assert reports.endswith("imported_benchmark.parquet (2 rows)")
    assert note == f"NOTE  2 rows of imported answers match nothing: {unmatched[0]}"
    assert hint.endswith("--forcerun judge judge_plain_x_gpt")


def test_calls_that_were_not_counted_are_told(tmp_path):
    rows = [f"{stage},ok,,4,3,600,{600 if stage == 'queries' else 1000},0,0,0,0,0" for stage in ("queries", "checked")]
    told = ["NOTE  1,600 calls came without a token count: the cost is too low."]
    assert closing.summary(tmp_path, funnel(tmp_path, *rows)) == told
    usage = [{"model": "gpt", **dict.fromkeys(COUNTS, 0), "calls": 1600, "uncounted": 1600}]
    assert closing.summary(tmp_path, {table(tmp_path, "queries/a/0-of-1.parquet", ("ok", ""), usage=usage)}) == told


def test_rows_of_the_evaluation_that_have_no_grade_are_told(tmp_path):
    rows = [f"{stage},rejected,odd word,4,3,{NOTHING}" for stage in ("checked", "grades")]
    assert closing.summary(tmp_path, funnel(tmp_path, *rows)) == ["NOTE  grades: 3 of 4 rows: odd word"]


DECISION = {
    "role": "annotator",
    "decision": "accept",
    "evidence_urls": ["https://e/1", "https://e/2"],
    "decided_at": "2026-11-30T10:00:00+00:00",
}


def test_how_far_people_have_come_is_told_once_there_are_decisions(tmp_path):
    table, file = tmp_path / "reviewed.parquet", tmp_path / "pairs.parquet"
    counts = {"a": ("accepted", 2), "b": ("", 0), "c": ("", 1), "d": ("", 2), "e": ("rejected", 3)}
    rows = [
        {"pair_id": pair, "decision": decision, "decisions": count, "supported": True, "status": "ok", "reason": ""}
        for pair, (decision, count) in counts.items()
    ]
    tables.write(rows, "reviewed", table)
    decided = [{"pair_id": pair, "annotator": name, **DECISION} for pair in ("a", "x", "y") for name in ("ann", "bob")]
    tables.write(decided[:-1], "pair_decisions", file)
    assert closing.summary(tmp_path, {table}) == []
    assert closing.summary(tmp_path, set(), decisions=[str(file)]) == []
    assert closing.summary(tmp_path, {table}, decisions=[str(file)]) == [
        "NOTE  review: of 5 pairs 2 decided, 2 open, 1 disputed; "
        "3 decisions are about pairs that are not there now: kept, not applied"
    ]
    tables.write(decided[:2], "pair_decisions", file)
    assert closing.summary(tmp_path, {table}, decisions=[str(file)]) == [
        "NOTE  review: of 5 pairs 2 decided, 2 open, 1 disputed"
    ]


def test_pairs_that_people_have_brought_back_are_counted_with_those_that_were_rated(tmp_path):
    made = {
        table(tmp_path, "rated/a/0-of-1.parquet", ("failed", "no grade for the answer of gpt")),
        table(tmp_path, "rated_rescued.parquet", ("failed", "no grade for the answer of gpt"), stage="rated"),
        table(tmp_path, "rescued.parquet", ("ok", ""), stage="verified"),
    }
    rules = {"rated": ["difficulty", "difficulty_rescued"]}
    assert closing.summary(tmp_path, made, rules) == [
        "FAILED  rated: 2 of 2 rows: no grade for the answer of gpt",
        "Failed rows (rated) are tried again, and only they, with --forcerun difficulty difficulty_rescued",
    ]


SAME = "What was given up is asked again by the next run ({}): give the same command."
FORCED = "are tried again, and only they, with --forcerun {}"
ONLINE = (
    "What is not in the cache ({}) is missing because of offline: set offline to false, or import a cache that has it "
    "(cache_import), and give the same command."
)


@pytest.mark.parametrize(
    ("rows", "hints"),
    [
        *[([(stage, "no answer")], [SAME.format(stage)]) for stage in ("search", "pages", "evidence", "retrieved")],
        ([("checked", "error: given up after N attempts")], [SAME.format("checked")]),
        ([("checked", "refused: no")], [f"Failed rows (checked) {FORCED.format('check')}"]),
        ([("references", "the page's bytes are lost")], [f"Failed rows (references) {FORCED.format('fetch')}"]),
        (
            [("pages", "HTTP 500"), ("pairs", "empty: nothing"), ("pairs", "refused: no"), ("rated", "no grade")],
            [SAME.format("pages"), f"Other failed rows (pairs, rated) {FORCED.format('generate difficulty')}"],
        ),
        ([("search", "offline"), ("pages", "offline")], [ONLINE.format("search, pages")]),
        (
            [("retrieved", "offline"), ("answers", "the search for passages was given up")],
            [ONLINE.format("retrieved")],
        ),
        (
            [("answers", "refused: no"), ("grades", "there is no answer to grade")],
            [f"Failed rows (answers) {FORCED.format('answer')}"],
        ),
    ],
)
def test_each_stage_has_the_hint_that_brings_its_failed_rows_back(tmp_path, rows, hints):
    made = funnel(tmp_path, *[f"{stage},failed,{reason},4,1,{NOTHING}" for stage, reason in rows])
    lines = closing.summary(tmp_path, made)
    assert lines[: len(rows)] == [f"FAILED  {stage}: 1 of 4 rows: {reason}" for stage, reason in rows]
    assert lines[len(rows) :] == hints


def test_what_a_run_spent_is_told_with_its_budget_and_what_nobody_knows():
    spent, lost = picodollars(1.234), picodollars(0.05)
    assert closing.spending(Account(spent, spent, 0), None) == ["This run spent 1.23 USD"]
    assert closing.spending(Account(spent, spent, lost), 5.0) == [
        "This run spent 1.23 USD of 5.00 USD (budget_usd); "
        "requests that were broken off may have cost up to 0.0500 USD more"
    ]


def test_each_cause_is_named_once_and_only_this_run_s(tmp_path):
    def log(name, text, at):
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (at, at))

    known = "2026-11-29 23:00:00,123 ERROR queries: the key is refused\nmend it\n"
    log("a.log", "2026-11-29 23:00:00,000 INFO fine\n" + known + "2026-11-29 23:00:01,000 INFO more\n", 200)
    log("b.log", known, 200)
    log("c.log", "2026-11-29 23:00:00,000 ERROR unexpected error\nTraceback …\n", 200)
    log("old.log", "2026-11-29 22:00:00,000 ERROR long ago\n", 50)
    assert closing.causes(tmp_path, 100) == [
        "ERROR  queries: the key is refused\nmend it",
        f"ERROR  unexpected error (see {tmp_path / 'c.log'})",
    ]


def test_jobs_that_have_left_no_word_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    killed, silent, said = (
        closing.Failed(rule, {"source": "mine", "shard": "0-of-2"}, tmp_path / f"logs/{rule}.log")
        for rule in ("queries", "search", "check")
    )
    (tmp_path / "logs").mkdir()
    killed.log.write_text("2026-11-29 23:00:00,000 INFO 3 of 8\n")
    said.log.write_text("2026-11-29 23:00:00,000 ERROR check: the key is refused\n")
    mark = tmp_path / ".snakemake/devqa/jobs/queries/0-of-2,mine"
    mark.parent.mkdir(parents=True)
    mark.write_text('{"name": "a", "host": "b", "pid": 1, "since": 1}')
    first, second, third = closing.causes(tmp_path / "logs", 0, [killed, silent, said])
    assert first == "ERROR  check: the key is refused"
    assert second.startswith("ERROR  queries, mine, 0-of-2: the job was killed before it could say why (see ")
    assert "--set-resources queries:mem_mb=" in second
    assert third.startswith("ERROR  search, mine, 0-of-2: the job has left no word of what went wrong in ")
