"""The pull requests that GitHub lists, with their places in the clone."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from devqa.errors import UserError
from devqa.pull_requests.listing.github.client import Client
from devqa.pull_requests.listing.locating import LACKING, UNTOLD, Measure, absent, placed
from devqa.pull_requests.listing.pull_files import is_commit_id, is_number
from devqa.pull_requests.listing.wording import body_of, line_of
from devqa.pull_requests.repositories.repository import Missing, Repository
from devqa.steps.outcomes import OK, rejected
from devqa.web.store import NotKept

_PER_PAGE = 100


def pulls(client: Client, repository: Repository, name: str, latest: int) -> list[dict[str, Any]]:
    """The `latest` pull requests that were merged last and are on the way to the pinned commit, and those that GitHub
    lists between them (not merged, or not in the clone: rejected). Newest first, each as
    `devqa.pull_requests.listing.listed.listed` wants it. Into which branch does not matter: one that is the default
    branch now may have had another name, and the clone says what has come to the pinned commit.

    Args:
        name: owner/name.

    Raises:
        UserError: GitHub knows nothing of it, or nothing may be sent and not all is kept.
    """
    try:
        rows = _newest(client, repository, name, latest)
        merged = [row for row in rows if row["status"] == "ok"]
        merges = {row["head"] for row in merged}
        for row in merged[:latest]:
            number = row["number"]
            try:
                place = placed(repository, row["head"], number, partial(_measure, client, name, number), merges)
                row |= place._asdict() if place else rejected(UNTOLD)
            except Missing:
                row |= rejected(LACKING)
    except NotKept as error:
        raise UserError(
            f"offline: the cache does not hold all pull requests of {name} that are wanted ({error}): set offline to "
            "false, or ask for fewer (latest)"
        ) from None
    beyond = {row["number"] for row in merged[latest:]}
    return [row for row in rows if row["number"] not in beyond]


def _newest(client: Client, repository: Repository, name: str, latest: int) -> list[dict[str, Any]]:
    """All that must be looked at, newest first; of those that are ok, `head` is the commit that merged them."""
    parameters = {"state": "closed", "sort": "updated", "direction": "desc", "per_page": _PER_PAGE}
    found: dict[int, dict[str, Any]] = {}
    for page in client.pages(f"/repos/{name}/pulls", parameters):
        values = [value for value in page if _is_pull(value)] if isinstance(page, list) else []
        for value in values:
            # While pages are asked for, what is updated moves to the first one, and others to the next.
            found.setdefault(value["number"], _row(repository, value))
        merged = sorted((row["merged_at"] for row in found.values() if row["status"] == "ok"), reverse=True)
        # Nothing on later pages was updated, so nothing was merged, after this.
        oldest = min((value["updated_at"] for value in values), default="")
        if not values or (len(merged) >= latest and merged[latest - 1] >= oldest):
            break
    return sorted(found.values(), key=lambda row: (row["merged_at"], row["number"]), reverse=True)


def _is_pull(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and is_number(value.get("number"))
        and isinstance(value.get("title"), str)
        and isinstance(value.get("updated_at"), str)
    )


def _row(repository: Repository, value: Mapping[str, Any]) -> dict[str, Any]:
    merge = _text(value.get("merge_commit_sha"))
    row = {
        "number": value["number"],
        "title": line_of(value["title"]),
        "body": body_of(_text(value.get("body"))),
        "author": line_of(_text(_mapping(value.get("user")).get("login"))),
        "labels": [line_of(_text(_mapping(label).get("name"))) for label in _list(value.get("labels"))],
        "merged_at": line_of(_text(value.get("merged_at"))),
        "kind": "",
        "base": "",
        "head": "",
    }
    if not row["merged_at"]:
        return row | rejected("not merged")
    if not is_commit_id(merge):
        return row | rejected("GitHub does not say with which commit it was merged")
    reason = absent(repository, merge)
    return row | (rejected(reason) if reason else {"head": merge, **OK})


def _measure(client: Client, name: str, number: int) -> Measure | None:
    """How large a pull request is, None if GitHub does not say."""
    value = _mapping(client.get(f"/repos/{name}/pulls/{number}"))
    sizes = [value.get(key) for key in ("commits", "additions", "deletions", "changed_files")]
    return Measure(*sizes) if all(isinstance(size, int) for size in sizes) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
