"""Where a pull request is whose merge somebody else has recorded, and how large it is."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from committing import Link, Made, Submodule
from devqa.pull_requests.listing import locating
from devqa.pull_requests.listing.locating import Measure, placed
from devqa.pull_requests.repositories.repository import Missing, open_repository
from patience import at_most

LARGE = "[\n" + "1,\n" * 400_000 + "1]\n"


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


def place(made, size, number=7, others=()):
    return placed(made.opened(), str(made.git.head.target), number, lambda: size, others)


def test_a_squash_with_a_large_file_holds_nothing_of_others(made):
    """Lines of files that are not compared are counted by GitHub, so that the sizes are not the same."""
    made.commit({"a.py": "1\n", "z.py": "0\n"}, "Begin")
    before = made.commit({"a.py": "1\n", "z.py": "1\n"}, "Somebody else's, by hand")
    merge = made.commit({"a.py": "2\n", "z.py": "1\n", "data.json": LARGE}, "A title by hand")
    assert place(made, Measure(3, 400_003, 1, 2)) == ("squash", before, merge)


def test_a_rebase_of_fewer_commits_than_were_counted_holds_nothing_of_others(made):
    """Merges of the default branch are counted, and not rebased."""
    made.commit({"z.py": "0\n"}, "Begin")
    before = made.commit({"z.py": "1\n"}, "Somebody else's, by hand")
    made.commit({"z.py": "1\n", "b.py": "b\n"}, "Part 1")
    merge = made.commit({"z.py": "1\n", "b.py": "b\nc\n"}, "Part 2")
    assert place(made, Measure(3, 2, 0, 1)) == ("rebase", before, merge)


OTHERS = {
    "named by GitHub": "Another (#6)",
    "named by GitLab": "Another (!6)",
    "named by Azure DevOps": "Merged PR 6: Another",
    "named by Bitbucket": "Merged in x (pull request #6)",
    "a merge": None,
    "a recorded one": "A title by hand",
}


@pytest.mark.parametrize("how", OTHERS)
def test_what_belongs_to_another_is_never_passed(made, how):
    """Together they would be just as large as the pull request."""
    base = made.commit({"a.py": ""}, "Begin")
    side = made.commit({"a.py": "1\n"}, "Side", [base], branch="side")
    other = made.commit({"a.py": "1\n"}, OTHERS[how] or "Merge branch 'x'", [base] + [side] * (not OTHERS[how]))
    merge = made.commit({"a.py": "1\n2\n"}, "Part 2")
    both = Measure(2, 2, 0, 1)
    others = {other, merge} if how == "a recorded one" else {merge}
    assert place(made, both, others=others) is None
    assert place(made, Measure(2, 1, 0, 1), others=others) == ("squash", other, merge)
    if how.startswith("named"):
        assert place(made, both, number=6) == ("rebase", base, merge)


def test_what_is_as_large_as_nothing_is_not_told(made):
    made.commit({"a.py": "0\n"}, "Begin")
    made.commit({"a.py": "1\n"}, "Part 1")
    made.commit({"a.py": "1\n2\n"}, "Part 2")
    for size in (Measure(2, 2, 0, 1), Measure(2, 1, 0, 2), Measure(9, 5, 5, 1)):
        assert place(made, size) is None


@pytest.mark.parametrize("content", [b"\0binary", LARGE, Link(b"a.py"), Submodule("1" * 40)], ids=type)
def test_of_what_has_no_lines_here_the_number_of_files_counts(made, content):
    """Of a link and a submodule GitHub counts lines, too."""
    base = made.commit({"a.py": "0\n"}, "Begin")
    made.commit({"a.py": "1\n"}, "Part 1")
    merge = made.commit({"a.py": "1\n", "odd": content}, "Part 2")
    assert place(made, Measure(2, 9, 2, 2)) == ("rebase", base, merge)
    assert place(made, Measure(2, 0, 0, 2)) is None
    assert place(made, Measure(2, 9, 9, 3)) is None


def test_the_first_commit_may_be_part_of_one(made):
    made.commit({"a.py": "1\n"}, "Part 1")
    merge = made.commit({"a.py": "1\n2\n"}, "Part 2")
    assert place(made, Measure(2, 2, 0, 1)) == ("rebase", "", merge)


def test_a_shallow_clone_does_not_go_back_so_far(made, tmp_path):
    commits = [made.commit({"a.py": "x\n" * number}) for number in range(5)]
    folder = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=2", f"file://{made.folder}", folder], check=True)
    with open_repository({"label": "x", "path": str(folder), "url": ""}, "", tmp_path, True) as opened:
        assert placed(opened, commits[4], 7, lambda: Measure(3, 1, 0, 1), ()) == ("squash", commits[3], commits[4])
        with pytest.raises(Missing):
            placed(opened, commits[4], 7, lambda: Measure(3, 3, 0, 1), ())


@pytest.mark.parametrize("message", ["Title (#7)", "Merged PR 7: Title", "Title\n\nSee merge request a/b!7"])
def test_who_names_the_number_is_not_measured(made, message):
    base = made.commit({"a.py": "0"})
    merge = made.commit({"a.py": "1"}, message)

    def measure():
        raise AssertionError

    assert placed(made.opened(), merge, 7, measure, ()) == ("squash", base, merge)


def test_one_commit_and_an_unknown_size_are_a_squash(made):
    base = made.commit({"a.py": "0"})
    merge = made.commit({"a.py": "1"}, "Title")
    for size in (None, Measure(1, 5, 5, 5), Measure(0, 0, 0, 0)):
        assert place(made, size) == ("squash", base, merge)


def test_nobody_looks_back_without_end(made, monkeypatch):
    monkeypatch.setattr(locating, "_MOST_REBASED", 3)
    commits = [made.commit({"a.py": "x\n" * number}) for number in range(6)]
    assert place(made, Measure(5, 3, 0, 1)) == ("rebase", commits[2], commits[5])
    with at_most(30):
        assert place(made, Measure(2**70, 4, 0, 1)) is None


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 6), st.integers(0, 3))
def test_no_file_of_another_is_ever_in_it(tmp_path_factory, mine, commits, dropped):
    """Commits of one's own and of others in any order: what is found is one's own, of just the size."""
    made = Made(tmp_path_factory.mktemp("made"))
    files = {"begin.py": "0\n"}
    made.commit(files, "Begin (#1)")
    own = 0
    for number, is_mine in enumerate([*mine, *[True] * commits]):
        own = own + 1 if is_mine else 0
        files[f"{'mine' if is_mine else 'other'}{number}.py"] = "x\n"
        made.commit(files, f"Step {number}" if is_mine else f"Step (#{number + 100})")
    found = place(made, Measure(commits + dropped, commits, 0, commits))
    changed = [change.new.path for change in made.opened().changes(found.base, found.head)]
    assert len(changed) == commits
    assert all(path.startswith("mine") for path in changed)
    assert place(made, Measure(own + 1 + dropped, own + 1, 0, own + 1)) is None
