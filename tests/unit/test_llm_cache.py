"""The cache's segments: nothing written is lost, nothing damaged is served."""

import errno
import hashlib
import logging
import os
import signal
import subprocess
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.llm import cache as cache_module
from devqa.llm.cache import Cache, decode, encode

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
KEYS = st.binary(min_size=32, max_size=32).map(bytes.hex)
RECORDS = st.dictionaries(st.text(), JSON, min_size=1, max_size=5)


def key(name):
    return hashlib.sha256(str(name).encode()).hexdigest()


def ok(text):
    return {"outcome": "ok", "text": text}


@pytest.fixture
def shelf(tmp_path):
    return Cache(tmp_path).shelf("http://x/v1", "some/model")


def write(shelf, records, step="step"):
    with shelf.writer(step) as writer:
        for name, record in records:
            writer.write(key(name), record)
    return writer.path


@given(KEYS, RECORDS)
def test_a_record_is_one_line_and_reads_back(name, record):
    line = encode(name, record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.startswith(name.encode() + b" ")
    assert decode(line) == record


@given(KEYS, RECORDS, st.data())
def test_no_torn_record_is_served(name, record, data):
    line = encode(name, record)
    assert decode(line[: data.draw(st.integers(0, len(line) - 1))]) is None


@given(KEYS, RECORDS, st.data())
def test_no_damaged_record_is_served(name, record, data):
    line = bytearray(encode(name, record))
    line[data.draw(st.integers(0, len(line) - 1))] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(line)) is None


def test_what_was_written_is_found_and_nothing_else(shelf):
    write(shelf, [("a", ok("A")), ("b", ok("B"))])
    found = shelf.lookup({key("a"), key("c")})
    assert list(found) == [key("a")]
    assert found[key("a")]["text"] == "A"
    assert found[key("a")]["step"] == "step"


def test_an_empty_cache_and_no_keys_find_nothing(shelf):
    assert shelf.lookup({key("a")}) == {}
    write(shelf, [("a", ok("A"))])
    assert shelf.lookup(set()) == {}


def test_each_endpoint_and_model_has_a_folder_of_its_own(tmp_path):
    cache = Cache(tmp_path)
    places = [("http://x/v1", "m"), ("http://y/v1", "m"), ("http://x/v1", "n"), ("http://x/v1", "../../m")]
    for place in places:
        write(cache.shelf(*place), [("a", ok(str(place)))])
    assert {cache.shelf(*place).lookup([key("a")])[key("a")]["text"] for place in places} == {str(p) for p in places}
    assert len(list(tmp_path.iterdir())) == len(places)


