"""The files of a repository in a folder: those that it has, and nothing outside."""

import os
import stat
from pathlib import Path

import pytest

from devqa.errors import UserError
from devqa.pull_requests.agents import checkout as module
from devqa.pull_requests.agents.checkout import checkout, checkouts, export, remove, state
from exported import LABEL, Link, Submodule, checked_out, commit_of, opened, question, store

PLAIN = {b"README.md": b"Hello\n", b"src": {b"a.py": b"a = 1\n", b"deep": {b"b.py": b"b = 2\n"}}}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
HOSTILE = [
    (b"README.md", b"Hello\n"),
    (b"..", {b"up.txt": b"escaped"}),
    (b".git", {b"config": b"[core]\n\tfsmonitor = touch pwned\n"}),
    (b".GIT", {b"hooks": b"x"}),
    (b".", b"dot"),
    (b"../../twice.txt", b"escaped"),
    (b"/absolute", b"escaped"),
    (b"a\nb\x1b[31m.txt", b"control\n"),
    (b"invalid\xff\xfe.py", b"bad = '\xff'\n"),
    (b"link", Link(b"../../../etc/passwd")),
    (b"linked", Link(b"/etc")),
    (b"linked", {b"hostname": b"through a link"}),
    (b"module", Submodule(b"\x01" * 20)),
    (b"n" * 300, b"a name that no file system takes"),
    (b"pointer.bin", POINTER),
    (b"twice", b"a file"),
    (b"twice", {b"in.txt": b"below a file"}),
]


def found(folder):
    """Every name in a folder, with how it stands there."""
    return {os.fsencode(path.relative_to(folder)): path.lstat() for path in folder.rglob("*")}


def test_the_files_are_there_and_nobody_may_write_them(tmp_path):
    made = checked_out(tmp_path, PLAIN)
    assert list(made.files) == ["README.md", "src/a.py", "src/deep/b.py"]
    assert {path: made.content(path) for path in made.files}["src/a.py"] == b"a = 1\n"
    assert made.folders == {"": 3, "src": 2, "src/deep": 1}
    assert not any(each.st_mode & 0o222 for each in [made.folder.stat(), *found(made.folder).values()])
    assert made.folder.name.startswith(f"{LABEL}-")


def test_it_is_made_once_and_shared(tmp_path):
    with opened(tmp_path, PLAIN) as repository:
        first = checkout(repository, LABEL, tmp_path / "cache")
        before = state(first.folder)
        second = checkout(repository, LABEL, tmp_path / "cache")
    assert (second.folder, second.files) == (first.folder, first.files)
    assert state(first.folder) == before
    assert [each.name for each in (tmp_path / "cache/checkouts").iterdir()] == [first.folder.name]


def test_who_comes_second_takes_the_first_ones(tmp_path, monkeypatch):
    exported = module.export

    def slow(repository, folder):
        exported(repository, folder)
        final = tmp_path / "cache/checkouts" / f"{LABEL}-{repository.commit}"
        if not final.exists():
            exported(repository, final)

    monkeypatch.setattr(module, "export", slow)
    made = checked_out(tmp_path, PLAIN)
    assert made.content("README.md") == b"Hello\n"
    assert [each.name for each in (tmp_path / "cache/checkouts").iterdir()] == [made.folder.name]


def test_of_a_hostile_repository_nothing_leaves_the_folder(tmp_path):
    made = checked_out(tmp_path, HOSTILE)
    there = found(made.folder)
    assert all(stat.S_ISREG(each.st_mode) or stat.S_ISDIR(each.st_mode) for each in there.values())
    assert not [name for name in there if b".git" in name.lower().split(b"/")]
    assert {b"a\nb\x1b[31m.txt", b"invalid\xff\xfe.py", b"pointer.bin"} <= there.keys()
    assert made.content("pointer.bin") == POINTER
    assert not list(tmp_path.rglob("up.txt")) + list(tmp_path.rglob("twice.txt"))
    # All that is shown can be read, and what can be read is in the folder.
    for path in made.files:
        assert path.isprintable()
        made.content(path)
    assert not {"link", "linked", "module"} & made.files.keys()


@pytest.mark.parametrize(
    "raw", [b"../x", b"a/../../x", b"/x", b".git/config", b"a/.GiT/x", b"", b"a//b", b"a/./b", b"a\0b"]
)
def test_whoever_lists_the_names_dangerous_ones_are_not_written(tmp_path, raw):
    with opened(tmp_path, PLAIN) as repository:
        one = next(repository.files())._replace(raw=raw)
        repository.files = lambda: iter([one])
        export(repository, tmp_path / "inner/made")
    assert found(tmp_path / "inner/made") == {}
    assert [each.name for each in (tmp_path / "inner").iterdir()] == ["made"]


def test_what_stands_there_already_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    with opened(tmp_path, PLAIN) as repository:
        files = list(repository.files())

        def planted():
            (tmp_path / "made/README.md").symlink_to(outside)
            yield from files

        repository.files = planted
        export(repository, tmp_path / "made")
    assert outside.read_bytes() == b"precious"


def test_a_link_in_the_place_of_a_file_is_not_read(tmp_path):
    made = checked_out(tmp_path, PLAIN)
    made.folder.chmod(0o755)
    (made.folder / "README.md").unlink()
    (made.folder / "README.md").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic links"):
        made.content("README.md")


