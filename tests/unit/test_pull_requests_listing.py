"""Table `pulls`: rows from a history, from GitHub and from a file."""

import json
import subprocess

import pytest

from committing import Link, Made, Object, Submodule
from devqa import tables
from devqa.config.pull_requests import Select
from devqa.errors import UserError
from devqa.pull_requests.listing import history
from devqa.pull_requests.listing import listed as listing
from devqa.pull_requests.listing.listed import listed
from devqa.pull_requests.listing.locating import LACKING, UNTOLD
from devqa.pull_requests.listing.sources import pulls
from devqa.pull_requests.repositories.repository import open_repository
from hub import NAME, Hub, pull
from standins import assert_sound

SELECT = Select().model_dump()
TEXT = "".join(f"line = {number}\n" for number in range(20))


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


def rows_of(made, latest=100, select=None, kinds=("merge", "squash")):
    opened = made.opened()
    rows = listed(opened, history.pulls(opened, kinds, latest, "main"), "zoo", {**SELECT, **(select or {})})
    assert_sound(rows, "pulls")
    return rows


def sources(made, options, files=(), cache=None, offline=False, name=NAME):
    defaults = {"label": "zoo", "history": ["merge", "squash"], "api": "", "latest": 100}
    identity = {"name": name, "branch": "main"}
    return pulls(made.opened(), identity, defaults | options, files, None, cache, offline)


def from_file(made, path, **options):
    opened = made.opened()
    rows = listed(opened, sources(made, {"pulls": str(path), **options}, [str(path)]), "zoo", SELECT)
    assert_sound(rows, "pulls")
    return rows


def written(tmp_path, *lines):
    path = tmp_path / "pulls.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_files_are_listed_with_what_becomes_of_each(made):
    made.commit({"src/a.py": TEXT, "gone.py": "x\n", "yarn.lock": "1", "same.py": "s"})
    made.commit(
        {
            "lib/a.py": TEXT + "more = 1\n",
            "yarn.lock": "2\n",
            "tests/test_a.py": "t\n",
            "style.css": "a\n",
            "pic.go": b"\0",
            "same.py": "s",
            "to": Link(b"x"),
            "sub": Submodule("1" * 40),
            b"caf\xe9\n.py": "y\n",
        },
        "Move (#5)",
    )
    (row,) = rows_of(made)
    assert {file["path"]: (file["old_path"], file["status"], file["counts_as"]) for file in row["files"]} == {
        "caf\\xe9\\x0a.py": ("", "added", "code"),
        "gone.py": ("gone.py", "deleted", "code"),
        "lib/a.py": ("src/a.py", "renamed", "code"),
        "pic.go": ("", "added", "binary or too large"),
        "style.css": ("", "added", "other language"),
        "sub": ("", "added", "submodule"),
        "tests/test_a.py": ("", "added", "test"),
        "to": ("", "added", "link"),
        "yarn.lock": ("yarn.lock", "modified", "lock file"),
    }
    assert (row["pull_id"], row["repository"], row["number"], row["status"]) == ("zoo#5", "zoo", 5, "ok")
    assert next(file["added"] for file in row["files"] if file["path"] == "lib/a.py") == 1


def test_the_languages_that_are_wanted_count(made):
    made.commit({"a.py": "1"})
    made.commit({"a.py": "2", "b.h": "namespace zoo { class A; }\n"}, "Change (#1)")
    assert rows_of(made, select={"languages": ["cpp"]})[0]["status"] == "ok"
    assert {file["counts_as"] for file in rows_of(made, select={"languages": ["cpp"]})[0]["files"]} == {
        "code",
        "other language",
    }
    assert rows_of(made, select={"languages": ["go"]})[0]["reason"] == "no file in one of select.languages"


