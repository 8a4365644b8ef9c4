"""The last lines of a run."""

import os

import pytest

from devqa import closing, tables
from devqa.ledger import COLUMNS
from devqa.llm.spend import Account, picodollars
from devqa.usage import COUNTS

HEADER = ",".join(COLUMNS)
NOTHING = "0," * len(COUNTS) + "0"


def test_the_summary_counts_the_benchmark_and_names_what_failed(tmp_path):
    assert closing.summary(tmp_path) == []
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    rows = [
        f"queries,ok,,4,3,{NOTHING}",
        f'"queries",failed,"error: no answer, at all",4,1,{NOTHING}',
        f"merged,ok,,2,2,{NOTHING}",
    ]
    (tmp_path / "funnel.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    reports, failed, hint = closing.summary(tmp_path)
    assert reports.endswith("benchmark.parquet (2 rows)")
    assert failed == "FAILED  queries: 1 of 4 rows: error: no answer, at all"
    assert "--forcerun" in hint


def test_a_benchmark_from_elsewhere_is_named_with_its_rows_and_what_matches_nothing(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    (tmp_path / "funnel.csv").write_text(f"{HEADER}\ngrades,failed,odd,2,1,{NOTHING}\n")
    assert closing.summary(tmp_path, imported=True) == []
    tables.write([{"id": "1"}, {"id": "2"}], "benchmark", tmp_path / "imported_benchmark.parquet")
    long = "x" * 200_000
    (tmp_path / "a.csv").write_text(f'row,reason\n1,"two\nlines"\n2,{long}\n')
    (tmp_path / "b.csv").write_text("row,reason\n")
    unmatched = [tmp_path / f"{name}.csv" for name in "abc"]
    rules = {"grades": ["judge", "judge_plain_x_gpt"]}
    reports, note, _, hint = closing.summary(tmp_path, True, unmatched, rules)
    assert reports.endswith("imported_benchmark.parquet (2 rows)")
    assert note == f"NOTE  2 rows of imported answers match nothing: {tmp_path / 'a.csv'}"
    assert hint.endswith("--forcerun judge judge_plain_x_gpt")


def test_calls_that_were_not_counted_are_told(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    rows = [f"{stage},ok,,4,3,600,{600 if stage == 'queries' else 1000},0,0,0,0,0" for stage in ("queries", "checked")]
    (tmp_path / "funnel.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    assert closing.summary(tmp_path)[1:] == ["NOTE  1,600 calls came without a token count: the cost is too low."]


def test_rows_of_the_evaluation_that_have_no_grade_are_told(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    rows = [f"{stage},rejected,odd word,4,3,{NOTHING}" for stage in ("checked", "grades")]
    (tmp_path / "funnel.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    assert closing.summary(tmp_path)[1:] == ["NOTE  grades: 3 of 4 rows: odd word"]


@pytest.mark.parametrize("stage", ["search", "pages", "evidence", "retrieved"])
def test_searches_and_pages_that_failed_are_tried_again_by_the_next_run(tmp_path, stage):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    (tmp_path / "funnel.csv").write_text(f"{HEADER}\n{stage},failed,no answer,4,1,{NOTHING}\n")
    _, failed, again, hint = closing.summary(tmp_path)
    assert failed == f"FAILED  {stage}: 1 of 4 rows: no answer"
    assert again.startswith("What was given up is asked again by the next run, and so are searches and pages")
    rule = {"pages": "fetch", "retrieved": "retrieve"}.get(stage, stage)
    assert hint.endswith(f"--forcerun {rule}")


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
