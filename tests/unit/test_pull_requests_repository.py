"""Repositories as they are stored: trees, hunks, renames, the mainline."""

import re
import subprocess
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committing import Link, Made, Object, Submodule
from devqa.errors import UserError
from devqa.pull_requests.repositories import renames, repository, trees
from devqa.pull_requests.repositories.repository import Hunk, Missing, open_named, open_repository, printable

TEXT = "".join(f"line {number} of a file\n" for number in range(20))


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


def paths(repository, commit=None):
    return [entry.path for entry in repository.files(commit)]


def test_all_kinds_of_entries_are_listed_sorted_by_raw_path(made):
    made.commit(
        {"b.py": "b\n", "a/z": "z", "a.py": "12345", "a-b": "", "to": Link(b"/etc/passwd"), "sub": Submodule("1" * 40)}
    )
    found = {entry.path: entry for entry in made.opened().files()}
    assert list(found) == ["a-b", "a.py", "a/z", "b.py", "sub", "to"]
    assert [each.kind for each in found.values()] == ["file"] * 4 + ["submodule", "link"]
    assert found["a.py"].size == 5
    assert found["sub"].blob == "1" * 40
    assert made.opened().content(found["to"].blob) == b"/etc/passwd"


@pytest.mark.parametrize(
    "name",
    [
        b"..",
        b".",
        b".git",
        b".GIT",
        b".git ",
        b".git.",
        b"git~1",
        b".g\xe2\x80\x8cit",
        b".git::$INDEX_ALLOCATION",
        b"a/b",
    ]
    + [b"../x", b"x" * 300],
)
def test_names_that_lead_elsewhere_are_left_out(made, name):
    made.commit({"good.py": "1", name: {"config": "evil"}, b"sub": {name: "evil", "ok": "1"}})
    assert paths(made.opened()) == ["good.py", "sub/ok"]


@pytest.mark.parametrize("name", [b".gitignore", b".github", b"git", b"..a", b"a..b", b".gitattributes", b"git~x"])
def test_names_that_only_look_like_it_stay(made, name):
    made.commit({name: "1"})
    assert paths(made.opened()) == [name.decode()]


@given(st.binary(min_size=1, max_size=30))
def test_paths_are_shown_without_loss(raw):
    shown = printable(raw)
    back = re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), shown.encode())
    assert back == raw
    assert not any(letter in shown for letter in map(chr, range(32)))
    shown.encode()


def test_what_changes_how_text_is_shown_is_escaped():
    assert printable("a\u202eb\nc\\d/é".encode()) == "a\\xe2\\x80\\xaeb\\x0ac\\x5cd/é"


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"\xff\r"]), max_size=12)


@given(LINES, LINES)
def test_hunks_lead_from_the_old_lines_to_the_new_ones(tmp_path_factory, old, new):
    made = Made(tmp_path_factory.mktemp("hunks"))
    before, after = ([line + b"\n" for line in lines] for lines in (old, new))
    base = made.commit({"f": b"".join(before), "other": "1"})
    head = made.commit({"f": b"".join(after), "other": "1"})
    changes = made.opened().difference(base, head)
    assert bool(changes) == (old != new)
    for change in changes:
        rebuilt, at = [], 0
        for hunk in change.hunks:
            start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
            rebuilt += before[at:start]
            at = start + hunk.old_lines
            new_start = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
            assert new_start == len(rebuilt)
            rebuilt += after[new_start : new_start + hunk.new_lines]
        assert rebuilt + before[at:] == after
        assert (change.added, change.deleted) == tuple(sum(hunk[place] for hunk in change.hunks) for place in (3, 1))


