"""What is said at the end of a study."""

import pytest

from devqa import tables
from devqa.study.closing import summary

OK = {"status": "ok", "reason": ""}
OFF = {"status": "rejected", "reason": "off topic"}


@pytest.fixture
def files(tmp_path):
    rows = {
        "scanned": [OK, OK, OFF],
        "unique": [OK, OK],
        "filtered": [OK, {"status": "failed", "reason": "error: HTTP 503: try again"}],
        "sampled": [OK],
        "classified": [],
    }
    for name, own in rows.items():
        tables.write(own, name, tmp_path / f"{name}.parquet")
    return {name: [str(tmp_path / f"{name}.parquet")] for name in rows} | {"html": "report.html", "seeds": "s.parquet"}


def test_every_table_is_counted_and_what_failed_is_told(files):
    assert summary(files) == [
        "scanned: 3 rows (2 ok, 1 rejected)",
        "unique: 2 rows (2 ok)",
        "filtered: 2 rows (1 ok, 1 failed)",
        "FAILED  filtered: 1 of 2 rows: error: HTTP 503 (asked again by the next run, if it may pass)",
        "sampled: 1 rows (1 ok)",
        "classified: 0 rows",
        "Study: report.html   Seed dialogues: s.parquet",
    ]
