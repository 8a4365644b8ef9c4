"""Pull requests from GitHub's REST API."""

import json

import pytest

from committing import Made
from devqa import tables
from devqa.config.pull_requests import Select
from devqa.errors import UserError
from devqa.pull_requests.listing.github import pulls as listing
from devqa.pull_requests.listing.github.client import Client
from devqa.pull_requests.listing.github.pulls import pulls
from devqa.pull_requests.listing.listed import listed
from devqa.pull_requests.listing.locating import UNTOLD
from devqa.web.store import Store
from hub import NAME, Hub, pull
from patience import at_most
from searching import Response
from standins import assert_sound

KEY = "pull_requests.repositories.zoo"
LIST = f"/repos/{NAME}/pulls"


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "github")


@pytest.fixture
def hub():
    with Hub() as running:
        yield running


@pytest.fixture
def client(hub, store):
    return Client(hub.url, KEY, store)


def squashes(made, count):
    made.commit({"a": "0"})
    return [made.commit({"a": str(number)}, f"Pull {number} (#{number})") for number in range(1, count + 1)]


def test_the_latest_merged_ones_are_found_with_what_stands_between(made, hub, client):
    commits = squashes(made, 5)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    hub.pulls += [pull(8, None), pull(9, "f" * 40)]
    rows = pulls(client, made.opened(), NAME, 3)
    assert [(row["number"], row["status"], row["reason"]) for row in rows if row["status"] == "ok"] == [
        (5, "ok", ""),
        (4, "ok", ""),
        (3, "ok", ""),
    ]
    assert {row["number"]: row["reason"] for row in rows if row["status"] != "ok"} == {
        8: "not merged",
        9: f"its commit is not in the clone: {'f' * 40}",
    }
    first = next(row for row in rows if row["number"] == 5)
    assert first | {"reason": ""} == {
        "number": 5,
        "title": "Pull 5",
        "body": "What 5 does.",
        "author": "ann",
        "labels": ["bug"],
        "merged_at": "2024-01-01T00:05:00Z",
        "kind": "squash",
        "base": commits[3],
        "head": commits[4],
        "status": "ok",
        "reason": "",
    }
    assert hub.asked[0].what == {
        "state": "closed",
        "sort": "updated",
        "direction": "desc",
        "per_page": "100",
    }


def test_the_branch_that_it_went_into_does_not_matter(made, hub, client):
    """The default branch had another name once, the clone is on one's own branch, and a release got its own fix."""
    first, second = squashes(made, 2)
    release = made.commit({"a": "fix"}, "Fix (#3)", parents=[first], branch="release")
    hub.pulls = [pull(number, commit) for number, commit in enumerate([first, second, release], 1)]
    for each, branch in zip(hub.pulls, ("master", "main", "release"), strict=True):
        each["base"] = {"ref": branch}
    made.git.references.create("refs/heads/my-feature", second)
    made.git.set_head("refs/heads/my-feature")
    assert [(row["number"], row["reason"]) for row in pulls(client, made.opened(), NAME, 5)] == [
        (3, f"not on the way to the pinned commit: {release}"),
        (2, ""),
        (1, ""),
    ]


@pytest.mark.parametrize("latest", [1, 2, 3, 5, 9])
def test_no_page_too_many_and_none_too_few_is_asked_for(made, hub, client, monkeypatch, latest):
    """One that was merged long ago and talked about since stands before one that was merged later."""
    monkeypatch.setattr(listing, "_PER_PAGE", 2)
    commits = squashes(made, 9)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    hub.pulls[0]["updated_at"] = hub.pulls[2]["updated_at"] = "2024-02-01T00:00:00Z"
    rows = pulls(client, made.opened(), NAME, latest)
    assert [row["number"] for row in rows] == sorted(range(1, 10), reverse=True)[:latest]
    assert len(hub.asked) == {1: 2, 2: 2, 3: 3, 5: 4, 9: 5}[latest]


def test_each_way_to_merge_is_told(made, hub, client):
    first = made.commit({"a": "0\n"})
    side = made.commit({"a": "0\n", "s": "1\n"}, "Side", parents=[first], branch="side")
    merged = made.commit({"a": "0\n", "s": "1\n"}, "Merge pull request #1 from x/y", parents=[first, side])
    squashed = made.commit({"a": "1\n", "s": "1\n"}, "Squashed (#2)")
    renamed = made.commit({"a": "1\n2\n3\n", "s": "1\n"}, "Squashed under a title of its own")
    one = made.commit({"a": "1\n2\n3\n", "s": "2\n"}, "Rebased, part 1")
    two = made.commit({"a": "1\n2\n3\n4\n", "s": "2\n"}, "Rebased, part 2")
    single = made.commit({"a": "x\n", "s": "2\n"}, "Rebased, the only part")
    hub.pulls = [pull(number, commit) for number, commit in enumerate([merged, squashed, renamed, two, single], 1)]
    hub.sizes = {
        3: {"commits": 4, "additions": 2, "deletions": 0, "changed_files": 1},
        4: {"commits": 2, "additions": 2, "deletions": 1, "changed_files": 2},
        5: {"commits": 1, "additions": 1, "deletions": 4, "changed_files": 1},
    }
    rows = pulls(client, made.opened(), NAME, 10)
    assert {row["number"]: (row["kind"], row["base"], row["head"]) for row in rows} == {
        1: ("merge", first, merged),
        2: ("squash", merged, squashed),
        3: ("squash", squashed, renamed),
        4: ("rebase", renamed, two),
        5: ("squash", two, single),
    }
    assert made.opened().read_commit(one).parents == (renamed,)
    assert hub.paths()[1:] == [f"{LIST}/5", f"{LIST}/4", f"{LIST}/3"]


