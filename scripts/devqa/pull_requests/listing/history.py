"""Pull requests in a clone's own history: merge commits, squash commits, or any commit of the mainline."""

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, NamedTuple

from devqa.pull_requests.listing.wording import body_of, dated, line_of
from devqa.pull_requests.repositories.commits import Commit
from devqa.pull_requests.repositories.repository import Missing, Repository
from devqa.steps.outcomes import OK, rejected

# The subjects that merges get from GitHub and Gitea; Bitbucket Server and Cloud; Azure DevOps; bors. What follows the
# number is a title where it is one.
_SUBJECTS = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"Merge pull request #(?P<number>\d+) (from|in) \S+.*",
        r"Merge pull request '(?P<title>.*)' \([#!](?P<number>\d+)\) from .*",
        r"Pull request #(?P<number>\d+): (?P<title>.*)",
        r"Merged in \S+ \(pull request #(?P<number>\d+)\)",
        r"Merged PR (?P<number>\d+): (?P<title>.*)",
        r"(Auto merge of|Merge) #(?P<number>\d+)\b.*",
        r"(?P<title>.*\S)\s*\([#!](?P<number>\d+)\)",
    )
]
_SQUASHED = re.compile(r"((?P<title>.*\S)\s*)?\(#(?P<number>\d+)\)", re.DOTALL)
_GITLAB = re.compile(r"^See merge request \S*!(\d+)\s*$", re.MULTILINE)
_WITH_ITSELF = re.compile(
    r"Merge (remote-tracking )?branch '(?P<remote>[\w.-]+/)?(?P<branch>[^']+)'( of \S+)?( into \S+)?"
)
_COMMITS_TOLD = 50
# Python takes no text of thousands of digits for a number, and no forge counts so far.
_MOST_DIGITS = 9


class _Said(NamedTuple):
    """What a commit's message says."""

    number: int | None
    title: str
    body: str


def pulls(repository: Repository, kinds: Collection[str], latest: int, branch: str) -> list[dict[str, Any]]:
    """The newest `latest` changes of the mainline that count as pull requests, newest first.

    Each has `number` (or None), `title`, `body`, `author`, `labels`, `merged_at`, `kind`, `base`, `head`, `status` and
    `reason`. A merge is everything that came with it: its author is that of the last commit merged.

    Args:
        kinds: which count: `merge`, `squash` (the subject ends in the number), `commit` (any).
        branch: the default branch: a merge of it into itself is rejected.
    """
    return list(islice(_pulls(repository, kinds, branch), latest))


def _pulls(repository: Repository, kinds: Collection[str], branch: str) -> Iterator[dict[str, Any]]:
    for id in reversed(repository.mainline()):
        commit = repository.read_commit(id)
        subject = commit.message.strip().partition("\n")[0].strip()
        squashed = _SQUASHED.fullmatch(subject)
        if len(commit.parents) > 1 and "merge" in kinds:
            row = _merge(repository, commit, subject, branch)
        elif squashed and len(commit.parents) < 2 and "squash" in kinds:  # noqa: PLR2004 -- no merge
            said = _Said(_number(squashed["number"]), squashed["title"] or "", _rest(commit.message))
            row = _row("squash", said, commit.author, OK)
        elif "commit" in kinds:
            said = _Said(None, subject, _rest(commit.message))
            row = _row("commit", said, commit.author, OK)
        else:
            continue
        yield {**row, "merged_at": dated(commit.time), "base": (*commit.parents, "")[0], "head": id}


def _row(kind: str, said: _Said, author: str, status: dict[str, str]) -> dict[str, Any]:
    title, body = line_of(said.title), body_of(said.body)
    return {
        **said._asdict(),
        "title": title,
        "body": body,
        "author": line_of(author),
        "labels": [],
        "kind": kind,
    } | status


def _merge(repository: Repository, commit: Commit, subject: str, branch: str) -> dict[str, Any]:
    author, status = commit.author, OK
    try:
        author = repository.read_commit(commit.parents[1]).author
    except Missing:
        status = rejected("the clone lacks what was merged: it is shallow")
    found = _WITH_ITSELF.fullmatch(subject)
    if found and found["branch"] == branch and branch:
        status = rejected("a merge of the branch with itself")
    return _row("merge", _said_by_merge(repository, commit, subject), author, status)


def _said_by_merge(repository: Repository, commit: Commit, subject: str) -> _Said:
    """Number, title and body of what a merge brought; what its message does not say, the merged commits say."""
    found = next((found for pattern in _SUBJECTS if (found := pattern.fullmatch(subject))), None)
    rest = _rest(commit.message)
    number = found["number"] if found else None
    if gitlab := _GITLAB.search(rest):
        number, rest = gitlab[1], _GITLAB.sub("", rest)
    title = found.groupdict().get("title") or "" if found else ""
    if not title and number:
        title, rest = rest.strip().partition("\n")[0], _rest(rest)
    if title and body_of(rest):
        return _Said(_number(number), title, rest)
    brought = [each for each in repository.brought(commit.id) if len(each.parents) < 2]  # noqa: PLR2004 -- no merges
    if len(brought) == 1:
        message = brought[0].message.strip()
        return _Said(_number(number), title or message.partition("\n")[0], body_of(rest) or _rest(message))
    told = [f"- {line_of(each.message.strip().partition(chr(10))[0])}" for each in brought[:_COMMITS_TOLD]]
    return _Said(_number(number), title or subject, body_of(rest) or "\n".join(told))


def _rest(message: str) -> str:
    """A message without its first line."""
    return message.strip().partition("\n")[2]


def _number(text: str | None) -> int | None:
    number = int(text) if text and len(text) <= _MOST_DIGITS else 0
    return number or None
