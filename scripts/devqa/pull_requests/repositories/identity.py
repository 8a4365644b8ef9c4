"""Which repository it is: its name, its address, and the commit that questions are about."""

import logging
from collections.abc import Mapping
from pathlib import Path

import pygit2

from devqa.errors import UserError
from devqa.pull_requests.repositories.addresses import path_of, public
from devqa.pull_requests.repositories.cloning import cloned, is_partial
from devqa.pull_requests.repositories.repository import Repository

_log = logging.getLogger(__name__)


def identified(options: Mapping[str, str], cache: Path, offline: bool) -> dict[str, str]:
    """`repository` (its label), `name`, `url`, `commit` and `branch` of a repository, which is cloned where that is
    needed.

    Args:
        options: `label`, `path`, `url`, `name`, and `commit` ("": what the clone's HEAD is at).

    Raises:
        UserError: there is no such repository or commit, or the clone lacks files.
    """
    label = options["label"]
    clone = cloned(options, options["commit"], cache, offline)
    lacking = sum(entry.size < 0 for entry in Repository(clone.git.odb, clone.commit, label).files())
    if lacking:
        raise UserError(
            f"pull_requests.repositories.{label}: the clone lacks {lacking:,} files of commit {clone.commit}: see what "
            "git fsck says of it, fetch all (git fetch --refetch), or name one that was made without --filter"
        )
    if is_partial(clone.git):
        # It may have all that matters, or nearly all, so nothing is refused for the mark alone.
        _log.warning(
            "%s: the clone is a partial one (git clone --filter): pull requests that need what it lacks are rejected "
            "(name a clone made without --filter, or the address as url)",
            label,
        )
    if clone.git.is_shallow:
        _log.warning("%s: the clone is shallow: what came before is not looked at (git fetch --unshallow)", label)
    url = public(options["url"] or _remote(clone.git))
    return {
        "repository": label,
        "name": options["name"] or path_of(url) or label,
        "url": url,
        "commit": clone.commit,
        "branch": clone.branch,
    }


def _remote(git: pygit2.Repository) -> str:
    try:
        return git.remotes["origin"].url or ""
    except (KeyError, ValueError, pygit2.GitError):
        return ""
