"""Pull requests in a JSON Lines file, one a line.

    {"number": 12, "title": "…", "body": "…", "author": "…", "labels": ["…"], "merged_at": "…", "merge_commit": "<sha>"}

In place of `merge_commit`, `base` and `head` may say what it changed; of a rebase of several commits they must. Only
`title` and the commits are needed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from devqa.ingest import jsonlines
from devqa.pull_requests.listing.wording import body_of, line_of
from devqa.steps.outcomes import OK, rejected

_LONGEST_LINE = 4_000_000
_TEXTS = ("title", "body", "author", "merged_at", "merge_commit", "base", "head")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?")
_LARGEST_NUMBER = 2**62


def pulls(path: str) -> Iterator[dict[str, Any]]:
    """The pull requests of a file, in its order: `line`, `number` (or None), `title`, `body`, `author`, `labels`,
    `merged_at`, `merge_commit`, `base`, `head` ("" where it says nothing), `status` and `reason`.

    A line that can't be taken is rejected with its number and why. Keys of others' are not looked at.

    Raises:
        UserError: the file can't be read to its end.
    """
    for record in jsonlines.read(path, _LONGEST_LINE):
        problem = record.problem or _problem(record.value)
        row = _row({} if problem else record.value)
        status = rejected(f"line {record.number}: {problem}") if problem else OK
        yield {"line": record.number, **row, **status}


def is_number(value: Any) -> bool:
    """Is it the number of a pull request, such as tables hold?"""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST_NUMBER


def is_commit_id(value: str) -> bool:
    """Are these the 40 hex digits of a commit?"""
    return _COMMIT.fullmatch(value) is not None


def _row(value: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: value.get(name) or "" for name in _TEXTS}
    return {
        "number": value.get("number"),
        **texts,
        "title": line_of(texts["title"]),
        "body": body_of(texts["body"]),
        "author": line_of(texts["author"]),
        "labels": [line_of(label) for label in value.get("labels") or []],
    }


def _problem(value: Any) -> str:
    """Why a value is no pull request; "" if it is one."""
    if not isinstance(value, dict):
        return "no object"
    number = value.get("number")
    if number is not None and not is_number(number):
        return "number is no number of a pull request"
    for name in _TEXTS:
        if not isinstance(value.get(name, ""), str | None):
            return f"{name} is no text"
    labels = value.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return "labels is no list of texts"
    if not line_of(value.get("title") or ""):
        return "title is missing"
    if not _TIME.fullmatch(value.get("merged_at") or ""):
        return "merged_at is no time such as 2025-01-31T12:00:00Z"
    names = ("merge_commit",) if value.get("merge_commit") else ("base", "head")
    for name in names:
        if not value.get(name):
            return "merge_commit is missing (or base and head)"
        if not is_commit_id(value[name]):
            return f"{name} is no commit of 40 hex digits"
    return ""
