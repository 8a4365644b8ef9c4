"""What is in files from outside, told without reading them again at every start."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from devqa import fingerprint
from devqa.errors import UserError
from devqa.fingerprint import Fingerprints


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder with two files that have stood there for a while, so that what is in them is kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fingerprint, "TICK_NS", -(10**15))
    Path("a.txt").write_text("one")
    Path("b.txt").write_text("two")
    return tmp_path


@pytest.fixture
def read(monkeypatch):
    """The files whose content is read, in order."""
    files = []
    hashed = fingerprint._sha256

    def noted(file):
        files.append(file)
        return hashed(file)

    monkeypatch.setattr(fingerprint, "_sha256", noted)
    monkeypatch.setattr(fingerprint, "READERS", 1)
    return files


def digest(*files):
    """What a process that starts now finds."""
    return Fingerprints(".snakemake/devqa/fingerprints").digest(files)


def replaced_keeping_its_time(file, text, time_ns):
    other = Path("other")
    other.write_text(text)
    os.utime(other, ns=(time_ns, time_ns))
    other.rename(file)


def test_content_and_order_count_and_names_do_not(outside):
    before = digest("a.txt", "b.txt")
    assert digest("b.txt", "a.txt") != before
    Path("a.txt").rename("c.txt")
    assert digest("c.txt", "b.txt") == before
    assert digest("c.txt") != before
    Path("c.txt").write_text("One")
    assert digest("c.txt", "b.txt") != before
    assert digest() == ""


def test_what_one_file_ends_with_is_not_what_the_next_begins_with(outside):
    before = digest("a.txt", "b.txt")
    Path("a.txt").write_text("onet")
    Path("b.txt").write_text("wo")
    assert digest("a.txt", "b.txt") != before


def test_a_file_that_stays_is_read_once(outside, read):
    assert digest("a.txt", "b.txt") == digest("a.txt", "b.txt")
    assert read == ["a.txt", "b.txt"]
    assert digest("b.txt", "a.txt", "b.txt")
    assert read == ["a.txt", "b.txt"]


def test_a_touched_file_is_read_once_more_and_found_the_same(outside, read):
    before = digest("a.txt", "b.txt")
    os.utime("a.txt", (1, 1))
    assert [digest("a.txt", "b.txt"), digest("a.txt", "b.txt")] == [before, before]
    assert read == ["a.txt", "b.txt", "a.txt"]


@pytest.mark.parametrize("how", ["replaced", "written in place"])
def test_another_content_with_the_old_size_and_time_is_seen(outside, how):
    old = 10**18
    os.utime("a.txt", ns=(old, old))
    before = digest("a.txt")
    if how == "replaced":
        replaced_keeping_its_time("a.txt", "eno", old)
    else:
        Path("a.txt").write_text("eno")
        os.utime("a.txt", ns=(old, old))
    assert digest("a.txt") != before


def test_of_a_file_that_has_just_changed_nothing_is_kept(outside, read, monkeypatch):
    monkeypatch.setattr(fingerprint, "TICK_NS", 3_600 * 10**9)
    digest("a.txt")
    digest("a.txt")
    assert read == ["a.txt", "a.txt"]
    assert not Path("results").exists()


def test_a_file_that_changes_while_it_is_read_is_read_again(outside, read, monkeypatch):
    noted = fingerprint._sha256

    def written_to_meanwhile(file):
        content = noted(file)
        Path(file).write_text(f"{time.time_ns()}")
        return content

    monkeypatch.setattr(fingerprint, "_sha256", written_to_meanwhile)
    digest("a.txt")
    digest("a.txt")
    assert read == ["a.txt", "a.txt"]


def test_in_one_process_a_digest_stays_as_it_is(outside):
    kept = Fingerprints("kept")
    before = kept.digest(["a.txt"])
    Path("a.txt").write_text("other")
    assert kept.digest(["a.txt"]) == before
    assert digest("a.txt") != before


@pytest.mark.parametrize("damaged", ["", "{", "[]", "null", '{"a.txt": 1}', '{"a.txt": [1, 2, 3, 4, 5]}', "\x00\xff"])
def test_a_damaged_file_costs_reading_again(outside, read, damaged):
    before = digest("a.txt")
    Path(".snakemake/devqa/fingerprints").write_text(damaged, encoding="latin-1")
    assert digest("a.txt") == before
    assert digest("a.txt") == before
    assert read == ["a.txt", "a.txt"]


def test_runs_add_to_what_others_keep_and_forget_files_that_are_gone(outside):
    first, second = Fingerprints("kept"), Fingerprints("kept")
    first.digest(["a.txt"])
    second.digest(["b.txt"])
    Path("c.txt").write_text("three")
    first.digest(["c.txt"])
    assert json.loads(Path("kept").read_text()).keys() == {"a.txt", "b.txt", "c.txt"}
    Path("b.txt").unlink()
    Path("a.txt").touch()
    Fingerprints("kept").digest(["a.txt"])
    assert json.loads(Path("kept").read_text()).keys() == {"a.txt", "c.txt"}


def test_a_place_that_can_t_be_written_is_no_fault(outside):
    # Below a file nothing can be made, not even by root.
    kept = Fingerprints("a.txt/.snakemake/devqa/fingerprints")
    assert kept.digest(["b.txt"]) == hashlib.sha256(hashlib.sha256(b"two").hexdigest().encode()).hexdigest()


def test_names_that_are_not_utf8_are_kept(outside, read):
    name = os.fsdecode(b"\xff.txt")
    Path(name).write_text("odd")
    assert digest(name) == digest(name)
    assert read == [name]


@pytest.mark.parametrize("name", ["missing.txt", "folder.txt"])
def test_a_file_that_can_t_be_read_is_named(outside, name):
    Path("folder.txt").mkdir()
    with pytest.raises(UserError, match=f"{name} can't be read .*: mend its permissions, or leave it out"):
        digest("a.txt", name)


def test_only_much_is_announced(outside, monkeypatch):
    said = []
    monkeypatch.setattr(fingerprint, "LARGE_BYTES", 5)
    Fingerprints("kept", said.append).digest(["a.txt"])
    assert said == []
    Fingerprints("kept", said.append).digest(["a.txt", "b.txt"])
    assert said == []
    Fingerprints("other", said.append).digest(["a.txt", "b.txt"])
    assert len(said) == 1
    assert "2 new or changed files" in said[0]


def test_what_has_changed_since_it_was_looked_at_is_named_though_it_is_the_same_again(outside):
    fingerprints = Fingerprints(".snakemake/devqa/fingerprints")
    before = fingerprints.digest(["a.txt", "b.txt"])
    assert fingerprints.disturbed() == []
    text, was = Path("a.txt").read_text(), Path("a.txt").stat()
    Path("a.txt").write_text("another")
    Path("a.txt").write_text(text)
    os.utime("a.txt", ns=(was.st_atime_ns, was.st_mtime_ns))
    assert fingerprints.disturbed() == ["a.txt"]
    assert digest("a.txt", "b.txt") == before
    Path("b.txt").unlink()
    assert fingerprints.disturbed() == ["a.txt", "b.txt"]
