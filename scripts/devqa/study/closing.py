"""What is said at the end of a study."""

from collections.abc import Mapping, Sequence

from devqa.ledger import account_lines, stage

# In the order in which data flows.
_TABLES = ("scanned", "unique", "filtered", "sampled", "classified")


def summary(files: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines about what a study has made: how many rows each table has by status, what failed, and where the report is.

    `files` are those of each table, in lists, and `html` and `seeds`.

    Raises:
        UserError: a table can't be read.
    """
    lines = [line for name in _TABLES for line in account_lines(name, stage(name, files[name]), _way_back)]
    return [*lines, f"Study: {files['html']}   Seed dialogues: {files['seeds']}"]


def _way_back(reason: str) -> str:
    return " (asked again by the next run, if it may pass)"
