"""The attrition ledger: how many rows went in and out at every step, why, and at what cost."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from devqa.errors import UserError
from devqa.llm.pricing import cost_usd
from devqa.tables import SCHEMAS, Row, batches
from devqa.usage import COUNTS, added, usages

COLUMNS = ("stage", "status", "reason", "rows_in", "rows_out", *COUNTS, "usd")

# Each table with the one whose `ok` rows it was given.
PARENTS = {
    "dialogues": None,
    "queries": "dialogues",
    "search": "queries",
    "pages": "search",
    "references": "pages",
    "condensed": "references",
    "pairs": "search",
    "checked": "pairs",
    "evidence": "checked",
    "verified": "evidence",
    # Where people have decided: those that were not verified. They are rated beside those that were.
    "rescued": "verified",
    "rated": "verified",
    "merged": "rated",
    "reviewed": "merged",
}
# Tables that have the schema of another one.
_SCHEMA_OF = {"rescued": "verified", "panel": "grades"}

# What comes after the benchmark.
_EVALUATION = ("domains", "retrieved", "answers", "grades", "panel")

# Reasons of failed rows begin with one of these (devqa.steps.accounts), or with whose answer it is that ended so.
OUTCOMES = ("refused", "truncated", "empty", "error")
_STATUSES = ("ok", "rejected", "failed")
_NUMBER = re.compile(r"(?<!HTTP )(?<![\w.])\d[\d,.]*(?!\w)")


class Stage:
    """One table's account: rows by status and reason, and what was spent on them by model."""

    def __init__(self, name: str):
        self.name = name
        self.counts: Counter[tuple[str, str]] = Counter()
        self.spent: dict[tuple[str, str], list[Row]] = {}
        self.results = 0

    @property
    def rows(self) -> int:
        """All rows, whatever became of them."""
        return self.counts.total()

    @property
    def passed(self) -> int:
        """Rows that the next step takes."""
        return self._with("ok")

    @property
    def rejected(self) -> int:
        """Rows that are not what is wanted. Of `verified`, those that people may bring back."""
        return self._with("rejected")

    def _with(self, wanted: str) -> int:
        return sum(count for (status, _), count in self.counts.items() if status == wanted)

    def add(self, rows: Iterable[Row]) -> None:
        """Count rows of the table."""
        spent: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows:
            key = (row["status"], general(row["reason"] or ""))
            self.counts[key] += 1
            spent[key] += row.get("usage") or []
            if row["status"] == "ok":
                self.results += len(row.get("results") or [])
        for key, entries in spent.items():
            self.spent[key] = usages(self.spent.get(key, []), entries)


def stage(name: str, paths: Iterable[str]) -> Stage:
    """The account of the table of that name, read from its files without their long texts.

    Of `reviewed`, without pairs that the evidence did not support and people did not bring back into the benchmark:
    they were lost before, as `rescued` says.
    """
    table = _SCHEMA_OF.get(name, name)
    read = ("status", "reason", "usage", "results", "supported")
    wanted = [column for column in read if column in SCHEMAS[table].names]
    account = Stage(name)
    for batch in batches(paths, table, 10_000, columns=wanted):
        account.add(row for row in batch if row.get("supported", True) or row["status"] == "ok")
    return account


def account_lines(name: str, account: Stage, way_back: Callable[[str], str]) -> list[str]:
    """What is said of a table at the end of a run: rows by status, and the reasons of failed ones, most frequent first.

    Args:
        name: what the table is called there.
        way_back: gives of a reason how such rows come back, in words for the end of its line.
    """
    counts = dict.fromkeys(_STATUSES, 0)
    for (status, _), count in account.counts.items():
        counts[status] += count
    statuses = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    failed = [
        f"FAILED  {name}: {count:,} of {account.rows:,} rows: {reason}{way_back(reason)}"
        for (status, reason), count in account.counts.most_common()
        if status == "failed"
    ]
    return [f"{name}: {account.rows:,} rows{f' ({statuses})' if statuses else ''}", *failed]


def stages(inputs: Mapping[str, Sequence[str]], pairs: int, asked: int) -> list[tuple[Stage, int | None]]:
    """The account of every table that is there, in the order in which data flows, with the rows that it was given.

    A benchmark from elsewhere has none of the tables before it; people's decisions, domains, passages and a panel are
    optional.

    Args:
        inputs: the files of each table; `panel` has those of all further judges, who grade every answer.
        pairs: how many pairs are asked for per dialogue.
        asked: how many rows of the benchmark each model is asked.
    """
    files = {name: found for name in (*PARENTS, *_EVALUATION) if (found := _files(inputs.get(name)))}
    account = {name: stage(name, paths) for name, paths in files.items()}
    given: dict[str, int | None] = {}
    for name in account:
        match name:
            case "pages":
                given[name] = account["search"].results
            case "pairs":
                given[name] = account["search"].passed * pairs
            case "rescued":
                given[name] = account["verified"].rejected
            case "rated":
                given[name] = sum(account[each].passed for each in ("verified", "rescued") if each in account)
            case "domains":
                given[name] = asked
            case "retrieved":
                # For every row of the benchmark: how many one from elsewhere has is not known here.
                given[name] = account["reviewed"].passed if "reviewed" in account else None
            case "answers":
                given[name] = len(files["answers"]) * asked
            case "grades":
                given[name] = account["answers"].rows
            case "panel":
                given[name] = account["answers"].rows * len(files["panel"]) // len(files["answers"])
            case _:
                parent = PARENTS[name]
                given[name] = account[parent].passed if parent else None
    return [(account[name], given[name]) for name in account]


def _files(paths: str | Sequence[str] | None) -> list[str]:
    return [paths] if isinstance(paths, str) else list(paths or [])


def check(stages: Sequence[tuple[Stage, int | None]]) -> None:
    """Refuse a ledger that does not add up.

    Args:
        stages: each stage with the number of rows that the step before handed to it (None where it is the first).

    Raises:
        UserError: a table has more or fewer rows than were handed to it.
    """
    for account, expected in stages:
        if expected is not None and account.rows != expected:
            raise UserError(
                f"the ledger does not add up: {account.name} was given {expected} rows and has {account.rows}; "
                f"delete results/{account.name}* and run again"
            )


def funnel(
    stages: Sequence[tuple[Stage, int | None]], prices: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Rows of `funnel.csv`: one per stage, status and reason; `rows_out` of a stage add up to its `rows_in`.

    USD are today's configured prices times the tokens that the answers took when they were paid for, without the
    calls that are `uncounted`, and times the requests to the search engine.
    """
    rows = []
    for account, _ in stages:
        for status, reason in sorted(
            account.counts, key=lambda key: (_STATUSES.index(key[0]), -account.counts[key], key[1])
        ):
            spent = account.spent[status, reason]
            rows.append(
                {
                    "stage": account.name,
                    "status": status,
                    "reason": reason,
                    "rows_in": account.rows,
                    "rows_out": account.counts[status, reason],
                    **added(spent),
                    "usd": round(cost_usd(spent, prices), 6),
                }
            )
    return rows


@lru_cache(maxsize=10_000)
def general(reason: str) -> str:
    """A reason without its particulars, so that equal faults are counted together.

    What follows a colon is left out, but an outcome such as `error:`, or `the judge's answer is error:`, says too
    little alone and keeps what comes next; numbers become N, but for HTTP's.
    """
    parts = reason.split(":")
    head = ":".join(parts[: 2 if parts[0].rpartition(" ")[2] in OUTCOMES else 1])
    return " ".join(_NUMBER.sub("N", head).split())[:120]
