"""Where the pull requests of a repository come from."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa.errors import UserError
from devqa.pull_requests.listing import history, locating, pull_files
from devqa.pull_requests.listing.github.opening import open_client
from devqa.pull_requests.listing.github.pulls import pulls as listed_by_github
from devqa.pull_requests.repositories.repository import Repository


def pulls(
    repository: Repository,
    identity: Mapping[str, str],
    options: Mapping[str, Any],
    files: Sequence[str],
    token_env: str | None,
    cache: Path,
    offline: bool,
) -> list[dict[str, Any]]:
    """The pull requests that are looked at, as `devqa.pull_requests.listing.listed.listed` wants them.

    Args:
        identity: `name` and `branch` of the repository.
        options: of the recipe: `label`, `pulls` (history, github, or a file), `history`, `api`, `latest`.
        files: the JSON Lines file, if that is what holds them.

    Raises:
        UserError: they can't be read.
    """
    label, latest = options["label"], options["latest"]
    if options["pulls"] == "history":
        return history.pulls(repository, options["history"], latest, identity["branch"])
    if options["pulls"] != "github":
        return locating.of_file(repository, (row for file in files for row in pull_files.pulls(file)), latest)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", identity["name"], re.ASCII):
        raise UserError(
            f"pull_requests.repositories.{label}.name: '{identity['name']}' is no owner/name, by which GitHub knows a "
            "repository: name it so"
        )
    client = open_client(label, options["api"], token_env, cache, offline)
    return listed_by_github(client, repository, identity["name"], latest)
