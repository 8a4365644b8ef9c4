import hashlib
import json
import tracemalloc
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.ingest import shards as shards_module
from devqa.ingest.run import ingest
from devqa.ingest.shards import shard_of
from devqa.ingest.sources import source_files

REAL = Path(__file__).parents[3] / "shared/data/dialogues/wildchat_style.parquet"
LIMITS = {"max_message_characters": 100_000, "max_dialogue_characters": 400_000}


def dialogue(identifier, content="How do I undo the last commit?"):
    return {"conversation_hash": identifier, "conversation": [{"role": "user", "content": content}]}


def write_lines(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return str(path)


def run(files, folder, shards, limits=LIMITS):
    """Counts, and the rows of each shard."""
    outputs = [folder / f"{number}.parquet" for number in range(shards)]
    counts = ingest(files, "web", outputs, limits)
    return counts, [tables.read(output, "dialogues") for output in outputs]


def test_rows_keep_their_order_and_lie_in_the_shard_of_their_id(tmp_path):
    first = write_lines(tmp_path / "a.jsonl", [dialogue(f"a{n}") for n in range(50)])
    second = write_lines(tmp_path / "b.jsonl", [dialogue(f"b{n}") for n in range(50)])
    counts, shards = run([first, second], tmp_path / "out", 3)
    assert counts == {"ok": 100}
    expected = [f"a{n}" for n in range(50)] + [f"b{n}" for n in range(50)]
    for number, rows in enumerate(shards):
        assert [row["dialogue_id"] for row in rows] == [i for i in expected if shard_of(i, 3) == number]
    assert {row["origin"] for rows in shards for row in rows} >= {"a.jsonl:1", "b.jsonl:50"}


def test_the_hash_is_sha256_so_that_shards_stay_from_run_to_run():
    for identifier in ("cfe1f1", "QWJhYvA_0", "你好", "12"):
        digest = hashlib.sha256(identifier.encode()).digest()
        assert shard_of(identifier, 7) == int.from_bytes(digest[:8], "big") % 7


def test_a_repeated_id_is_rejected_and_the_first_usable_one_kept(tmp_path):
    values = [dialogue("x", ""), dialogue("x", "first"), dialogue("y"), dialogue("x", "second")]
    counts, [rows] = run([write_lines(tmp_path / "a.jsonl", values)], tmp_path / "out", 1)
    assert counts == {"ok": 2, "rejected: duplicate id": 1, "rejected: empty user turns": 1}
    assert [row["status"] for row in rows] == ["rejected", "ok", "ok", "rejected"]
    assert rows[1]["messages"] == [{"role": "user", "content": "first"}]
    assert (rows[3]["dialogue_id"], rows[3]["messages"], rows[3]["reason"]) == ("x", [], "duplicate id")


def test_the_same_dialogue_without_an_id_is_a_duplicate_too(tmp_path):
    value = {"messages": [{"role": "user", "content": "hi"}]}
    counts, _ = run([write_lines(tmp_path / "a.jsonl", [value, value])], tmp_path / "out", 2)
    assert counts == {"ok": 1, "rejected: duplicate id": 1}


def test_the_form_is_found_for_each_record(tmp_path):
    values = [
        dialogue("wildchat"),
        {"id": "sharegpt", "conversations": [{"from": "human", "value": "hi"}]},
        {"id": "chat", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
    ]
    counts, [rows] = run([write_lines(tmp_path / "a.jsonl", values)], tmp_path / "out", 1)
    assert [(row["dialogue_id"], row["status"]) for row in rows] == [
        ("wildchat", "ok"),
        ("sharegpt", "ok"),
        ("chat", "ok"),
    ]


def test_bad_lines_among_good_ones_are_rows_that_say_where_they_stand(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        b"\n".join([json.dumps(dialogue("1")).encode(), b"{broken", b"", b'"\xff"', json.dumps(dialogue("2")).encode()])
    )
    counts, [rows] = run([str(tmp_path / "a.jsonl")], tmp_path / "out", 1)
    assert counts == {"ok": 2, "rejected: broken JSON": 1, "rejected: invalid UTF-8": 1}
    assert [row["dialogue_id"] for row in rows] == ["1", "a.jsonl:2", "a.jsonl:4", "2"]


def test_same_input_same_bytes_whatever_the_size_of_the_buffers(tmp_path, monkeypatch):
    values = [dialogue(str(n), "x" * (n % 700)) for n in range(500)]
    file = write_lines(tmp_path / "a.jsonl", values)
    run([file], tmp_path / "once", 3)
    monkeypatch.setattr(shards_module, "_BUFFERED", 10_000)
    run([file], tmp_path / "again", 3)
    for number in range(3):
        name = f"{number}.parquet"
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_large_shards_are_written_in_several_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(shards_module, "_GROUP_ROWS", 40)
    file = write_lines(tmp_path / "a.jsonl", [dialogue(str(n)) for n in range(100)])
    _, [rows] = run([file], tmp_path / "out", 1)
    assert pq.ParquetFile(tmp_path / "out/0.parquet").num_row_groups == 3
    assert [row["dialogue_id"] for row in rows] == [str(n) for n in range(100)]


def test_more_shards_than_files_that_a_process_may_open(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", [dialogue(str(n)) for n in range(20)])
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(64, soft), hard))
    try:
        _, shards = run([file], tmp_path / "out", 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sum(len(rows) for rows in shards) == 20


def test_after_an_error_no_output_appears_and_old_ones_stay(tmp_path):
    good = write_lines(tmp_path / "a.jsonl", [dialogue("1")])
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip")
    out = tmp_path / "out"
    out.mkdir()
    (out / "0.parquet").write_bytes(b"old")
    with pytest.raises(UserError, match=r"b\.jsonl\.gz"):
        run([good, str(tmp_path / "b.jsonl.gz")], out, 2)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {"0.parquet": b"old"}


def test_when_one_shard_can_not_be_written_none_appears(tmp_path, monkeypatch):
    file = write_lines(tmp_path / "a.jsonl", [dialogue(str(n)) for n in range(10)])
    real, calls = tables.writer, []

    def failing(path, name):
        calls.append(path)
        if len(calls) == 3:
            raise OSError("disk full")
        return real(path, name)

    monkeypatch.setattr(tables, "writer", failing)
    with pytest.raises(UserError, match="can't be written .disk full"):
        run([file], tmp_path / "out", 3)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_line_without_end_does_not_fill_the_memory(tmp_path):
    limits = {"max_message_characters": 1_000, "max_dialogue_characters": 1_000}
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.write(b'{"id": "')
        for _ in range(60):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + json.dumps(dialogue("1")).encode())
    tracemalloc.start()
    counts, [rows] = run([str(tmp_path / "a.jsonl")], tmp_path / "out", 1, limits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts == {"ok": 1, "rejected: line too long": 1}
    assert peak < 20 << 20


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_ROLE = st.sampled_from(["user", "human", "gpt", "system", "narrator", ""]) | _JSON
_TURN = st.fixed_dictionaries({}, optional=dict.fromkeys(("role", "from"), _ROLE) | {"content": _JSON, "value": _JSON})
_RECORD = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b", 1]) | _JSON,
        "conversation_hash": _JSON,
        "conversation": st.lists(_TURN | _JSON, max_size=3) | _JSON,
        "conversations": st.lists(_TURN, max_size=3),
        "messages": st.lists(_TURN, max_size=3),
        "language": st.sampled_from(["English", "xx"]) | _JSON,
        "model": _JSON,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_RECORD | _JSON | st.binary(max_size=8).filter(lambda line: b"\n" not in line), max_size=8))
