"""Where in the clone a pull request is whose merge somebody else has recorded."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from devqa.pull_requests.listing.wording import dated
from devqa.pull_requests.repositories.commits import Commit
from devqa.pull_requests.repositories.repository import Missing, Repository
from devqa.steps.outcomes import rejected

LACKING = "the clone lacks what it changed: it is shallow or partial"


class Place(NamedTuple):
    """What a pull request changed is the difference of two commits; `kind` is how it was merged."""

    kind: str
    base: str
    head: str


class Measure(NamedTuple):
    """How large a pull request is: its commits, the lines that it added and deleted, the files that it changed."""

    commits: int
    added: int
    deleted: int
    files: int


def absent(repository: Repository, commit: str) -> str:
    """Why nothing is known of `commit`, "" if it is on the way to the pinned one."""
    if not repository.has_commit(commit):
        return f"its commit is not in the clone: {commit}"
    return "" if repository.landing(commit) else f"not on the way to the pinned commit: {commit}"


def placed(repository: Repository, merge: str, number: int | None, measure: Callable[[], Measure | None]) -> Place:
    """The place of a pull request that was merged with commit `merge`, which is in the clone.

    A commit with one parent is a squash, or the last one of a rebase. It is a squash if its subject ends in the number,
    or if the pull request is of one commit, or as large as this one; else all its commits were rebased.

    Args:
        measure: looks up how large it is, where that decides; None if nobody knows.

    Raises:
        Missing: the clone does not go back so far.
    """
    commit = repository.read_commit(merge)
    if len(commit.parents) > 1:
        return Place("merge", commit.parents[0], merge)
    squash = Place("squash", _parent(commit), merge)
    subject = commit.message.strip().partition("\n")[0]
    if number and re.search(rf"[#!]{number}\)\s*$", subject):
        return squash
    size = measure()
    if size is None or size.commits <= 1 or _size_of(repository, squash) == size[1:]:
        return squash
    base = merge
    for _ in range(size.commits):
        base = _parent(repository.read_commit(base))
        if not base:
            return squash
    return Place("rebase", base, merge)


def of_file(repository: Repository, pulls: Iterable[Mapping[str, Any]], latest: int) -> list[dict[str, Any]]:
    """The pull requests of a file, with their places: newest first, as they came onto the mainline, then by line.

    Of those that have a place, all but the `latest` are rejected.
    """
    found = [_of_line(repository, dict(pull)) for pull in pulls]
    positions = {commit: number for number, commit in enumerate(repository.mainline())}
    found.sort(
        key=lambda row: (-positions.get(repository.landing(row["head"]) or "", -1) if row["head"] else 1, row["line"])
    )
    left = latest
    for row in found:
        if row["status"] == "ok":
            left -= 1
            if left < 0:
                row |= rejected(f"older than the latest {latest}")
    return found


def _of_line(repository: Repository, row: dict[str, Any]) -> dict[str, Any]:
    merge, base, head = (row.pop(name) for name in ("merge_commit", "base", "head"))
    row |= {"kind": "", "base": "", "head": ""}
    if row["status"] != "ok":
        return row
    for commit in [merge] if merge else [head, base]:
        if reason := absent(repository, commit):
            return row | rejected(reason)
    if merge:
        place = placed(repository, merge, row["number"], lambda: None)
    else:
        try:
            forked = repository.merge_base(base, head)
        except Missing:
            return row | rejected(LACKING)
        if forked is None:
            return row | rejected("base and head have no common history")
        place = Place("rebase" if repository.landing(head) == head else "merge", forked, head)
    merged = row["merged_at"] or dated(repository.read_commit(repository.landing(place.head)).time)
    return row | place._asdict() | {"merged_at": merged}


def _parent(commit: Commit) -> str:
    return commit.parents[0] if commit.parents else ""


def _size_of(repository: Repository, place: Place) -> tuple[int, int, int]:
    changes = repository.difference(place.base, place.head)
    return sum(each.added for each in changes), sum(each.deleted for each in changes), len(changes)