def test_every_status_of_a_change(made):
    base = made.commit(
        {
            "mod": "1\n2\n",
            "gone": "only here",
            "moved.py": TEXT,
            "kind": "x",
            "bin": b"\0a",
            "same": "s",
            "link": Link(b"a"),
        }
    )
    head = made.commit(
        {
            "mod": "1\n3\n",
            "src/moved.py": TEXT + "one more\n",
            "kind": Link(b"same"),
            "bin": b"\0b",
            "same": "s",
            "new": "n\n",
            "link": Link(b"b"),
        }
    )
    found = {(change.new or change.old).path: change for change in made.opened().difference(base, head)}
    assert {path: change.status for path, change in found.items()} == {
        "bin": "modified",
        "gone": "deleted",
        "kind": "type",
        "link": "modified",
        "mod": "modified",
        "new": "added",
        "src/moved.py": "renamed",
    }
    assert found["src/moved.py"].old.path == "moved.py"
    assert found["src/moved.py"].hunks == (Hunk(20, 0, 21, 1),)
    assert found["mod"].hunks == (Hunk(2, 1, 2, 1),)
    assert found["bin"].binary
    assert found["bin"].hunks == ()
    assert found["link"].hunks == ()
    assert made.opened().difference("", base)[-1].status == "added"


def test_the_same_content_goes_to_the_file_of_the_same_name(made):
    base = made.commit({"a/one.py": TEXT, "a/two.py": TEXT})
    head = made.commit({"b/two.py": TEXT, "b/one.py": TEXT, "c/one.py": TEXT})
    found = {change.new.path: change.old and change.old.path for change in made.opened().difference(base, head)}
    assert found == {"b/one.py": "a/one.py", "b/two.py": "a/two.py", "c/one.py": None}


def test_the_more_similar_one_is_the_renamed_one(made):
    base = made.commit({"old.py": TEXT})
    half = "".join(TEXT.splitlines(True)[:12])
    head = made.commit({"a.py": half, "b.py": TEXT.replace("line 3", "line three"), "c.py": "quite\nother\n"})
    found = {change.new.path: change.status for change in made.opened().difference(base, head)}
    assert found == {"a.py": "added", "b.py": "renamed", "c.py": "added"}


@pytest.mark.parametrize("bound", ["_MOST_FILES", "_MOST_BYTES", "_MOST_LINES", "LARGEST_SOURCE"])
def test_of_too_many_or_large_files_only_the_same_ones_are_renamed(made, monkeypatch, bound):
    monkeypatch.setattr(renames, bound, 1)
    base = made.commit({"a.py": TEXT, "b.py": TEXT + "b\n", "c.py": TEXT + "c\n"})
    head = made.commit({"x/a.py": TEXT, "x/b.py": TEXT + "bb\n", "x/c.py": TEXT + "cc\n"})
    statuses = sorted(change.status for change in made.opened().changes(base, head))
    assert statuses == ["added", "added", "deleted", "deleted", "renamed"]


def test_empty_files_are_no_renames(made):
    base = made.commit({"a/__init__.py": "", "z": "1"})
    head = made.commit({"b/__init__.py": "", "z": "1"})
    assert [change.status for change in made.opened().changes(base, head)] == ["deleted", "added"]


def test_large_files_are_not_compared_line_by_line(made, monkeypatch):
    monkeypatch.setattr(repository, "LARGEST_SOURCE", 100)
    base, head = made.commit({"f": "x\n" * 40}), made.commit({"f": "x\n" * 60})
    (change,) = made.opened().difference(base, head)
    assert (change.binary, change.hunks, change.added) == (True, (), 0)


def test_a_line_of_many_megabytes_stops_nothing(made):
    for size, hunks in ((1_000_000, (Hunk(1, 1, 1, 1),)), (50_000_000, ())):
        base, head = made.commit({"f": b"x" * size}), made.commit({"f": b"y" * size})
        (change,) = made.opened().difference(base, head)
        assert change.hunks == hunks
        assert change.binary == (not hunks)


def test_a_tree_of_endless_files_ends(made, monkeypatch, caplog):
    monkeypatch.setattr(trees, "_MOST_VISITS", 5_000)
    tree = made.tree({f"f{number}": "x" for number in range(10)})
    for _ in range(12):
        tree = made.tree({f"d{number}": Object(tree, b"40000") for number in range(10)})
    base = made.commit({"a.py": "1"})
    head = made.commit({"a.py": "2", "bomb": Object(tree, b"40000")})
    opened = made.opened()
    assert 0 < len(paths(opened)) < 5_000
    assert opened.changes(base, head)[0].status == "modified"
    assert "the rest is left out" in caplog.text


