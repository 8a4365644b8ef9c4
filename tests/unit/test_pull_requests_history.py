"""Pull requests in a clone's own history."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from committing import Made
from devqa.pull_requests.listing.history import pulls
from devqa.pull_requests.listing.wording import body_of, dated, line_of
from devqa.pull_requests.repositories.repository import open_repository
from patience import at_most


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


def merge(made, message, *subjects, author="Bea"):
    """Merge a branch with these commits: the merge, and what it was made on."""
    base = str(made.git.head.target) if not made.git.head_is_unborn else made.commit({"a": "1"}, "Begin")
    side = base
    for number, subject in enumerate(subjects or ["Side"]):
        side = made.commit({"a": "1", "side": f"{base} {number}"}, subject, [side], author, "side")
    return made.commit({"a": "1", "side": f"{base} {number}"}, message, [base, side], "Ann"), base


def one(made, kinds=("merge", "squash"), branch="main"):
    (row,) = pulls(made.opened(), kinds, 9, branch)
    return row


MERGES = {
    "GitHub": ("Merge pull request #12 from bea/fix\n\nCount the zebras\n\nThey moved.", 12),
    "Gitea": ("Merge pull request 'Count the zebras' (#12) from fix into main\n\nThey moved.", 12),
    "GitLab": ("Merge branch 'fix' into 'main'\n\nCount the zebras\n\nThey moved.\n\nSee merge request g/s/p!12", 12),
    "Bitbucket Server": ("Pull request #12: Count the zebras\n\nThey moved.", 12),
    "Bitbucket Server, older": (
        "Merge pull request #12 in ZOO/zoo from fix to main\n\nCount the zebras\n\nThey moved.",
        12,
    ),
    "Bitbucket": ("Merged in fix (pull request #12)\n\nCount the zebras\n\nThey moved.\n\nApproved-by: Cleo", 12),
    "Azure DevOps": ("Merged PR 12: Count the zebras\n\nThey moved.", 12),
    "bors": ("Auto merge of #12 - bea:fix, r=cleo\n\nCount the zebras\n\nThey moved.", 12),
    "GitHub, with a title": ("Count the zebras (#12)\n\nThey moved.", 12),
}


@pytest.mark.parametrize("forge", MERGES)
def test_merges_of_every_forge_are_read(made, forge):
    message, number = MERGES[forge]
    head, base = merge(made, message)
    row = one(made)
    assert row == {
        "number": number,
        "title": "Count the zebras",
        "body": "They moved.",
        "author": "Bea",
        "labels": [],
        "merged_at": row["merged_at"],
        "kind": "merge",
        "base": base,
        "head": head,
        "status": "ok",
        "reason": "",
    }
    assert row["merged_at"] == "2023-11-15T00:13:20Z"


@pytest.mark.parametrize("forge", MERGES)
def test_a_number_without_end_is_none(made, forge):
    message, number = MERGES[forge]
    merge(made, message.replace(str(number), "1" * 5_000))
    assert (one(made)["number"], one(made)["title"]) == (None, "Count the zebras")


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<!-->", "-->", "\n", " ", "(#1", "(#1)", " (#1) x", "A-a", "-by: ", "Cc: @", "- ", "See merge request !1"]
    + ["\nSee merge request !1 x", "' (#1) from ", "\r\n", "\u202e", "(cherry picked from commit "],
)
def test_no_text_takes_hours(made, piece):
    """Patterns that begin again and again what they can't end would."""
    text = piece * (200_000 // len(piece))
    with at_most(30):
        assert len(body_of(text)) <= 20_000
        for message in (f"{text} x", f"Merge pull request '{text} x", f"Merge x\n\n{text} x"):
            merge(made, message)
        assert len(pulls(made.opened(), ["merge", "squash"], 9, "main")) == 3


@given(st.lists(st.sampled_from(["<!--", "-->", "<!", "--", ">", "a", "\n", "b c"])).map("".join))
def test_comments_end_where_html_ends_them(text):
    # What is left when comments are taken out may look like one.
    left = re.sub(r"(?s)<!--.*?-->", "", text).replace("<!--", "<!-\ue000-")
    assert body_of(text) == body_of(left).replace("\ue000", "")


def test_what_a_merge_does_not_say_its_one_commit_says(made):
    merge(made, "Merge pull request #3 from bea/fix", "Count the zebras\n\nThey moved.\n\nSigned-off-by: Bea <b@c>")
    row = one(made)
    assert (row["number"], row["title"], row["body"]) == (3, "Count the zebras", "They moved.")


def test_what_a_merge_does_not_say_its_commits_say(made):
    merge(made, "Merge branch 'zebras'", "Count the zebras\n\nThey moved.", "Count them again")
    row = one(made)
    assert (row["number"], row["title"]) == (None, "Merge branch 'zebras'")
    assert row["body"] == "- Count the zebras\n- Count them again"


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'main'",
        "Merge branch 'main' of https://git.example/ann/zoo",
        "Merge remote-tracking branch 'origin/main'",
        "Merge branch 'main' into main",
    ],
)
def test_a_merge_of_the_branch_with_itself_is_no_pull_request(made, subject):
    merge(made, subject)
    assert one(made)["reason"] == "a merge of the branch with itself"


