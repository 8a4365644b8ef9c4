"""Pull requests, wherever they come from → pulls: what each one changed, and whether it is taken."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from devqa.pull_requests.code.definitions import grammar_of, language_of_grammar
from devqa.pull_requests.listing.filters import CODE, HEAD_BYTES, OTHER_LANGUAGE, counts_as, verdict
from devqa.pull_requests.listing.locating import LACKING
from devqa.pull_requests.repositories.repository import FileChange, Missing, Repository
from devqa.steps.outcomes import rejected
from devqa.tables import Row

# Nobody looks at more, and no table holds them.
_MOST_CHANGES = 5_000


def listed(
    repository: Repository, pulls: Iterable[Mapping[str, Any]], label: str, select: Mapping[str, Any]
) -> list[Row]:
    """Rows of table `pulls`, sorted by number and `pull_id`.

    Args:
        pulls: newest first: `number`, `title`, `body`, `author`, `labels`, `merged_at`, `kind`, `base`, `head`,
            `status` and `reason`; of a file also `line`. Of those that are ok, the commits are in the clone. Of several
            with one number or commit, the first one that is ok is known by it. Of several that are the same change,
            the first one that is taken is the only one.
        label: the repository's.
        select: of the configuration: `bots`, `ignore`, `languages`, `files`.
    """
    rows, taken, changes = [], set(), {}
    for pull in sorted(pulls, key=lambda pull: pull["status"] != "ok"):
        row = {"repository": label, **pull}
        line = row.pop("line", None)
        names = [f"{label}#{row['number']}"] if row["number"] else []
        names += [f"{label}@{row['head']}"] if row["head"] else []
        name = next(name for name in [*names, f"{label}:{line}"] if name not in taken)
        if "#" not in name:
            row["number"] = None
        taken.add(name)
        change = row["base"], row["head"]
        if row["status"] == "ok" and change in changes:
            files, status = [], rejected(f"the same change as {changes[change]}")
        else:
            files, status = _judged(repository, row, select)
            if status.get("status") == "ok":
                changes[change] = name
        rows.append(row | {"pull_id": name, "files": files, **status})
    return sorted(rows, key=lambda row: (row["number"] is None, row["number"] or 0, row["pull_id"]))


def _judged(
    repository: Repository, row: Mapping[str, Any], select: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """What a pull request changed, and its status."""
    if row["status"] != "ok":
        return [], {}
    try:
        changes = repository.changes(row["base"], row["head"])
        if len(changes) > _MOST_CHANGES:
            return [], rejected(f"too many files: {len(changes)}")
        files = [_file(repository, repository.compared(change), select) for change in changes]
    except Missing:
        return [], rejected(LACKING)
    return files, verdict(row["author"], files, select)


def _file(repository: Repository, change: FileChange, select: Mapping[str, Any]) -> dict[str, Any]:
    entry = change.new or change.old
    return {
        "path": entry.path,
        "old_path": change.old.path if change.old else "",
        "status": change.status,
        "added": change.added,
        "deleted": change.deleted,
        "counts_as": _counts_as(repository, change, select["ignore"], select["languages"]),
    }


def _counts_as(repository: Repository, change: FileChange, ignore: Collection[str], languages: Collection[str]) -> str:
    entry = change.new or change.old
    if entry.kind != "file":
        return entry.kind
    content = b"" if change.binary else repository.content(entry.blob)
    reason = counts_as(entry.path, content[:HEAD_BYTES], ignore)
    if reason == CODE and change.binary:
        return "binary or too large"
    if reason == CODE:
        grammar = grammar_of(entry.path, content)
        if grammar is None or language_of_grammar(grammar) not in languages:
            return OTHER_LANGUAGE
    return reason
