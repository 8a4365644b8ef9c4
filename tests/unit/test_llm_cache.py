"""The cache's segments: nothing written is lost, nothing damaged is served."""

import errno
import hashlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.llm import cache as cache_module
from devqa.llm import index as index_module
from devqa.llm import segments
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


def old(path):
    """Make a segment look as if nobody had written to it for a day."""
    os.utime(path, (path.stat().st_mtime - 86_400,) * 2)


def append(path, content):
    with path.open("ab") as file:
        file.write(content)


def counted_reads(monkeypatch):
    """The names of the segments that are read from here on, each with the offset at which reading begins."""
    reads, read = [], segments.read

    def counting(path, start=0):
        reads.append((path.name, start))
        return read(path, start)

    monkeypatch.setattr(segments, "read", counting)
    return reads


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


def test_beyond_what_one_writer_wrote_only_what_others_wrote_too_is_looked_up(shelf, monkeypatch):
    monkeypatch.setattr(cache_module.time, "time", lambda: 1.0)
    write(shelf, [("both", ok("of another")), ("another's", ok("alone"))])
    monkeypatch.setattr(cache_module.time, "time", lambda: 2.0)
    with shelf.writer("step") as writer:
        writer.write(key("both"), ok("mine"))
        monkeypatch.setattr(cache_module.time, "time", lambda: 2.0 + index_module.SETTLED_S)
        writer.write(key("mine"), ok("in a second segment"))
        found = shelf.lookup([key("both"), key("mine"), key("nobody's")], beyond=writer)
    assert {name: record["text"] for name, record in found.items()} == {key("both"): "of another"}
    assert len(writer.names) == 2


def test_a_torn_last_line_is_skipped_with_one_warning(shelf, caplog):
    path = write(shelf, [("a", ok("A")), ("b", ok("B"))])
    path.write_bytes(path.read_bytes()[:-7])
    old(path)
    with caplog.at_level(logging.WARNING):
        assert list(shelf.lookup([key("a"), key("b")])) == [key("a")]
        shelf.lookup([key("a"), key("b")])
    assert len(caplog.records) == 1
    assert str(path) in caplog.text


def test_a_half_line_of_a_segment_that_grows_is_no_damage_and_is_read_when_it_is_whole(shelf, caplog):
    path = write(shelf, [("a", ok("A"))])
    line = encode(key("b"), {**ok("B"), "time": 2.0})
    with caplog.at_level(logging.WARNING):
        for cut in (1, 70, len(line) - 1):
            append(path, line[:cut])
            assert list(shelf.lookup([key("a"), key("b")])) == [key("a")]
            os.truncate(path, path.stat().st_size - cut)
        append(path, line[:100])
        shelf.lookup([key("b")])
        append(path, line[100:])
        assert shelf.lookup([key("b")])[key("b")]["text"] == "B"
    assert not caplog.records


def test_bytes_that_come_late_in_the_middle_of_a_growing_segment_are_read_when_they_come(shelf):
    """As clients of a shared file system see it, when pages of one file arrive out of order."""
    path = write(shelf, [(n, ok(f"text {n}")) for n in range(3)])
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\0" * len(lines[1]) + lines[2])
    assert set(shelf.lookup([key(n) for n in range(3)])) == {key(0), key(2)}
    path.write_bytes(whole)
    assert set(shelf.lookup([key(n) for n in range(3)])) == {key(0), key(1), key(2)}


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


@pytest.mark.parametrize("cut", [0, 1, 64, 74, 90])
def test_a_whole_record_behind_half_of_another_is_found(shelf, cut):
    path = write(shelf, [("a", ok("A")), ("b", ok("B")), ("c", ok("C"))])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0][:cut] + lines[1] + lines[2])
    assert set(shelf.lookup([key("a"), key("b"), key("c")])) == {key("b"), key("c")}
    assert [name for name, _ in shelf.records()] == [key("b"), key("c")]


@given(st.data())
def test_one_changed_byte_costs_one_record_at_most(data):
    content = bytearray().join(encode(key(n), {**ok(f"text {n}"), "time": n}) for n in range(5))
    place = data.draw(st.integers(0, len(content) - 1))
    hit = content[:place].count(b"\n")
    content[place] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.seg"
        path.write_bytes(content)
        lines = [line for _, line, good in segments.read(path) if good]
    assert [decode(line)["text"] for line in lines] == [f"text {n}" for n in range(5) if n != hit]


def test_a_segment_is_read_once_however_many_look_ups_there_are(shelf, monkeypatch):
    paths = [write(shelf, [(n, ok(str(n)))]) for n in range(5)]
    reads = counted_reads(monkeypatch)
    for n in range(5):
        assert list(shelf.lookup([key(n), key("absent")])) == [key(n)]
    assert sorted(reads) == sorted((path.name, 0) for path in paths)
    # Another shelf of the same folder in the same process profits.
    assert len(Cache(shelf.folder.parent).shelf("http://x/v1", "some/model").lookup([key(1), key(2)])) == 2
    assert len(reads) == 5


def test_what_others_write_later_is_found_and_only_that_is_read(shelf, monkeypatch):
    path = write(shelf, [("a", ok("A"))])
    shelf.lookup([key("a")])
    size = path.stat().st_size
    reads = counted_reads(monkeypatch)
    append(path, encode(key("b"), {**ok("B"), "time": 2.0}))
    new = write(shelf, [("c", ok("C"))])
    assert set(shelf.lookup([key("a"), key("b"), key("c")])) == {key("a"), key("b"), key("c")}
    assert sorted(reads) == sorted([(path.name, size), (new.name, 0)])