@pytest.mark.parametrize(("reference", "number"), [("!12", 12), ("grp/proj!12", 12)])
def test_a_forks_branch_of_the_same_name_is_another_one(made, reference, number):
    """Who works on the default branch of a fork merges `main` into `main`."""
    merge(made, f"Merge branch 'main' into 'main'\n\nCount the zebras\n\nThey moved.\n\nSee merge request {reference}")
    row = one(made)
    assert (row["number"], row["title"], row["body"]) == (number, "Count the zebras", "They moved.")
    assert row["status"] == "ok"


@pytest.mark.parametrize(
    "subject", ["Merge branch 'mainly'", "Merge remote-tracking branch 'bea/fix'", "Merge branch 'x'"]
)
def test_a_merge_of_another_branch_is_one(made, subject):
    merge(made, subject)
    assert one(made)["status"] == "ok"
    assert one(made, branch="")["status"] == "ok"


@pytest.mark.parametrize(
    ("subject", "number", "title"),
    [
        ("Count the zebras (#12)", 12, "Count the zebras"),
        ('Revert "Count the zebras (#12)" (#13)', 13, 'Revert "Count the zebras (#12)"'),
        ("Count  the\tzebras  (#12)  ", 12, "Count the zebras"),
        ("Count the zebras (#1234567890)", None, "Count the zebras"),
        (f"Count the zebras (#{'1' * 5_000})", None, "Count the zebras"),
        ("Count the zebras (#0)", None, "Count the zebras"),
        ("(#12)", 12, ""),
    ],
)
def test_squash_commits_are_read(made, subject, number, title):
    base = made.commit({"a": "1"}, "Begin")
    head = made.commit({"a": "2"}, f"{subject}\n\n* They moved.\n\nCo-authored-by: Bea <b@c>", author="dependabot[bot]")
    row = one(made)
    assert (row["number"], row["title"], row["body"]) == (number, title, "* They moved.")
    assert (row["kind"], row["base"], row["head"], row["author"]) == ("squash", base, head, "dependabot[bot]")


SQUASHES = {
    "GitHub": "Count the zebras (#12)\n\nThey moved.",
    "GitLab": "Count the zebras (!12)\n\nThey moved.",
    "GitLab, from a template": "Count the zebras\n\nThey moved.\n\nSee merge request grp/proj!12",
    "GitLab, of an issue": "Count the zebras (#99)\n\nThey moved.\n\nSee merge request grp/proj!12",
    "GitLab, picked": "Merge branch 'fix' into 'main'\n\nCount the zebras\n\nThey moved.\n\nSee merge request !12\n\n"
    "(cherry picked from commit 0123)",
    "Azure DevOps": "Merged PR 12: Count the zebras\n\nThey moved.",
    "Bitbucket": "Merged in bea/fix (pull request #12)\n\nCount the zebras\n\nThey moved.",
    "Bitbucket Server": "Pull request #12: Count the zebras\n\nThey moved.",
}