def test_each_pull_request_has_a_name_of_its_own(made):
    made.commit({"a.py": "0"})
    first = made.commit({"a.py": "1"}, "Fix (#7)")
    made.commit({"a.py": "2"}, "Fix again (#7)")
    third = made.commit({"a.py": "3"}, "No number")
    rows = rows_of(made, kinds=("squash", "commit"))
    assert [(row["pull_id"], row["number"]) for row in rows[:1]] == [("zoo#7", 7)]
    assert {row["pull_id"] for row in rows[1:]} >= {f"zoo@{first}", f"zoo@{third}"}
    assert [row["number"] for row in rows[1:]] == [None] * 3
    assert [row["pull_id"] for row in rows] == [rows[0]["pull_id"], *sorted(row["pull_id"] for row in rows[1:])]


def test_the_same_change_counts_once(made, tmp_path):
    first = made.commit({"a.py": "0", "b.py": "0"})
    bot = made.commit({"a.py": "1", "b.py": "0"}, "By a bot")
    merge = made.commit({"a.py": "1", "b.py": "1"}, "Change")
    path = written(
        tmp_path,
        {"number": 1, "title": "A bot", "merge_commit": merge, "author": "dependabot[bot]"},
        {"number": 2, "title": "The change", "merge_commit": merge},
        {"number": 3, "title": "Again", "merge_commit": merge},
        {"number": 4, "title": "In other words", "base": bot, "head": merge},
        {"title": "Without a number", "merge_commit": merge},
        {"number": 6, "title": "More", "base": first, "head": merge},
    )
    rows = {row["title"]: row for row in from_file(made, path)}
    assert {title: row["reason"] for title, row in rows.items()} == {
        "A bot": "a bot: dependabot[bot]",
        "The change": "",
        "Again": "the same change as zoo#2",
        "In other words": "the same change as zoo#2",
        "Without a number": "the same change as zoo#2",
        "More": "",
    }
    taken = [(row["base"], row["head"]) for row in rows.values() if row["status"] == "ok"]
    assert len(taken) == len(set(taken))


def test_too_many_changes_are_not_listed(made, monkeypatch):
    monkeypatch.setattr(listing, "_MOST_CHANGES", 3)
    made.commit({"a.py": "0"})
    made.commit({f"{number}.py": "1" for number in range(4)}, "All (#1)")
    (row,) = rows_of(made)
    assert (row["files"], row["reason"]) == ([], "too many files: 5")


def test_what_the_clone_lacks_rejects_its_pull_request_alone(made):
    made.commit({"a.py": "0"})
    made.commit({"a.py": Object("2" * 40)}, "Lost (#1)")
    made.commit({"a.py": "1"}, "Lost too (#2)")
    made.commit({"a.py": "2"}, "There (#3)")
    assert [row["reason"] for row in rows_of(made)] == [
        "the clone lacks what it changed: it is shallow or partial"
    ] * 2 + [""]


