"""What is said at the end of a study."""

from collections import Counter
from collections.abc import Mapping, Sequence

from devqa import tables
from devqa.ledger import general

# In the order in which data flows.
_TABLES = ("scanned", "unique", "filtered", "sampled", "classified")
_BATCH = 10_000


def summary(files: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines about what a study has made: how many rows each table has by status, what failed, and where the report is.

    `files` are those of each table, in lists, and `html` and `seeds`.

    Raises:
        UserError: a table can't be read.
    """
    lines = [line for name in _TABLES for line in _of_table(name, files[name])]
    return [*lines, f"Study: {files['html']}   Seed dialogues: {files['seeds']}"]


def _of_table(name: str, paths: Sequence[str]) -> list[str]:
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for batch in tables.batches(paths, name, _BATCH, ["status", "reason"]):
        counts.update(row["status"] for row in batch)
        reasons.update(general(row["reason"]) for row in batch if row["status"] == "failed")
    statuses = ", ".join(f"{counts[status]:,} {status}" for status in ("ok", "rejected", "failed") if counts[status])
    failed = [
        f"FAILED  {name}: {count:,} of {counts.total():,} rows: {reason} (asked again by the next run, if it may pass)"
        for reason, count in reasons.most_common()
    ]
    return [f"{name}: {counts.total():,} rows{f' ({statuses})' if statuses else ''}", *failed]
