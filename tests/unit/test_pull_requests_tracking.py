"""Definitions of older versions in the pinned one."""

import os
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.pull_requests import LANGUAGES
from devqa.pull_requests.code.blocks import blocks, measured
from devqa.pull_requests.code.likeness import in_any_order, likeness
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.context import tracking as tracking_
from devqa.pull_requests.context.pinned import Pinned
from devqa.pull_requests.context.timeline import File, Place, Timeline
from devqa.pull_requests.context.tracking import Past, Tracker
from devqa.pull_requests.context.versions import Kept, Versions, found
from devqa.pull_requests.repositories.repository import open_repository
from followed import tracking, where
from grown import Grown

LOAD = '''def load(path, mode):
    """Read a file of settings."""
    with open(path, mode) as file:
        lines = [line.strip() for line in file if line.strip()]
    return dict(line.split("=", 1) for line in lines)
'''
SAVE = '''def save(path, values):
    """Write settings to a file."""
    with open(path, "w") as file:
        file.writelines(f"{key}={value}\\n" for key, value in sorted(values.items()))
'''
CLASS = """class Store:
    def __init__(self, folder):
        self.folder = folder
        self.opened = {}

    def fetch(self, name):
        if name not in self.opened:
            self.opened[name] = open(self.folder / name)
        return self.opened[name].read()
"""


@pytest.fixture
def grown(tmp_path):
    with Grown(tmp_path / "repository") as repository:
        yield repository


def test_what_keeps_its_name_and_file_is_the_same_whatever_else_changes(grown, tmp_path):
    grown.grow({"a.py": LOAD})
    grown.grow({"a.py": "import os\n\n\n" + LOAD.replace("strip", "rstrip")})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("same", "a.py", "load")


def test_renames_of_files_are_followed_again_and_again(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    grown.grow({"a.py": None, "b.py": LOAD + SAVE})
    grown.grow({"b.py": None, "c/d.py": LOAD + "\n" + SAVE})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "save"))) == ("moved", "c/d.py", "save")
        assert where(tracker.now(past("a.py", ""))) == ("moved", "c/d.py", "")


def test_a_renamed_function_is_known_by_its_body(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    grown.grow({"a.py": LOAD.replace("def load", "def read_settings").replace("lines", "rows") + SAVE})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("renamed", "a.py", "read_settings")


def test_methods_of_a_renamed_class_are_renamed(grown, tmp_path):
    grown.grow({"a.py": CLASS})
    grown.grow({"a.py": CLASS.replace("Store", "Cupboard")})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "Store.fetch"))) == ("renamed", "a.py", "Cupboard.fetch")
        assert where(tracker.now(past("a.py", "Store"))) == ("renamed", "a.py", "Cupboard")


def test_a_function_that_moved_to_another_file_is_found_there(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS})
    grown.grow({"a.py": SAVE, "b.py": CLASS + "\n" + LOAD})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("moved", "b.py", "load")


def test_moves_and_renames_are_followed_one_after_the_other(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS})
    grown.grow({"a.py": SAVE, "b.py": CLASS + "\n" + LOAD})
    grown.grow({"b.py": None, "c.py": CLASS + "\n" + LOAD})
    for version in range(9):
        grown.grow({"c.py": f"VERSION = {version}\n{CLASS}\n{LOAD}"})
    grown.grow({"c.py": CLASS + "\n" + LOAD.replace("def load", "def parse")})
    grown.grow({"d.py": LOAD.replace("def load", "def parse"), "c.py": CLASS})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("moved", "d.py", "parse")


def test_what_is_deleted_is_reported_with_the_commit(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS})
    grown.grow({"a.py": LOAD + SAVE + "\nx = 1\n"})
    gone = grown.grow({"a.py": SAVE})
    grown.grow({"a.py": SAVE + "\nx = 2\n"})
    without = grown.grow({"b.py": None})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == f"deleted: by {gone[:12]}"
        assert where(tracker.now(past("b.py", "Store.fetch"))) == f"deleted: by {without[:12]}"
        assert where(tracker.now(past("b.py", ""))) == f"deleted: by {without[:12]}"


