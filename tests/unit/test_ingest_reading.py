import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from devqa.errors import UserError
from devqa.ingest import jsonlines, parquet

LINES = b"".join(b'{"id": %d, "text": "%s"}\n' % (number, b"x" * (number % 50)) for number in range(20_000))


def read(path, content, limit=1_000):
    path.write_bytes(content)
    return list(jsonlines.read(str(path), limit))


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl", bytes),
        ("a.jsonl.gz", gzip.compress),
        ("a.ndjson.zst", zstandard.compress),
        ("a.jsonl.gz", lambda data: gzip.compress(data[:1_000]) + gzip.compress(data[1_000:])),
        ("a.jsonl.zst", lambda data: zstandard.compress(data[:1_000]) + zstandard.compress(data[1_000:])),
    ],
    ids=["plain", "gzip", "zstd", "gzip in members", "zstd in frames"],
)
def test_every_line_is_read_whatever_the_compression(tmp_path, name, pack):
    records = read(tmp_path / name, pack(LINES))
    assert [record.value["id"] for record in records] == list(range(20_000))
    assert records[-1].number == 20_000


def test_byte_order_mark_carriage_returns_blank_lines_and_a_last_line_without_end(tmp_path):
    records = read(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n\n{"a": 2}\r\n{"a": 3}')
    assert [(record.number, record.value) for record in records] == [(1, {"a": 1}), (5, {"a": 2}), (6, {"a": 3})]


def test_a_byte_order_mark_before_a_blank_line_is_no_record(tmp_path):
    assert read(tmp_path / "a.jsonl", b"\xef\xbb\xbf\n") == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": ', "broken JSON: Expecting value at character 7"),
        (b"{'a': 1}", "broken JSON: Expecting property name"),
        (b'{"a": 1} {"a": 2}', "broken JSON: Extra data"),
        (b'{"a": "\xff"}', "invalid UTF-8: at byte 8"),
        (b'{"a": "\x00"}', "broken JSON: Invalid control character"),
        (b"[" * 900 + b"\n", None),
        (b"[" * 100_000, "line too long"),
        (b"1" * 5_000, "line too long"),
    ],
)
def test_a_bad_line_is_a_record_with_its_problem(tmp_path, line, problem):
    before, bad, after = read(tmp_path / "a.jsonl", b'{"a": 0}\n' + line.rstrip() + b'\n{"a": 9}\n', limit=4_000)
    assert (before.value, after.number, after.value) == ({"a": 0}, 3, {"a": 9})
    assert bad.value is None
    assert bad.problem.startswith(problem or "broken JSON")


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b"[" * 50_000 + b"]" * 50_000, b"[" + b"9" * 5_000 + b"NaN", b"-" * 9]
)
def test_deep_nesting_and_long_numbers_are_problems(tmp_path, line):
    (record,) = read(tmp_path / "a.jsonl", line, limit=1_000_000)
    assert record.problem.startswith("broken JSON")


def test_what_python_writes_beyond_json_is_accepted(tmp_path):
    line = json.dumps({"score": float("nan"), "half": "\ud800"}).encode()
    (record,) = read(tmp_path / "a.jsonl", line)
    assert record.problem == ""
    assert record.value["half"] == "\ud800"


@pytest.mark.parametrize("size", [3_999, 4_000, 4_001, 3_000_000])
def test_the_limit_of_a_line_counts_its_end(tmp_path, size):
    line = b'"' + b"x" * (size - 3) + b'"\n'
    first, second = read(tmp_path / "a.jsonl", line + b"2\n", limit=4_000)
    assert (first.value is None) == (size > 4_000)
    assert (second.number, second.value) == (2, 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl.gz", gzip.compress(LINES)[:-20]),
        ("a.jsonl.gz", gzip.compress(LINES)[:-8] + b"\0" * 8),
        ("a.jsonl.gz", LINES),
        ("a.jsonl.zst", zstandard.compress(LINES)[:-1]),
        ("a.jsonl.zst", zstandard.compress(LINES) + b"garbage"),
    ],
    ids=["gzip truncated", "gzip checksum", "not gzip", "zstd truncated", "zstd garbage"],
)
def test_a_damaged_file_is_an_error_with_name_position_and_remedy(tmp_path, name, content):
    with pytest.raises(UserError, match=rf"{name} can't be read after line \d+ .*replace it with a whole copy"):
        read(tmp_path / name, content)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.jsonl can't be read after line 0"):
        list(jsonlines.read(str(tmp_path / "nowhere.jsonl"), 100))


def test_a_json_array_in_one_piece_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"a\.json\.gz is one JSON value.*jq"):
        read(tmp_path / "a.json.gz", gzip.compress(b'[\n{"a": 1},\n{"a": 2}\n]'))


def test_a_parquet_file_is_read_row_by_row_without_the_columns_that_are_not_used(tmp_path):
    turn = {"role": "user", "content": "hi", "timestamp": 1, "header": {"user-agent": "x"}}
    rows = [{"conversation_hash": str(n), "conversation": [turn], "detoxify": [0.5], "model": "m"} for n in range(200)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=70)
    records = list(parquet.read(str(tmp_path / "a.parquet")))
    assert [record.number for record in records] == list(range(1, 201))
    expected = {"conversation_hash": "7", "conversation": [{"role": "user", "content": "hi"}], "model": "m"}
    assert records[7].value == expected


def test_message_parts_in_parquet_are_read(tmp_path):
    messages = [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image", "text": None}]}]
    pq.write_table(pa.Table.from_pylist([{"messages": messages}]), tmp_path / "a.parquet")
    (record,) = parquet.read(str(tmp_path / "a.parquet"))
    assert [part["text"] for part in record.value["messages"][0]["content"]] == ["hi", None]


def test_text_that_is_no_utf8_spoils_one_parquet_row_only(tmp_path):
    raw = pa.array([b"fine", b"\xff\xfe", b"also fine"], pa.binary())
    contents = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    turns = pa.StructArray.from_arrays([pa.array(["user"] * 3), contents], ["role", "content"])
    table = pa.table({"messages": pa.ListArray.from_arrays([0, 1, 2, 3], turns)})
    pq.write_table(table, tmp_path / "a.parquet")
    first, second, third = parquet.read(str(tmp_path / "a.parquet"))
    assert second.value is None
    assert second.problem.startswith("invalid UTF-8")
    assert (first.value["messages"][0]["content"], third.number) == ("fine", 3)


def test_a_parquet_file_without_dialogues_is_refused(tmp_path):
    pq.write_table(pa.table({"id": ["1"], "prompt": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet has no column with dialogues.*conversations.*it has id, prompt"):
        list(parquet.read(str(tmp_path / "a.parquet")))


@pytest.mark.parametrize("damage", ["truncated", "no parquet", "empty", "data"])
def test_a_damaged_parquet_file_is_an_error_with_its_name(tmp_path, damage):
    path = tmp_path / "a.parquet"
    turns = [[{"role": "user", "content": f"{n} {'x' * 200}"}] for n in range(2_000)]
    pq.write_table(pa.table({"messages": turns}), path, row_group_size=500, compression="zstd")
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "truncated": whole[:middle],
            "no parquet": b"hello " * 100,
            "empty": b"",
            "data": whole[: middle - 500] + b"\xff" * 1_000 + whole[middle + 500 :],
        }[damage]
    )
    with pytest.raises(UserError, match=r"a\.parquet can't be read as Parquet after row \d+"):
        list(parquet.read(str(path)))
