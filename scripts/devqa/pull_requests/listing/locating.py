"""Where in the clone a pull request is whose merge somebody else has recorded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from devqa.pull_requests.listing import messages
from devqa.pull_requests.listing.wording import dated
from devqa.pull_requests.repositories.commits import Commit
from devqa.pull_requests.repositories.repository import FileChange, Missing, Repository
from devqa.steps.outcomes import rejected

LACKING = "the clone lacks what it changed: it is shallow or partial"
UNTOLD = "where it begins can't be told: no commits up to the one that merged it are as large as it is"
# Each number of commits that may have been rebased is compared with the size of the pull request.
_MOST_REBASED = 100


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


def placed(
    repository: Repository,
    merge: str,
    number: int | None,
    measure: Callable[[], Measure | None],
    others: Collection[str],
) -> Place | None:
    """The place of a pull request that was merged with commit `merge`, which is in the clone; None where it can't be
    told.

    A commit with one parent is a squash, or the last one of a rebase. It is a squash if its message names the number,
    or if the pull request is of one commit. Else it is as many commits as are as large as the pull request: fewer than
    it has, where it has merges of its own, and never those of another one.

    Args:
        measure: looks up how large it is, where that decides; None if nobody knows: then it is a squash.
        others: the commits with which other pull requests were merged.

    Raises:
        Missing: the clone does not go back so far.
    """
    commit = repository.read_commit(merge)
    place = _of_commit(commit)
    if place.kind == "merge" or (number and _number(commit) == number):
        return place
    size = measure()
    if size is None or size.commits <= 1:
        return place
    places = _of_rebases(repository, place, min(size.commits, _MOST_REBASED), {None, number}, others)
    return next((each for each in places if _fits(repository, each, size)), None)


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
        place = _of_commit(repository.read_commit(merge))
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


def _of_commit(commit: Commit) -> Place:
    """What a merge or a squash changed: all that its first parent does not have."""
    return Place("merge" if len(commit.parents) > 1 else "squash", (*commit.parents, "")[0], commit.id)


def _of_rebases(
    repository: Repository, last: Place, most: int, numbers: Collection[int | None], others: Collection[str]
) -> Iterator[Place]:
    """The last commit alone, then with the one before it, … up to `most` of them, as far as they can be of the pull
    request: no merges, none that names another number, and none with which another one was merged.
    """
    yield last
    base = last.base
    for _ in range(most - 1):
        if not base or base in others:
            return
        commit = repository.read_commit(base)
        if len(commit.parents) > 1 or _number(commit) not in numbers:
            return
        base = _of_commit(commit).base
        yield Place("rebase", base, last.head)


def _number(commit: Commit) -> int | None:
    said = messages.said(commit.message, merge=False)
    return said.number if said else None


def _fits(repository: Repository, place: Place, size: Measure) -> bool:
    """Is it as large as that? Of files that are not compared line by line here, others may have counted lines."""
    changes = repository.changes(place.base, place.head)
    if len(changes) != size.files:
        return False
    compared = [repository.compared(change) for change in changes]
    added, deleted = sum(each.added for each in compared), sum(each.deleted for each in compared)
    if all(map(_is_counted, compared)):
        return (added, deleted) == (size.added, size.deleted)
    return added <= size.added and deleted <= size.deleted


def _is_counted(change: FileChange) -> bool:
    return not change.binary and all(entry.kind == "file" for entry in (change.old, change.new) if entry)