def test_the_same_rows_are_the_same_bytes(made, tmp_path):
    made.commit({"a.py": "0"})
    for number in range(5):
        made.commit({"a.py": f"{number}\n" * 3}, f"Step (#{number + 1})")
    for name in ("one", "two"):
        tables.write(rows_of(made), "pulls", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_pull_requests_of_a_file_are_found_in_the_clone(made, tmp_path):
    first = made.commit({"a.py": "0"})
    squashed = made.commit({"a.py": "1"}, "Squashed")
    side = made.commit({"a.py": "0", "s.py": "1"}, "Side", parents=[first], branch="side")
    merged = made.commit({"a.py": "1", "s.py": "1"}, "Merge", parents=[squashed, side])
    one = made.commit({"a.py": "2", "s.py": "1"}, "Part 1")
    two = made.commit({"a.py": "3", "s.py": "1"}, "Part 2")
    path = written(
        tmp_path,
        {"number": 1, "title": "Squashed", "merge_commit": squashed, "author": "bea", "labels": ["x"], "body": "b"},
        {"number": 2, "title": "Merged", "merge_commit": merged, "more": "is not looked at"},
        {"number": 3, "title": "From the branch", "base": squashed, "head": side, "merged_at": "2020-01-01T00:00:00Z"},
        {"number": 4, "title": "A range", "base": merged, "head": two, "body": None, "labels": None},
    )
    rows = from_file(made, path)
    assert [(row["number"], row["kind"], row["base"], row["head"], row["status"]) for row in rows] == [
        (1, "squash", first, squashed, "ok"),
        (2, "merge", squashed, merged, "ok"),
        (3, "merge", first, side, "ok"),
        (4, "rebase", merged, two, "ok"),
    ]
    assert [[file["path"] for file in row["files"]] for row in rows] == [["a.py"], ["s.py"], ["s.py"], ["a.py"]]
    assert (rows[0]["author"], rows[0]["labels"], rows[0]["body"]) == ("bea", ["x"], "b")
    assert rows[2]["merged_at"] == "2020-01-01T00:00:00Z"
    assert rows[3]["merged_at"].startswith("2023-11-15T")
    assert one


GOOD = {"title": "Fine", "merge_commit": "a" * 40}
BROKEN = {
    "{broken": "broken JSON: ",
    "7": "no object",
    json.dumps({**GOOD, "number": "7"}): "number is no number of a pull request",
    json.dumps({**GOOD, "number": 0}): "number is no number of a pull request",
    json.dumps({**GOOD, "number": True}): "number is no number of a pull request",
    json.dumps({**GOOD, "number": 10**30}): "number is no number of a pull request",
    json.dumps({**GOOD, "title": " \n"}): "title is missing",
    json.dumps({**GOOD, "title": 3}): "title is no text",
    json.dumps({**GOOD, "labels": "bug"}): "labels is no list of texts",
    json.dumps({**GOOD, "labels": [1]}): "labels is no list of texts",
    json.dumps({**GOOD, "merge_commit": "abc"}): "merge_commit is no commit of 40 hex digits",
    json.dumps({**GOOD, "merged_at": "yesterday"}): "merged_at is no time such as",
    json.dumps({"title": "Fine"}): "merge_commit is missing (or base and head)",
    json.dumps({"title": "Fine", "head": "b" * 40}): "merge_commit is missing (or base and head)",
    json.dumps({"title": "Fine", "head": "b" * 40, "base": "HEAD"}): "base is no commit of 40 hex digits",
}


def test_broken_lines_are_rejected_with_their_number(made, tmp_path):
    squashed = made.commit({"a.py": "0"}, "Fine")
    path = written(tmp_path, *BROKEN, "", {"title": "Fine \ud800", "merge_commit": squashed})
    rows = {row["pull_id"]: row for row in from_file(made, path)}
    assert len(rows) == len(BROKEN) + 1
    for number, said in enumerate(BROKEN.values(), 1):
        row = rows[f"zoo:{number}"]
        assert row["status"] == "rejected"
        assert row["reason"].startswith(f"line {number}: {said}")
    assert rows[f"zoo@{squashed}"]["title"] == "Fine \ufffd"


def test_commits_of_a_file_that_are_elsewhere_are_said(made, tmp_path):
    first = made.commit({"a.py": "0"})
    last = made.commit({"a.py": "1"})
    beside = made.commit({"b.py": "1"}, parents=[first], branch="beside")
    unrelated = made.commit({"c.py": "1"}, parents=[], branch="unrelated")
    joined = made.commit({"a.py": "1", "c.py": "1"}, parents=[last, unrelated])
    path = written(
        tmp_path,
        {"title": "1", "merge_commit": "a" * 40},
        {"title": "2", "merge_commit": beside},
        {"title": "3", "base": unrelated, "head": last},
        {"title": "4", "merge_commit": joined},
        {"title": "5", "merge_commit": joined},
    )
    rows = {row["title"]: row for row in from_file(made, path)}
    assert rows["1"]["reason"] == f"its commit is not in the clone: {'a' * 40}"
    assert rows["2"]["reason"] == f"not on the way to the pinned commit: {beside}"
    assert rows["3"]["reason"] == "base and head have no common history"
    assert rows["4"]["pull_id"] == f"zoo@{joined}"
    assert (rows["5"]["pull_id"], rows["5"]["reason"]) == ("zoo:5", f"the same change as zoo@{joined}")


def test_of_a_shallow_clone_what_is_there_is_taken(made, tmp_path):
    commits = [made.commit({"a.py": f"{number}\n"}, f"Step {number}") for number in range(5)]
    folder = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=2", f"file://{made.folder}", folder], check=True)
    path = written(
        tmp_path,
        {"number": 1, "title": "Before it", "merge_commit": commits[2]},
        {"number": 2, "title": "At its end", "merge_commit": commits[3]},
        {"number": 3, "title": "In it", "merge_commit": commits[4]},
        {"number": 4, "title": "From its end", "base": commits[3], "head": commits[4]},
    )
    with (
        open_repository({"label": "zoo", "path": str(folder), "url": ""}, "", tmp_path, True) as opened,
        Hub(*(pull(number, commit) for number, commit in enumerate(commits, 1))) as hub,
    ):
        hub.sizes = {
            number: {"commits": number - 2, "additions": 9, "deletions": 9, "changed_files": 9}
            for number in range(1, 6)
        }
        options = {"label": "zoo", "history": ["merge", "commit"], "api": hub.url, "latest": 100}
        found = {}
        for source in ("github", "history", str(path)):
            identity = {"name": NAME, "branch": "main"}
            pulled = pulls(opened, identity, {**options, "pulls": source}, [str(path)], None, tmp_path, False)
            found[source] = listed(opened, pulled, "zoo", SELECT)
            assert_sound(found[source], "pulls")
    absent = [f"its commit is not in the clone: {commit}" for commit in commits]
    # Of three commits, of which two are there, one is another's.
    assert [row["reason"] for row in found["github"]] == [*absent[:3], LACKING, UNTOLD]
    assert sorted(row["reason"] for row in found["history"]) == ["", LACKING]
    assert [row["reason"] for row in found[str(path)]] == [absent[2], LACKING, "", "the same change as zoo#3"]


def test_of_a_file_the_latest_are_taken(made, tmp_path):
    made.commit({"a.py": "x"})
    commits = [made.commit({"a.py": str(number)}) for number in range(4)]
    order = [2, 0, 3, 1]
    path = written(tmp_path, *({"number": place + 1, "title": "T", "merge_commit": commits[place]} for place in order))
    rows = from_file(made, path, latest=2)
    assert [(row["number"], row["reason"]) for row in rows] == [
        (1, "older than the latest 2"),
        (2, "older than the latest 2"),
        (3, ""),
        (4, ""),
    ]


def test_a_file_may_be_packed_and_must_be_whole(made, tmp_path):
    import gzip

    squashed = made.commit({"a.py": "0"})
    whole = gzip.compress(json.dumps({"title": "T", "merge_commit": squashed}).encode())
    path = tmp_path / "pulls.jsonl.gz"
    path.write_bytes(whole)
    assert len(from_file(made, path)) == 1
    path.write_bytes(whole[:-9])
    with pytest.raises(UserError, match="pulls.jsonl.gz can't be read"):
        from_file(made, path)


def test_pull_requests_of_github_are_listed(made, tmp_path):
    made.commit({"a.py": "0\n"})
    commits = [made.commit({"a.py": f"{number}\n"}, f"Step (#{number})") for number in range(1, 4)]
    with Hub(*(pull(number, commit) for number, commit in enumerate(commits, 1)), pull(9, None)) as hub:
        found = sources(made, {"pulls": "github", "api": hub.url}, cache=tmp_path)
    again = sources(made, {"pulls": "github", "api": hub.url}, cache=tmp_path, offline=True)
    assert again == found
    opened = made.opened()
    rows = listed(opened, found, "zoo", SELECT)
    assert_sound(rows, "pulls")
    assert [(row["pull_id"], row["status"]) for row in rows] == [
        ("zoo#1", "ok"),
        ("zoo#2", "ok"),
        ("zoo#3", "ok"),
        ("zoo#9", "rejected"),
    ]


@pytest.mark.parametrize("name", ["zoo", "a/b/c", "ann/zoo?x", "", "ann/../zoo"])
def test_github_wants_owner_and_name(made, tmp_path, name):
    made.commit({"a.py": "0"})
    with pytest.raises(UserError, match=r"repositories\.zoo\.name: .* is no owner/name"):
        sources(made, {"pulls": "github", "api": "http://127.0.0.1:9"}, cache=tmp_path, name=name)
