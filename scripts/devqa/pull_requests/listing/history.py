"""Pull requests in a clone's own history: merge commits, squash commits, or any commit of the mainline."""

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from devqa.pull_requests.listing import messages
from devqa.pull_requests.listing.messages import Said
from devqa.pull_requests.listing.wording import body_of, dated, line_of
from devqa.pull_requests.repositories.commits import Commit
from devqa.pull_requests.repositories.repository import Missing, Repository
from devqa.steps.outcomes import OK, rejected

_WITH_ITSELF = re.compile(r"Merge (remote-tracking )?branch '([\w.-]+/)?(?P<branch>[^']+)'( of \S+)?( into \S+)?")
_COMMITS_TOLD = 50


def pulls(repository: Repository, kinds: Collection[str], latest: int, branch: str) -> list[dict[str, Any]]:
    """The newest `latest` changes of the mainline that count as pull requests, newest first.

    Each has `number` (or None), `title`, `body`, `author`, `labels`, `merged_at`, `kind`, `base`, `head`, `status` and
    `reason`. A merge is everything that came with it: its author is that of the last commit merged.

    Args:
        kinds: which count: `merge`, `squash` (the message names the number), `commit` (any).
        branch: the default branch: a merge of it into itself is rejected.
    """
    return list(islice(_pulls(repository, kinds, branch), latest))


def _pulls(repository: Repository, kinds: Collection[str], branch: str) -> Iterator[dict[str, Any]]:
    for id in reversed(repository.mainline()):
        commit = repository.read_commit(id)
        merge = len(commit.parents) > 1
        said = messages.said(commit.message, merge)
        if merge and "merge" in kinds:
            row = _merge(repository, commit, said, branch)
        elif said and not merge and "squash" in kinds:
            row = _row("squash", said, commit.author, OK)
        elif "commit" in kinds:
            row = _row("commit", Said(None, *messages.parts(commit.message)), commit.author, OK)
        else:
            continue
        yield {**row, "merged_at": dated(commit.time), "base": (*commit.parents, "")[0], "head": id}


def _row(kind: str, said: Said, author: str, status: dict[str, str]) -> dict[str, Any]:
    title, body = line_of(said.title), body_of(said.body)
    return {
        **said._asdict(),
        "title": title,
        "body": body,
        "author": line_of(author),
        "labels": [],
        "kind": kind,
    } | status


def _merge(repository: Repository, commit: Commit, said: Said | None, branch: str) -> dict[str, Any]:
    author, status = commit.author, OK
    try:
        author = repository.read_commit(commit.parents[1]).author
    except Missing:
        status = rejected("the clone lacks what was merged: it is shallow")
    itself = _WITH_ITSELF.fullmatch(messages.parts(commit.message)[0])
    # A fork's branch may have the same name: then the message says which pull request it is.
    if branch and itself and itself["branch"] == branch and not (said and said.number):
        status = rejected("a merge of the branch with itself")
    return _row("merge", _completed(repository, commit, said), author, status)


def _completed(repository: Repository, merge: Commit, said: Said | None) -> Said:
    """Number, title and body of what a merge brought; what its message does not say, the merged commits say."""
    subject, rest = messages.parts(merge.message)
    number, title, body = said or Said(None, "", rest)
    if title and body_of(body):
        return Said(number, title, body)
    brought = [each for each in repository.brought(merge.id) if len(each.parents) < 2]  # noqa: PLR2004 -- no merges
    told = [messages.parts(each.message) for each in brought]
    if len(told) == 1:
        return Said(number, title or told[0][0], body_of(body) or told[0][1])
    listed = "\n".join(f"- {line_of(subject)}" for subject, _ in told[:_COMMITS_TOLD])
    return Said(number, title or subject, body_of(body) or listed)