def test_a_writer_that_writes_nothing_leaves_nothing(shelf, tmp_path):
    write(shelf, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("outcome", ["refused", "truncated", "empty", "error"])
def test_other_outcomes_are_recorded_but_not_served(shelf, outcome):
    path = write(shelf, [("a", {"outcome": outcome, "text": "paid for"})])
    assert b"paid for" in path.read_bytes()
    assert shelf.lookup([key("a")]) == {}
    write(shelf, [("a", ok("A"))])
    assert shelf.lookup([key("a")])[key("a")]["text"] == "A"


def test_of_several_good_records_the_earliest_is_served(shelf, monkeypatch):
    for name, time in (("z.seg", 2.0), ("m.seg", 1.0), ("a.seg", 3.0), ("y.seg", 1.0)):
        monkeypatch.setattr(cache_module.time, "time", lambda time=time: time)
        monkeypatch.setattr(cache_module, "unique_name", lambda name=name: name.removesuffix(".seg"))
        write(shelf, [("a", ok(name))])
    assert shelf.lookup([key("a")])[key("a")]["text"] == "m.seg"


def test_a_torn_last_line_is_skipped_with_one_warning(shelf, caplog):
    path = write(shelf, [("a", ok("A")), ("b", ok("B"))])
    path.write_bytes(path.read_bytes()[:-7])
    with caplog.at_level(logging.WARNING):
        assert list(shelf.lookup([key("a"), key("b")])) == [key("a")]
        shelf.lookup([key("a"), key("b")])
    assert len(caplog.records) == 1
    assert str(path) in caplog.text


def test_a_damaged_line_hides_no_other(shelf, caplog):
    path = write(shelf, [(n, ok(f"text {n}")) for n in range(3)])
    path.write_bytes(path.read_bytes().replace(b"text 1", b"test 1"))
    with caplog.at_level(logging.WARNING):
        assert set(shelf.lookup([key(n) for n in range(3)])) == {key(0), key(2)}
    assert len(caplog.records) == 1


def test_rubbish_in_a_segment_is_skipped(shelf):
    path = write(shelf, [("a", ok("A"))])
    path.write_bytes(b"\n\n\x00rubbish\n" + b"x" * 5000 + b"\n" + path.read_bytes() + b"{}")
    assert list(shelf.lookup([key("a")])) == [key("a")]


def test_a_full_disk_is_one_message_and_loses_nothing(shelf, monkeypatch):
    write_all = os.write
    room = [1_000_000]

    def write_until_full(descriptor, line):
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write_all(descriptor, line[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(cache_module.os, "write", write_until_full)
    with shelf.writer("step") as writer:
        writer.write(key("a"), ok("A"))
        room[0] = 20
        with pytest.raises(UserError, match="disk is full.*kept"):
            writer.write(key("b"), ok("B"))
        room[0] = 1_000_000
        writer.write(key("c"), ok("C"))
    assert set(shelf.lookup([key("a"), key("b"), key("c")])) == {key("a"), key("c")}


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cache_dir"):
        write(Cache(tmp_path / "file").shelf("e", "m"), [("a", ok("A"))])


_CHILD = """
import hashlib, sys
from devqa.llm.cache import Cache
folder, start, stop, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with Cache(folder).shelf("http://x/v1", "some/model").writer("child") as writer:
    for n in range(start, stop):
        key = hashlib.sha256(str(n).encode()).hexdigest()
        writer.write(key, {"outcome": "ok", "text": "x" * 3000 + str(n)})
        if end == "report":
            sys.stdout.write(f"{n}\\n")
            sys.stdout.flush()
"""


def child(tmp_path, start, stop, end, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", _CHILD, str(tmp_path), str(start), str(stop), end]
    return subprocess.Popen(arguments, env=environment, **more)


def test_two_processes_write_overlapping_keys_while_a_third_reads(tmp_path, shelf):
    children = [child(tmp_path, 0, 700, "quiet"), child(tmp_path, 300, 1000, "quiet")]
    keys = [key(n) for n in range(1000)]
    while any(process.poll() is None for process in children):
        for record in shelf.lookup(keys).values():
            assert record["text"].startswith("x" * 3000)
    assert [process.wait() for process in children] == [0, 0]
    found = shelf.lookup(keys)
    assert [found[key(n)]["text"][3000:] for n in range(1000)] == [str(n) for n in range(1000)]


def test_kill_9_loses_nothing_that_was_written(tmp_path, shelf):
    process = child(tmp_path, 0, 10**9, "report", stdout=subprocess.PIPE, text=True)
    said = [int(process.stdout.readline()) for _ in range(200)]
    os.kill(process.pid, signal.SIGKILL)
    # What stands before the last line end was said whole.
    said += [int(line) for line in process.stdout.read().rpartition("\n")[0].split()]
    assert process.wait() == -signal.SIGKILL
    assert set(shelf.lookup([key(n) for n in said])) == {key(n) for n in said}


def test_a_record_holds_what_json_holds():
    record = {"text": "日本語 \u2028 \x00 😀", "data": {"a": [1, None, True]}}
    assert orjson.loads(encode(key("a"), record)[74:]) == record