@pytest.mark.parametrize(
    "path", ["../README.md", "/etc/passwd", "src/../README.md", ".git/config", "src", "missing", ""]
)
def test_what_the_repository_does_not_have_can_t_be_read(tmp_path, path):
    with pytest.raises(KeyError):
        checked_out(tmp_path, PLAIN).content(path)


def test_what_is_too_large_is_left_out(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(module, "_LARGEST_FILE", 100)
    made = checked_out(tmp_path, {b"small": b"x" * 100, b"large": b"x" * 101})
    assert list(made.files) == ["small"]
    assert "1 files are too large" in caplog.text


def test_all_together_are_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 250)
    made = checked_out(tmp_path, dict.fromkeys((b"a", b"b", b"c", b"d"), b"x" * 100))
    assert list(made.files) == ["a", "b"]


def test_a_full_disk_is_said_and_nothing_half_is_left(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write", full)
    with pytest.raises(UserError, match="No space left on device.*make room"):
        checked_out(tmp_path, PLAIN)
    assert list((tmp_path / "cache/checkouts").iterdir()) == []


def test_a_change_is_seen_whatever_is_done_about_its_time(tmp_path):
    with opened(tmp_path, PLAIN) as repository:
        export(repository, tmp_path / "made")
    file, seen = tmp_path / "made/src/a.py", {state(tmp_path / "made")}
    times = file.stat()

    def new():
        before = len(seen)
        seen.add(state(tmp_path / "made"))
        return len(seen) > before

    assert not new()
    file.write_bytes(b"a = 2\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert new()
    (tmp_path / "made/__pycache__").mkdir()
    assert new()
    file.chmod(0o600)
    assert new()
    remove(tmp_path / "made")
    assert new()


def test_removing_does_not_follow_links(tmp_path):
    outside, made = tmp_path / "outside", tmp_path / "made"
    (outside / "kept").mkdir(parents=True)
    outside.chmod(0o755)
    made.mkdir()
    (made / "away").symlink_to(outside)
    (made / "closed").mkdir()
    (made / "closed/inner").mkdir()
    (made / "closed").chmod(0)
    remove(made)
    assert not made.exists()
    assert (outside / "kept").is_dir()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755
    remove(made)


def tree(folder):
    return {path: path.lstat() for path in [folder, *folder.rglob("*")]}


@pytest.mark.parametrize("where", ["made", "made/src"])
@pytest.mark.parametrize("stands", ["link", "broken link", "file", "pipe", "closed", "unreadable"])
def test_whatever_stands_in_the_place_of_a_folder_is_seen_and_goes_and_nothing_else(tmp_path, stands, where):
    with opened(tmp_path, PLAIN) as repository:
        export(repository, tmp_path / "made")
    made = state(tmp_path / "made")
    victim, place = tmp_path / "victim", tmp_path / where
    (victim / "sub").mkdir(parents=True)
    (victim / "sub").chmod(0o750)
    (victim / "sub/file").write_bytes(b"precious")
    before = tree(victim)
    if stands not in ("closed", "unreadable"):
        remove(place)
    match stands:
        case "link":
            place.symlink_to(victim)
        case "broken link":
            place.symlink_to(tmp_path / "nowhere")
        case "file":
            place.write_bytes(b"x")
        case "pipe":
            os.mkfifo(place)
        case "closed":
            place.chmod(0)
        case "unreadable":
            place.chmod(0o444)
    assert state(tmp_path / "made") != made
    remove(tmp_path / "made")
    assert not os.path.lexists(tmp_path / "made")
    assert tree(victim) == before


def test_a_link_in_the_place_of_a_folder_is_not_gone_through(tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "made").symlink_to(tmp_path / "victim")
    before = state(tmp_path / "made")
    (tmp_path / "victim/new").write_bytes(b"x")
    assert state(tmp_path / "made") == before


def test_what_can_t_be_removed_stays_and_stops_nothing(tmp_path, monkeypatch, caplog):
    with opened(tmp_path, PLAIN) as repository:
        export(repository, tmp_path / "made")
    theirs = tmp_path / "made/src"
    chmod, unlink = os.chmod, os.unlink

    def refusing(call):
        def refuse(path, *arguments, dir_fd=None, **more):
            at = Path(f"/proc/self/fd/{dir_fd}").resolve() if dir_fd is not None else Path()
            if theirs in (at / path, *(at / path).parents):
                raise PermissionError(1, "Operation not permitted", str(path))
            return call(path, *arguments, dir_fd=dir_fd, **more)

        return refuse

    with monkeypatch.context() as patched:
        patched.setattr(os, "chmod", refusing(chmod))
        patched.setattr(os, "unlink", refusing(unlink))
        remove(tmp_path / "made")
        remove(theirs / "a.py")
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["src"]
    assert caplog.text.count("can't be removed") == 2
    remove(tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_each_repository_of_the_questions_is_checked_out(tmp_path):
    origin = store(tmp_path / "repository", PLAIN)
    commit = commit_of(origin)
    rows = [question(number, origin, commit) for number in range(3)]
    made = checkouts(rows, {LABEL: origin}, tmp_path / "cache", offline=True)
    assert list(made) == [LABEL]
    assert made[LABEL].content("src/a.py") == b"a = 1\n"