def test_what_was_there_before_is_not_taken_for_what_vanished(grown, tmp_path):
    """Another function with the same name stood in the other file all the time."""
    other = SAVE.replace("save", "load")
    grown.grow({"a.py": LOAD + SAVE, "b.py": other})
    gone = grown.grow({"a.py": SAVE, "b.py": other + "\nx = 1\n"})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == f"deleted: by {gone[:12]}"


def test_a_new_function_of_the_same_name_with_nothing_in_common_is_another_one(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    gone = grown.grow({"a.py": SAVE, "b.py": "def load(): return Sensor.weight - Sensor.tare * GRAVITY\n"})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == f"deleted: by {gone[:12]}"


def test_what_was_deleted_and_came_back_is_the_same(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    grown.grow({"a.py": None, "b.py": "x = 1\n"})
    grown.grow({"a.py": LOAD + SAVE})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("same", "a.py", "load")


def test_of_overloads_the_one_with_the_likest_body_is_meant(grown, tmp_path):
    java = "class A {\n  void put(int a) { one(a); }\n  void put(String b) { two(b, b, b); }\n%s}\n"
    grown.grow({"A.java": java % ""})
    grown.grow({"A.java": java.replace("class A {\n", "class A {\n  void put() { three(); }\n") % ""})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("A.java", "A.put"))) == ("same", "A.java", "A.put#2")
        assert where(tracker.now(past("A.java", "A.put#2"))) == ("same", "A.java", "A.put#3")


def test_an_overload_that_has_gone_is_not_taken_for_another_one(grown, tmp_path):
    java = "class A {\n  void put(int a) { alpha(a); }\n%s}\n"
    grown.grow({"A.java": java % "  int put(String text) { String[] words = split(text); return words.length; }\n"})
    gone = grown.grow({"A.java": java % ""})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("A.java", "A.put#2"))) == f"deleted: by {gone[:12]}"


def test_a_file_that_is_not_read_any_more_is_reported_with_the_reason(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    grown.grow({"a.py": None, "vendor/a.py": LOAD + SAVE})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == "not read: vendored"


def test_a_commit_off_the_mainline_is_followed_from_where_it_came_onto_it(grown, tmp_path):
    first = grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS})
    side = grown.commit({"a.py": LOAD.replace("def load", "def read") + SAVE}, parents=[first])
    grown.grow({"b.py": CLASS + "\nx = 1\n"})
    # The merge renames the file as well.
    merged = {"a.py": None, "c.py": LOAD.replace("def load", "def read") + SAVE}
    grown.grow(merged, parents=[grown.commits[-1], side])
    grown.grow({"c.py": LOAD.replace("def load", "def parse") + SAVE})
    with tracking(grown, tmp_path, [side]) as (tracker, past):
        assert where(tracker.now(past("a.py", "read", side))) == ("moved", "c.py", "parse")


def test_a_commit_that_is_nowhere_on_the_way_has_no_place(grown, tmp_path):
    first = grown.grow({"a.py": LOAD})
    lost = grown.commit({"a.py": SAVE}, parents=[first])
    with open_repository(grown.origin, "", tmp_path, True) as repository:
        timeline = Timeline(repository, [first, lost])
        assert (timeline.place(first), timeline.place(lost)) == (Place("", 0), None)
        timeline.close()


def _found_unless_broken(source):
    if b"broken" in source.content:
        os._exit(7)
    return found(source)


BROKEN = "not read: reading ended the process with exit code 7"


