"""Looking for lines: the right ones, in bounded time and memory, and the same on every machine."""

import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.pull_requests.agents import grep
from devqa.pull_requests.agents.checkout import Checkout, File
from exported import checked_out

FILES = {
    b"a.txt": b"zebra one\n" * 3,
    b"b": {b"c.txt": b"zebra two\n", b"d.txt": b"none\n"},
    b"b.txt": b"zebra three\n",
}


def numbers(found):
    return [(line.path, line.number) for line in found.lines]


def test_each_pattern_is_looked_for_below_its_own_path(tmp_path):
    paths = ["", "a.txt", "b", "b/c.txt", "b.txt", "b"]
    found = grep.search(checked_out(tmp_path, FILES), [grep.Grep("zebra", path) for path in paths], 2)
    assert all(each.whole for each in found)
    assert [numbers(each) for each in found] == [
        [("a.txt", 1), ("a.txt", 2)],
        [("a.txt", 1), ("a.txt", 2)],
        [("b/c.txt", 1)],
        [("b/c.txt", 1)],
        [("b.txt", 1)],
        [("b/c.txt", 1)],
    ]


def test_a_path_takes_no_memory_by_the_number_of_files():
    files = {f"src/deep/{number}.py": File(b"", grep.LARGEST_FILE + 1) for number in range(20_000)}
    wanted = [grep.Grep("zebra", path) for path in ("src", "src/deep") for _ in range(50)]
    tracemalloc.start()
    try:
        grep.search(Checkout(Path(), files), wanted, 1)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "pattern", [r"(((\w|\w\w|.|..|\s|.\s){1,9}){1,9}){1,9}zzz", r"(.{1,30}\s){30}", r"\pL{5}", ".{1,500}"]
)
def test_a_pattern_with_a_large_program_is_refused(pattern):
    with pytest.raises(grep.error, match="too complex"):
        grep.compiled(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\pL{1,3}", r"def\s+\w+\(.{0,300}\)", "|".join(["(?i)discount"] * 38), r"\w{1,200}"]
)
def test_what_people_look_for_is_none(pattern):
    assert grep.compiled(pattern)


class Spied:
    """A pattern that matches nothing, and keeps how many bytes it was given at a time."""

    def __init__(self, programsize):
        self.programsize = programsize
        self.given = []

    def search(self, content, start, end):
        self.given.append(end - start)


@pytest.mark.parametrize("programsize", [10, 1_000, 4_000])
@pytest.mark.parametrize("line", [b"x" * 99 + b"\n", b"x"])
def test_no_search_holds_up_a_signal_for_long(programsize, line):
    content = line * (grep.LARGEST_FILE // len(line))
    spied = Spied(programsize)
    one = grep._Search(spied, 1)
    one.look("a.txt", content)
    assert all(programsize * size <= grep._WORK_AT_ONCE for size in spied.given)
    # What was not looked at is said.
    assert one.whole == (sum(spied.given) > 0.98 * len(content))


def test_all_searches_end(monkeypatch):
    spied = Spied(4_000)
    one = grep._Search(spied, 1)
    looked = 0
    while one.goes_on and looked < 1_000:
        one.look("a.txt", b"x" * 99_999 + b"\n")
        looked += 1
    assert not one.whole
    assert 4_000 * sum(spied.given) <= grep._MOST_WORK


def test_a_line_that_is_too_long_for_a_pattern_is_passed_over_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(grep, "_WORK_AT_ONCE", grep.compiled("zebr[a]").programsize * 50)
    files = {b"a.txt": b"zebra\n" * 20 + b"zebra" * 11 + b"\nzebra\n", b"b.txt": b"zebra"}
    (found,) = grep.search(checked_out(tmp_path, files), [grep.Grep("zebr[a]")], 99)
    assert not found.whole
    assert numbers(found) == [*(("a.txt", number) for number in range(1, 21)), ("a.txt", 22), ("b.txt", 1)]


TEXTS = st.lists(st.text("ab\r\n x", max_size=12), max_size=12).map("\n".join)


@given(TEXTS, st.sampled_from(["a", "^a", "b$", "a|b", "a *b", "^$", "x+", "[^a]", r"\bab\b"]), st.integers(1, 5))
def test_lines_are_those_that_a_search_line_by_line_finds(text, pattern, most):
    text = text.replace("\r", "")
    lines = text.removesuffix("\n").split("\n") if text else []
    expected = [(number, line) for number, line in enumerate(lines, 1) if re.search(pattern, line)][:most]
    assert grep.lines(text.encode(), grep.compiled(pattern), most) == expected


@given(TEXTS, st.sampled_from(["a", "^a", "b$", "^$", "x*", r"\bb", r"a\b"]), st.integers(1, 20))
def test_lines_are_the_same_piece_by_piece(text, pattern, most):
    content, pattern = text.encode(), grep.compiled(pattern)
    pieces = list(grep.pieces(content, most))
    assert b"".join(content[start:end] for start, end in pieces) == content
    for start, end in pieces:
        assert content[start:end].count(b"\n") <= 1 or end - start <= most
        assert end == len(content) or content[end - 1 : end] == b"\n"
    found = [line for piece in pieces for line in grep.lines(content, pattern, 99, *piece)]
    assert found == grep.lines(content, pattern, 99)


@given(st.binary(max_size=1_000), st.integers(0, 1_000))
def test_an_excerpt_is_short_text(line, at):
    assert len(grep.excerpt(line, min(at, len(line)))) <= 242


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_glob_is_a_pattern_or_refused(pattern, path):
    try:
        found = grep.glob(pattern)
    except grep.error:
        return
    found.fullmatch(path)
