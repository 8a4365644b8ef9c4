"""Commits as they are stored, whoever made them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from committing import Made
from devqa.pull_requests.repositories import commits
from devqa.pull_requests.repositories.pinning import pinned
from devqa.pull_requests.repositories.repository import open_repository


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


ANN, MADE = b"author Ann <a@b> 5 +0000", b"committer Ann <a@b> 7 +0000"
ENCODINGS = {
    b"latin-1": "café",
    b"no-such-encoding": "caf\ufffd",
    b"\xff\xfe": "caf\ufffd",
    b"utf\x008": "caf\ufffd",
    b"x" * 1_000: "caf\ufffd",
    b"zip": "caf\ufffd",
    b"Punycode": "caf\ufffd",
    b"": "caf\ufffd",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_messages_of_any_encoding_are_read(made, encoding):
    made.odd_commit({"a": "1"}, [b"author Ann\x07 <a@b> 5 +0000", MADE, b"encoding " + encoding], (), b"caf\xe9")
    opened = made.opened()
    read = opened.read_commit(opened.commit)
    assert read.message == ENCODINGS[encoding]
    assert (read.parents, read.author, read.time) == ((), "Ann\x07", 7)


ODD = {
    "nobody": ([], "", 0),
    "no author": ([MADE], "", 7),
    "no committer": ([ANN], "Ann", 0),
    "an author without an address": ([b"author Ann", MADE], "Ann", 7),
    "an author without a name": ([b"author <a@b> 5 +0000", MADE], "", 7),
    "an author with two addresses": ([b"author Ann <x> <a@b> 5 +0000", MADE], "Ann <x>", 7),
    "an author who is no text": ([b"author \xff\0 <a@b> x y", MADE], "\ufffd\0", 7),
    "an author of another's": ([b"mergetag object 1", b" author Bea <b@c> 1 +0000", ANN, MADE], "Ann", 7),
    "no time": ([ANN, b"committer Ann <a@b>"], "Ann", 0),
    "a time that is none": ([ANN, b"committer Ann <a@b> soon +0000"], "Ann", 0),
    "a time after all": ([ANN, b"committer Ann <a@b> " + b"9" * 20 + b" +0000"], "Ann", 0),
    "a time without end": ([ANN, b"committer Ann <a@b> " + b"9" * 9_000 + b" +0000"], "Ann", 0),
    "an encoding that is none": ([ANN, MADE, b"encoding \xff\xfe"], "Ann", 7),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_commits_that_git_clones_are_read(made, tmp_path, what):
    headers, author, time = ODD[what]
    first = made.commit({"a": "1"}, "First")
    odd = made.odd_commit({"a": "2"}, headers, [first])
    side = made.odd_commit({"a": "2", "b": "1"}, [ANN, MADE], [odd])
    merge = made.odd_commit({"a": "2", "b": "1"}, [ANN, MADE], [odd, side])
    # It is the tip, or somewhere in the history.
    for tip in (odd, merge):
        made.git.references.create("refs/heads/main", tip, force=True)
        assert pinned("made", str(made.folder), "") == tip
        origin = {"label": "made", "path": "", "url": f"file://{made.folder}"}
        with open_repository(origin, "", tmp_path / tip, False) as opened:
            assert opened.commit == tip
            assert opened.mainline()[:2] == [first, odd]
            assert opened.has_commit(odd)
            assert opened.read_commit(odd)[2:] == ((first,), author, time, "Odd")
            assert [change.status for change in opened.difference(first, odd)] == ["modified"]
            assert opened.merge_base(first, odd) == first
        with open_repository(origin, odd, tmp_path / tip, True) as opened:
            assert opened.commit == odd
    assert made.opened().merge_base(side, merge) == side


@given(
    st.lists(st.sampled_from([b"author", b"committer", b"encoding", b"parent", b" ", b"<", b">", b"9", b"\n", b"\xff"]))
)
def test_whatever_stands_in_a_commit_it_is_read(parts):
    found = commits.parsed("1" * 40, b"tree " + b"2" * 40 + b"\n" + b"".join(parts))
    assert (found.tree, found.parents) == ("2" * 40, ())
    assert 0 <= found.time < 10**18
    assert commits.parsed("1" * 40, b"".join(parts)) is None