def test_folders_without_files_end_too(made, monkeypatch):
    monkeypatch.setattr(trees, "_MOST_VISITS", 1_000)
    tree = made.tree({})
    for _ in range(40):
        tree = made.tree({"a": Object(tree, b"40000"), "b": Object(tree, b"40000")})
    made.commit({"d": Object(tree, b"40000"), "c": "1"})
    assert paths(made.opened()) == ["c"]


def test_what_is_too_deep_is_left_out(made, caplog):
    tree = made.tree({"deep": "x"})
    for _ in range(300):
        tree = made.tree({"d": Object(tree, b"40000")})
    made.commit({"d": Object(tree, b"40000"), "e": "1"})
    assert paths(made.opened()) == ["e"]
    assert "left out" in caplog.text


def test_large_folders_are_not_all_kept_in_memory(made, monkeypatch):
    monkeypatch.setattr(trees, "_MOST_KEPT", 50)
    made.commit({f"{folder}/{file}": f"{folder} {file}" for folder in range(20) for file in range(10)})
    opened = made.opened()
    assert len(paths(opened)) == 200
    assert opened._trees._entries <= 50
    assert sum(map(len, opened._trees._kept.values())) == opened._trees._entries


def test_an_object_of_another_kind_holds_nothing(made):
    tree = made.tree({"x": "1"})
    base = made.commit({"a": "1"})
    head = made.commit({"a": Object(tree), "b": Object(made.blob("text"), b"40000")})
    opened = made.opened()
    assert paths(opened) == ["a"]
    assert opened.content(tree) == b""
    assert [change.status for change in opened.difference(base, head)] == ["modified"]


def test_what_the_clone_lacks_is_said(made):
    base = made.commit({"a": "1"})
    head = made.commit({"a": Object("2" * 40), "b": "1"})
    opened = made.opened()
    assert [entry.size for entry in opened.files()] == [-1, 1]
    assert [change.status for change in opened.changes(base, head)] == ["modified", "added"]
    with pytest.raises(Missing, match="repositories.made: the clone lacks object 2222"):
        opened.difference(base, head)
    with pytest.raises(Missing, match="commit 3333"):
        opened.difference(base, "3" * 40)
    with pytest.raises(Missing, match="commit"):
        opened.difference(made.blob("1"), head)


@pytest.mark.parametrize("side", ["came", "went"])
def test_what_is_not_there_stops_nobody_who_looks_for_renames(made, side):
    """Mirrors may lack a file of the past or two: what it was called is not known, all else is."""
    lost = {"lost.py": Object("2" * 40)}
    old, new = {"old.py": TEXT}, {"new.py": TEXT + "more\n"}
    base, head = (made.commit(files) for files in ((old, lost) if side == "came" else (lost, new)))
    changes = made.opened().changes(base, head)
    assert sorted(change.status for change in changes) == ["added", "deleted"]


def test_a_repository_that_is_closed_lets_go_of_its_files(made, tmp_path):
    made.commit({"a.py": "1"})
    subprocess.run(["git", "gc", "-q"], cwd=made.folder, check=True)
    with open_repository({"label": "x", "path": str(made.folder), "url": ""}, "", tmp_path, True) as opened:
        assert paths(opened) == ["a.py"]
        assert str(made.folder) in Path("/proc/self/maps").read_text()
    assert str(made.folder) not in Path("/proc/self/maps").read_text()


def test_neither_attributes_nor_configuration_have_a_say(tmp_path):
    git = pygit2.init_repository(str(tmp_path / "clone"), initial_head="main")
    git.config["diff.renames"] = "false"
    git.config["core.attributesFile"] = str(tmp_path / "clone/.gitattributes")
    person = pygit2.Signature("Ann", "a@b", 1, 0)
    ids = []
    for text in ("1\n", "2\n"):
        for name, content in ((".gitattributes", "*.py -diff -text binary\n"), ("a.py", text)):
            (tmp_path / "clone" / name).write_text(content)
            git.index.add(name)
        tree = git.index.write_tree()
        ids.append(git.create_commit("HEAD", person, person, "m", tree, ids[-1:]))
    origin = {"label": "x", "path": str(tmp_path / "clone"), "url": "", "name": ""}
    with open_repository(origin, "", tmp_path, True) as opened:
        (change,) = opened.difference(str(ids[0]), opened.commit)
    assert change.hunks == (Hunk(1, 1, 1, 1),)