def test_the_earliest_is_served_also_when_it_is_found_last(shelf):
    append(write(shelf, [("x", ok("X"))]), encode(key("a"), {**ok("late"), "time": 20.0}))
    assert shelf.lookup([key("a")])[key("a")]["text"] == "late"
    append(write(shelf, [("y", ok("Y"))]), encode(key("a"), {**ok("early"), "time": 10.0}))
    append(write(shelf, [("z", ok("Z"))]), encode(key("a"), {"outcome": "error", "time": 5.0}))
    assert shelf.lookup([key("a")])[key("a")]["text"] == "early"


def compacted(shelf):
    """What pruning does to a shelf: all records in a new segment, then the old ones go."""
    before = list(shelf.folder.glob("*.seg"))
    with shelf.writer("compact") as writer:
        for _, line in shelf.lines():
            writer.keep(line)
    for path in before:
        path.unlink()


def test_pruning_between_two_look_ups_loses_nothing(shelf):
    for n in range(5):
        write(shelf, [(n, ok(str(n)))])
    assert len(shelf.lookup([key(n) for n in range(5)])) == 5
    compacted(shelf)
    assert {record["text"] for record in shelf.lookup([key(n) for n in range(5)]).values()} == set("01234")


def before_the_first(function, action):
    """`function`, with `action` done before its first call."""
    done = []

    def called(*arguments, **named):
        if not done:
            done.append(True)
            action()
        return function(*arguments, **named)

    return called


@pytest.mark.parametrize("moment", ["state", "read", "opened"])
def test_pruning_in_the_middle_of_a_look_up_loses_nothing(shelf, monkeypatch, moment):
    for n in range(5):
        write(shelf, [(n, ok(str(n)))])
    monkeypatch.setattr(segments, moment, before_the_first(getattr(segments, moment), lambda: compacted(shelf)))
    assert {record["text"] for record in shelf.lookup([key(n) for n in range(5)]).values()} == set("01234")


@pytest.mark.parametrize("moment", ["read", "listed"])
def test_pruning_while_all_records_are_read_gives_each_once(shelf, monkeypatch, moment):
    for n in range(5):
        write(shelf, [(n, ok(str(n))), (n, {"outcome": "error"})])
    monkeypatch.setattr(segments, moment, before_the_first(getattr(segments, moment), lambda: compacted(shelf)))
    assert sorted((name, record["outcome"]) for name, record in shelf.records()) == sorted(
        (key(n), outcome) for n in range(5) for outcome in ("ok", "error")
    )


def test_what_a_killed_pruning_has_left_twice_is_given_once(shelf):
    path = write(shelf, [("a", ok("A")), ("a", ok("again")), ("b", {"outcome": "error"})])
    path.with_name("copy.seg").write_bytes(path.read_bytes())
    assert len(list(shelf.records())) == 3
    assert shelf.lookup([key("a")])[key("a")]["text"] == "A"


def test_a_segment_that_was_replaced_by_a_shorter_one_is_read_anew(shelf):
    path = write(shelf, [("a", ok("A" * 500))])
    assert len(shelf.lookup([key("a"), key("b")])) == 1
    path.write_bytes(encode(key("b"), {**ok("B"), "time": 1.0}))
    assert list(shelf.lookup([key("a"), key("b")])) == [key("b")]


def test_a_listing_that_misses_a_new_segment_and_those_that_it_replaces_is_made_again(shelf, monkeypatch):
    write(shelf, [("a", ok("A"))])
    real, answers = segments._names, [[]]
    monkeypatch.setattr(segments, "_names", lambda folder: answers.pop() if answers else real(folder))
    assert set(shelf.lookup([key("a")])) == {key("a")}


def test_a_segment_that_is_listed_but_never_there_is_one_message(shelf, monkeypatch):
    write(shelf, [("a", ok("A"))])
    (shelf.folder / "broken.seg").symlink_to("nowhere")
    monkeypatch.setattr(segments, "_PAUSES_S", (0, 0))
    with pytest.raises(UserError, match="broken links"):
        shelf.lookup([key("a")])
    with pytest.raises(UserError, match="broken links"):
        list(shelf.records())


def test_after_a_pause_a_writer_goes_on_in_a_new_segment(shelf, monkeypatch):
    """So that a segment which has not grown for long can be taken for finished, and be removed."""
    with shelf.writer("step") as writer:
        writer.write(key("a"), ok("A"))
        writer.write(key("b"), ok("B"))
        now = cache_module.time.time
        monkeypatch.setattr(cache_module.time, "time", lambda: now() + index_module.SETTLED_S)
        writer.write(key("c"), ok("C"))
        writer.write(key("d"), ok("D"))
    assert sorted(path.read_bytes().count(b"\n") for path in shelf.folder.glob("*.seg")) == [2, 2]
    assert set(shelf.lookup([key(name) for name in "abcd"])) == {key(name) for name in "abcd"}


def test_all_records_are_given_with_their_keys(shelf):
    write(shelf, [("a", ok("A")), ("b", {"outcome": "error", "text": "paid for"})], step="one")
    write(shelf, [("a", ok("later"))], step="two")
    found = [(name, record["text"], record["step"]) for name, record in shelf.records()]
    assert sorted(found) == sorted([(key("a"), "A", "one"), (key("b"), "paid for", "one"), (key("a"), "later", "two")])
    assert [each.folder for each in Cache(shelf.folder.parent).shelves()] == [shelf.folder]


def test_a_folder_that_cannot_be_read_is_one_message(tmp_path):
    (tmp_path / "m").write_text("no folder")
    with pytest.raises(UserError, match="can't be read"):
        cache_module.Shelf(tmp_path / "m").lookup([key("a")])


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