def test_on_the_way_through_a_version_that_can_not_be_parsed_nothing_is_called_deleted(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    grown.grow({"a.py": LOAD + SAVE + "x = 'broken'\n"})
    grown.grow({"a.py": SAVE})
    with tracking(grown, tmp_path, read=_found_unless_broken) as (tracker, past):
        assert where(tracker.now(past("a.py", "save"))) == ("same", "a.py", "save")
        now = tracker.now(past("a.py", "load"))
        assert (now.outcome, now.lost) == (BROKEN, True)


@pytest.mark.parametrize("broken", ["old", "new"])
def test_what_may_be_in_a_file_that_can_not_be_parsed_is_not_called_deleted(grown, tmp_path, broken):
    grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS + ("# broken" if broken == "old" else "")})
    grown.grow({"a.py": SAVE, "b.py": CLASS + "y = 1\n" + ("# broken" if broken == "new" else "")})
    grown.grow({"b.py": CLASS})
    with tracking(grown, tmp_path, read=_found_unless_broken) as (tracker, past):
        now = tracker.now(past("a.py", "load"))
        assert (now.outcome, now.lost) == (BROKEN, True)


def test_what_is_found_needs_no_file_that_can_not_be_parsed(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE, "b.py": CLASS})
    grown.grow({"a.py": SAVE, "b.py": CLASS + "# broken\n", "c.py": LOAD})
    grown.grow({"b.py": CLASS})
    with tracking(grown, tmp_path, read=_found_unless_broken) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("moved", "c.py", "load")


def test_among_too_many_only_those_of_the_same_name_are_looked_at(grown, tmp_path, monkeypatch):
    monkeypatch.setattr(tracking_, "_MOST_ADDED", 3)
    others = "".join(f"def other_{number}(): return {number}\n" for number in range(5))
    grown.grow({"a.py": LOAD + SAVE})
    commit = grown.grow({"a.py": others, "b.py": LOAD, "c.py": SAVE.replace("def save", "def store")})
    with tracking(grown, tmp_path) as (tracker, past):
        assert where(tracker.now(past("a.py", "load"))) == ("moved", "b.py", "load")
        told = f"not looked for: among more than 3 definitions that {commit[:12]} added"
        assert tracker.now(past("a.py", "save")) == (told, None, None, False)


def test_each_version_is_parsed_once(grown, tmp_path):
    grown.grow({"a.py": LOAD + SAVE})
    for version in range(12):
        grown.grow({"a.py": f"x = {version}\n{LOAD}{SAVE}"})
    grown.grow({"a.py": SAVE})
    with (
        open_repository(grown.origin, "", tmp_path, True) as repository,
        Parsers(measured, 1) as measurers,
        Parsers(found, 1) as parsers,
        closing(Timeline(repository, grown.commits)) as timeline,
    ):
        tables.write(blocks(repository, LANGUAGES, [], measurers), "blocks", tmp_path / "blocks.parquet")
        pinned = Pinned(tmp_path / "blocks.parquet")
        versions = Versions(repository, pinned, parsers)
        tracker = Tracker(timeline, versions, pinned, LANGUAGES)
        for commit in grown.commits[:-1]:
            entry = next(each for each in repository.files(commit) if each.path == "a.py")
            file = File(entry.path, entry.blob, entry.size)
            names = {each.name: each for each in versions.defined(file).definitions}
            assert tracker.now(Past(file, timeline.place(commit), names["load"])).file is None
            assert tracker.now(Past(file, timeline.place(commit), names["save"])).outcome == "same"
        # The pinned version is known from the table.
        assert parsers.parsed == 13


WORDS = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)


@given(WORDS, WORDS)
def test_likeness_is_a_share(one, other):
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, one) == 1
    assert (likeness(one, other) == 0) == (one != other and not set(one) & set(other))


@given(WORDS, WORDS)
def test_words_are_alike_in_any_order_at_least_as_much_as_in_theirs(one, other):
    assert likeness(one, other) <= in_any_order(one, other) <= 1
    assert in_any_order(one, one[::-1]) == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), unique_by=lambda each: each[0]))
def test_what_is_kept_never_exceeds_its_bound_and_is_the_newest(pairs):
    kept = Kept(8)
    for key, length in pairs:
        kept.put(key, "x" * length)
    left = [key for key, _ in pairs if kept.get(key) is not None]
    assert sum(length for key, length in pairs if key in left) <= 8
    assert left == [key for key, _ in pairs][len(pairs) - len(left) :]
