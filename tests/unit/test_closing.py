"""The last lines of a run."""

import os

from devqa import closing

HEADER = "stage,status,reason,rows_in,rows_out,calls,input_tokens,output_tokens,usd"


def test_the_summary_counts_the_benchmark_and_names_what_failed(tmp_path):
    assert closing.summary(tmp_path) == []
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").touch()
    rows = [
        "queries,ok,,4,3,0,0,0,0",
        '"queries",failed,"error: no answer, at all",4,1,0,0,0,0',
        "merged,ok,,2,2,0,0,0,0",
    ]
    (tmp_path / "funnel.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    reports, failed, hint = closing.summary(tmp_path)
    assert reports.endswith("benchmark.parquet (2 rows)")
    assert failed == "FAILED  queries: 1 of 4 rows: error: no answer, at all"
    assert "--forcerun" in hint


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