def test_whatever_the_lines_hold_each_is_one_row_and_resharding_keeps_the_rows(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("lines")
    lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    (folder / "a.jsonl").write_bytes(b"\n".join(lines))
    records = sum(1 for number, line in enumerate(lines) if _is_record(line, first=number == 0))
    counts, one = run([str(folder / "a.jsonl")], folder / "one", 1)
    again, three = run([str(folder / "a.jsonl")], folder / "three", 3)
    assert counts == again
    assert sum(counts.values()) == len(one[0]) == records
    by_origin = sorted((row for rows in three for row in rows), key=lambda row: int(row["origin"].split(":")[1]))
    assert by_origin == one[0]
    for row in one[0]:
        assert (row["status"] == "ok") == (row["reason"] == "") == bool(row["messages"])
    kept = [row["dialogue_id"] for row in one[0] if row["status"] == "ok"]
    assert len(kept) == len(set(kept))


def _is_record(line, first):
    return bool((line.removeprefix(b"\xef\xbb\xbf") if first else line).strip())


@pytest.mark.skipif(not REAL.exists(), reason="the real dialogues are not here")
def test_real_dialogues_are_all_taken(tmp_path):
    counts, shards = run(source_files(str(REAL)), tmp_path / "out", 4)
    assert counts == {"ok": 585}
    rows = [row for rows in shards for row in rows]
    assert sorted((row["language"] for row in rows), key=str) == ["en"] * 310 + ["ru"] * 275
    assert len({row["dialogue_id"] for row in rows}) == 585