@pytest.mark.parametrize("forge", SQUASHES)
def test_squash_commits_of_every_forge_are_read(made, forge):
    base = made.commit({"a": "1"}, "Begin")
    head = made.commit({"a": "2"}, SQUASHES[forge])
    row = one(made)
    assert (row["kind"], row["number"], row["title"], row["body"]) == ("squash", 12, "Count the zebras", "They moved.")
    assert (row["base"], row["head"], row["status"]) == (base, head, "ok")


NO_SQUASHES = [
    *(
        "Fix #12",
        "Fix (see #12)",
        "(#12) fix",
        "Fix (#12), really",
        "Fix the (#123) crash",
        "Fixes !12",
        "Fix (!12) now",
    ),
    *("Fix (12)", "Fix (GH #12)", "#12", "!12", "Merge #12", "Merged PR 12", "Merged PR #12: x", "Not merged PR 12: x"),
    *("After pull request #12: x", "Pull request 12: x", "Merged in x (see pull request #12)", "Merged in x"),
    *('Revert "Fix (#12)"', 'Revert "Merged PR 12: x"', "See merge request a/b!12", "Closes a/b!12"),
    *("Fix\n\nCloses #12", "Fix\n\n(#12)", "Fix\n\nMerged PR 12: x", "Fix\n\nAs in See merge request a/b!12"),
    *("Fix\n\nSee merge request a/b!12 for more", "Fix\n\nSee merge request a/b#12", "Fix\n\nSee issue !12"),
]


@pytest.mark.parametrize("message", NO_SQUASHES)
def test_other_commits_are_none(made, message):
    made.commit({"a": "1"}, message)
    assert pulls(made.opened(), ["merge", "squash"], 9, "main") == []
    assert one(made, ["commit"])["title"] == message.partition("\n")[0]


def test_the_kinds_that_count_are_chosen(made):
    made.commit({"a": "0"}, "Begin")
    made.commit({"a": "1"}, "Squash (#1)")
    merge(made, "Merge pull request #2 from x/y\n\nMerge")
    found = {
        kinds: [(row["kind"], row["number"]) for row in pulls(made.opened(), kinds, 9, "main")]
        for kinds in (("merge",), ("squash",), ("commit",), ("commit", "squash", "merge"))
    }
    assert found == {
        ("merge",): [("merge", 2)],
        ("squash",): [("squash", 1)],
        ("commit",): [("commit", None)] * 3,
        ("commit", "squash", "merge"): [("merge", 2), ("squash", 1), ("commit", None)],
    }


def test_the_newest_ones_before_the_pinned_commit_are_taken(made):
    commits = [made.commit({"a": str(number)}, f"Step (#{number})") for number in range(1, 7)]
    assert [row["number"] for row in pulls(made.opened(commits[3]), ["squash"], 2, "main")] == [4, 3]


def test_the_first_commit_is_held_against_nothing(made):
    made.commit({"a": "1"}, "Begin (#1)")
    assert one(made)["base"] == ""


def test_a_shallow_clone_lacks_what_was_merged(made, tmp_path):
    merge(made, "Merge pull request #1 from x/y\n\nCount the zebras")
    folder = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{made.folder}", folder], check=True)
    with open_repository({"label": "x", "path": str(folder), "url": "", "name": ""}, "", tmp_path, True) as opened:
        (row,) = pulls(opened, ["merge"], 9, "main")
    assert (row["status"], row["reason"]) == ("rejected", "the clone lacks what was merged: it is shallow")


def test_bodies_lose_what_is_not_for_people():
    text = """\
<!-- Describe
what you did -->
It counts.\x00\x1b[31m

Signed-off-by: Ann <a@b>
Co-Authored-By: Bea <b@c>
Change-Id: I0123
---------

Closes #3.\r
Note: this stays.



Cc: Cleo <c@d>"""
    assert body_of(text) == "It counts.[31m\n\nCloses #3.\nNote: this stays."


def test_texts_are_bounded_and_whole():
    assert len(body_of("x " * 1_000_000)) <= 20_000
    assert len(line_of("x " * 1_000_000)) <= 500
    assert line_of("a\u202eb\n\tc\ud800") == "ab c\ufffd"
    assert body_of("") == line_of("") == ""


def test_times_that_no_calendar_has_are_unknown():
    assert dated(1) == "1970-01-01T00:00:01Z"
    assert dated(0) == dated(2**62) == dated(10**18) == ""
