"""Every damaged byte is found and named."""

import os
import zlib

import pytest

from devqa.stock.verify import report, verified
from devqa.web.store import Store
from stocked import configuration, fill, key


@pytest.fixture
def config(tmp_path):
    return configuration(tmp_path, cheap={})


def changed(path, offset):
    """Flip a bit without changing the file's time, as a bad disk does."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)
    os.utime(path, (before.st_atime, before.st_mtime))


def test_a_sound_cache_has_no_damage(config, tmp_path):
    fill(config, "cheap", "queries", *range(5))
    Store(tmp_path / "cache/web").put("key", b"value")
    result = verified(config)
    assert (result.records, result.web_files, result.damages) == (5, 1, [])
    assert report(config, result).count("\n") == 1


def test_a_flipped_bit_is_named_by_line_and_offset(config):
    path = fill(config, "cheap", "queries", *range(5))
    lines = path.read_bytes().splitlines(keepends=True)
    start = len(lines[0]) + len(lines[1])
    changed(path, start + 150)
    result = verified(config)
    (damage,) = result.damages
    assert (damage.path, damage.number, damage.offset) == (path, 3, start)
    assert result.records == 4
    text = report(config, result)
    assert path.name in text
    assert f"line 3, byte {start}: the checksum is wrong" in text
    assert "cache_prune_apply" in text


def test_two_records_on_one_line_are_one_damaged_line(config):
    path = fill(config, "cheap", "queries", *range(4))
    lines = path.read_bytes().splitlines(keepends=True)
    changed(path, len(lines[0]) - 1)
    changed(path, len(b"".join(lines[:3])) + 10)
    result = verified(config)
    assert [damage.number for damage in result.damages] == [1, 3]
    assert result.records == 2


def test_a_half_last_line_is_damage_only_where_nobody_can_be_writing_it(config):
    for days, count in ((2, 1), (0, 0)):
        path = fill(config, "cheap", "queries", "a", "b", days=days)
        before = path.stat()
        path.write_bytes(path.read_bytes()[:-5])
        os.utime(path, (before.st_atime, before.st_mtime))
        result = verified(config)
        assert [damage.what for damage in result.damages] == ["the end is missing"] * count
        assert result.cut_off == 1 - count
        assert ("1 segments are empty or end in a half-written line" in report(config, result)) == (not count)
        path.unlink()


@pytest.mark.parametrize("days", [0, 2])
def test_an_empty_segment_is_said_and_no_damage(config, days):
    fill(config, "cheap", "queries", days=days)
    result = verified(config)
    assert (result.records, result.damages, result.cut_off) == (0, [], 1)
    assert "half-written line" in report(config, result)


def test_a_line_with_a_right_checksum_that_is_no_record_is_damage(config):
    body = b'{"outcome": nonsense}'
    checksum = b"%08x" % zlib.crc32(key("a").encode() + body)
    path = fill(config, "cheap", "queries", "b")
    with path.open("ab") as file:
        file.write(b" ".join((key("a").encode(), checksum, body)) + b"\n")
    assert [(damage.number, damage.what) for damage in verified(config).damages] == [(2, "no record")]


def test_a_damaged_file_of_the_web_part_is_found(config, tmp_path):
    store = Store(tmp_path / "cache/web")
    for name in "abc":
        store.put(name, b"value " * 100)
    path = sorted((tmp_path / "cache/web").rglob("*.zst"))[1]
    changed(path, 12)
    (damage,) = verified(config).damages
    assert damage.path == path
    assert "can't be unpacked" in report(config, verified(config))