def test_only_what_is_on_the_way_to_the_pinned_commit_counts(made, hub, client):
    commits = squashes(made, 4)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    rows = pulls(client, made.opened(commits[1]), NAME, 2)
    assert [(row["number"], row["status"]) for row in rows] == [(4, "rejected"), (3, "rejected"), (2, "ok"), (1, "ok")]
    assert rows[0]["reason"] == f"not on the way to the pinned commit: {commits[3]}"


def test_what_is_kept_is_asked_conditionally_and_answers_offline(made, hub, client, store):
    commits = squashes(made, 2)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    first = pulls(client, made.opened(), NAME, 5)
    assert pulls(client, made.opened(), NAME, 5) == first
    assert [name for name in hub.asked[1].headers if name.lower() == "if-none-match"]
    offline = Client(hub.url, KEY, store, offline=True)
    assert pulls(offline, made.opened(), NAME, 5) == first
    assert len(hub.asked) == 2
    hub.pulls.append(pull(3, None))
    assert len(pulls(client, made.opened(), NAME, 5)) == 3
    with pytest.raises(UserError, match=r"offline: the cache does not hold all pull requests of ann/other.*latest"):
        pulls(offline, made.opened(), "ann/other", 5)


def test_pages_are_followed_and_each_pull_request_comes_once(made, hub, client, monkeypatch):
    monkeypatch.setattr(listing, "_PER_PAGE", 2)
    commits = squashes(made, 5)
    hub.pulls = [pull(number, commit) for number, commit in enumerate(commits, 1)]
    original = hub._page

    def moving(asked):
        """Between two pages the oldest one is talked about: it comes to the front, and others move on by one."""
        found = original(asked)
        hub.pulls[0]["updated_at"] = "2024-03-01T00:00:00Z"
        return found

    hub._page = moving
    rows = pulls(client, made.opened(), NAME, 50)
    assert [row["number"] for row in rows] == [5, 4, 3, 2]


@pytest.mark.parametrize(
    "odd",
    [
        {"user": None, "labels": None, "body": None},
        {"user": "ann", "labels": ["x", None, {"name": 3}], "body": 7},
        {"merge_commit_sha": None},
        {"merge_commit_sha": "no commit"},
        {"labels": 5},
        {"labels": {"name": "bug"}},
        {"labels": "bug"},
        {"title": "\n", "merged_at": "soon\u202e", "updated_at": ""},
        {"number": 2**62 - 1},
    ],
)
def test_odd_values_stop_nothing(made, hub, client, odd):
    commits = squashes(made, 1)
    hub.pulls = [{**pull(1, commits[0]), **odd}]
    hub.sizes = {2**62 - 1: {}}
    (row,) = pulls(client, made.opened(), NAME, 5)
    assert row["author"] in ("", "ann")
    assert (row["status"] == "ok") == ("merge_commit_sha" not in odd)
    rows = listed(made.opened(), [row], "zoo", Select().model_dump())
    assert_sound(rows, "pulls")
    tables.write(rows, "pulls", made.folder / "pulls.parquet")


def test_of_a_commit_id_no_part_will_do(made, hub, client):
    (commit,) = squashes(made, 1)
    hub.pulls = [pull(1, commit[:8])]
    assert pulls(client, made.opened(), NAME, 5)[0]["reason"].startswith("GitHub does not say")


def test_more_commits_than_the_history_has_end_with_it(made, hub, client):
    commits = squashes(made, 1)
    hub.pulls = [pull(7, commits[0])]
    hub.sizes = {7: {"commits": 2**62, "additions": 0, "deletions": 0, "changed_files": 0}}
    with at_most(30):
        (row,) = pulls(client, made.opened(), NAME, 5)
    assert (row["status"], row["reason"]) == ("rejected", UNTOLD)


@pytest.mark.parametrize(
    "answer",
    [
        {"message": "hello"},
        [7, None, {"number": "1"}],
        "text",
        3,
        [pull(True, None), pull(0, None), pull(2**63, None), pull(-1, None)],
    ],
)
def test_lists_of_anything_else_hold_no_pull_requests(made, hub, client, answer):
    made.commit({"a": "1"})
    hub.answers = [Response(200, json.dumps(answer).encode())]
    assert pulls(client, made.opened(), NAME, 5) == []