def test_steps_follow_the_mainline_and_show_merges_as_one(made):
    first = made.commit({"a": "1"})
    side = made.commit({"a": "1", "side": "1"}, parents=[first], branch="side")
    side = made.commit({"a": "1", "side": "2"}, branch="side")
    second = made.commit({"a": "2"})
    merge = made.commit({"a": "2", "side": "2"}, parents=[second, side])
    last = made.commit({"b": TEXT, "side": "2"})
    opened = made.opened()
    assert opened.mainline() == [first, second, merge, last]
    told = [
        (step.commit, [(each.status, each[2] and each[2].path) for each in step.changes])
        for step in opened.steps(first)
    ]
    assert told == [
        (second, [("modified", "a")]),
        (merge, [("added", "side")]),
        (last, [("deleted", None), ("added", "b")]),
    ]
    assert list(opened.steps(last)) == []
    assert [commit.id for commit in opened.brought(merge)] == [*_parents(opened, side), side]


def _parents(opened, commit):
    return opened.read_commit(commit).parents


def test_steps_from_beside_the_mainline_begin_where_it_came_on(made):
    first = made.commit({"a": "1"})
    side = made.commit({"a": "1", "side": "1"}, parents=[first], branch="side")
    second = made.commit({"a": "2"})
    merge = made.commit({"a": "2", "side": "1"}, parents=[second, side])
    never = made.commit({"x": "1"}, parents=[first], branch="never")
    opened = made.opened(merge)
    assert opened.landing(side) == merge
    assert [(step.commit, len(step.changes)) for step in opened.steps(side)] == [(merge, 1)]
    assert opened.landing(never) is None
    with pytest.raises(ValueError, match="not on the way"):
        list(opened.steps(never))


def test_a_pinned_commit_ends_the_mainline(made):
    first, second = made.commit({"a": "1"}), made.commit({"a": "2"})
    made.commit({"a": "3"})
    assert made.opened(second).mainline() == [first, second]
    assert paths(made.opened(first)) == ["a"]


def test_a_shallow_clone_has_a_mainline_as_far_as_it_goes(made, tmp_path):
    for number in range(6):
        made.commit({"a": str(number)})
    folder = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=3", f"file://{made.folder}", folder], check=True)
    with open_repository({"label": "x", "path": str(folder), "url": "", "name": ""}, "", tmp_path, True) as opened:
        assert len(opened.mainline()) == 3
        oldest = opened.mainline()[0]
        assert len(list(opened.steps(oldest))) == 2
        with pytest.raises(Missing, match="unshallow"):
            opened.difference(opened.read_commit(oldest).parents[0], oldest)
        assert opened.merge_base(oldest, opened.commit) == oldest


def test_the_last_common_commit_is_the_newest_one(made):
    first = made.commit({"a": "1"})
    left, right = (made.commit({"a": branch}, parents=[first], branch=branch) for branch in ("left", "right"))
    assert made.opened(right).merge_base(left, right) == first
    one = made.commit({"a": "3"}, parents=[left, right], branch="left")
    other = made.commit({"a": "4"}, parents=[right, left], branch="right")
    assert made.opened(other).merge_base(one, other) == right
    assert made.opened(other).merge_base(one, left) == left
    assert made.opened(other).merge_base(made.commit({"b": "1"}, parents=[], branch="new"), other) is None


def test_a_repository_that_the_configuration_has_no_more_is_named(tmp_path):
    with pytest.raises(UserError, match=r"pull_requests\.repositories: 'gone' is not there"):
        open_named({"here": {}}, "gone", "1" * 40, tmp_path, True)
