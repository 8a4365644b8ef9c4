"""Tables: the same rows are the same bytes, and nothing is lost silently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError

ROWS = [{"dialogue_id": "a", "queries": ["x"], "status": "ok", "reason": ""}, {"dialogue_id": "b", "status": "failed"}]


def test_the_same_rows_are_the_same_bytes(tmp_path):
    tables.write(ROWS, "queries", tmp_path / "one.parquet")
    tables.write([dict(reversed(row.items())) for row in ROWS], "queries", tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.parquet", "two.parquet"]


@given(st.lists(st.fixed_dictionaries({"dialogue_id": st.text(), "queries": st.lists(st.text())}), max_size=5))
def test_rows_come_back_as_they_went(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    tables.write(rows, "queries", path)
    assert [{key: row[key] for key in ("dialogue_id", "queries")} for row in tables.read(path, "queries")] == rows


def test_a_column_that_the_schema_lacks_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no column typo"):
        tables.write([{"typo": 1}], "queries", tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_read_ok_takes_the_ok_rows_of_all_files(tmp_path):
    for name in ("a", "b"):
        tables.write(ROWS, "queries", tmp_path / name)
    rows = tables.read_ok([tmp_path / "a", tmp_path / "b"], "queries")
    assert [row["status"] for row in rows] == ["ok", "ok"]


def test_a_table_of_another_kind_is_named(tmp_path):
    tables.write(ROWS, "queries", tmp_path / "t.parquet")
    with pytest.raises(UserError, match=r"t\.parquet is not a table 'pairs'"):
        tables.read(tmp_path / "t.parquet", "pairs")


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"t\.parquet can't be read"):
        tables.read(tmp_path / "t.parquet", "pairs")


def test_a_step_s_own_account_is_not_carried_on():
    row = {"pair_id": "p", "question": "q", "status": "ok", "reason": "", "usage": [1], "raw": "r", "outcome": "ok"}
    assert tables.picked({**row, "criteria": []}, "evidence") == {"pair_id": "p", "question": "q"}
