"""What is said at the end of a run."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from devqa.imports.files import CELL_LIMIT
from devqa.llm.pricing import money
from devqa.llm.spend import Account, dollars

# The rules that make a table, where they have another name.
_RULES = {
    "pages": ["fetch"],
    "references": ["clean"],
    "condensed": ["condense"],
    "pairs": ["generate"],
    "checked": ["check"],
    "verified": ["verify"],
    "rated": ["difficulty"],
    "retrieved": ["retrieve"],
    "answers": ["answer"],
    "grades": ["judge"],
}
# Of these every failed row is tried again by the next run.
_SEARCHED = ("search", "pages", "evidence", "retrieved")
# As `devqa.job` writes them: the time, the level, and a message that may have several lines.
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


def summary(
    results: Path, imported: bool = False, unmatched: Iterable[Path] = (), rules: Mapping[str, Sequence[str]] = {}
) -> list[str]:
    """Lines about what a run has made in `results`: where the reports are, how much there is, and what failed.

    Args:
        imported: whether the benchmark comes from elsewhere.
        unmatched: tables of those rows of imported answers that match no row of the benchmark.
        rules: the rules that make a stage's table, where they are not always the same.
    """
    funnel = results / "funnel.csv"
    benchmark = results / ("imported_benchmark.parquet" if imported else "benchmark.parquet")
    if not (results / "reports/index.html").exists() or not funnel.exists() or (imported and not benchmark.exists()):
        return []
    with funnel.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = sum(int(row["rows_out"]) for row in rows if row["stage"] == "merged" and row["status"] == "ok")
    kept = _rows(benchmark) if imported else kept
    lines = [f"Reports: {results}/reports/index.html   Benchmark: {benchmark} ({kept} rows)"]
    strangers = {table: count for table in unmatched if (count := _records(table))}
    lines += [f"NOTE  {count} rows of imported answers match nothing: {table}" for table, count in strangers.items()]
    lines += [
        f"NOTE  {row['stage']}: {row['rows_out']} of {row['rows_in']} rows: {row['reason']}"
        for row in rows
        if row["status"] == "rejected" and row["stage"] in ("answers", "grades", "panel")
    ]
    failed = [row for row in rows if row["status"] == "failed"]
    lines += [f"FAILED  {row['stage']}: {row['rows_out']} of {row['rows_in']} rows: {row['reason']}" for row in failed]
    if any("given up" in row["reason"] or row["stage"] in _SEARCHED for row in failed):
        lines.append(
            "What was given up is asked again by the next run, and so are searches and pages that failed: "
            "give the same command."
        )
    if failed:
        known = {**_RULES, **rules}
        again = " ".join(dict.fromkeys(rule for row in failed for rule in known.get(row["stage"], [row["stage"]])))
        lines.append(f"All failed rows, and only they, are tried again with --forcerun {again}")
    if uncounted := sum(int(row["uncounted"]) for row in rows):
        lines.append(f"NOTE  {uncounted:,} calls came without a token count: the cost is too low.")
    return lines


def _rows(table: Path) -> int:
    # Not needed at any other end of a run, and slow to import.
    import pyarrow.parquet

    return pyarrow.parquet.read_metadata(table).num_rows


def _records(table: Path) -> int:
    if not table.exists():
        return 0
    csv.field_size_limit(CELL_LIMIT)
    with table.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


def spending(account: Account, budget_usd: float | None) -> list[str]:
    """A line about what a run has spent, from the sum of its jobs' accounts, and of how much."""
    of = "" if budget_usd is None else f" of {money(budget_usd)} USD (budget_usd)"
    lost = ""
    if account.broken_off:
        lost = f"; requests that were broken off may have cost up to {money(dollars(account.broken_off))} USD more"
    return [f"This run spent {money(dollars(account.spent))} USD{of}{lost}"]


def causes(logs: Path, since: float) -> list[str]:
    """The errors in the log files that were written after `since` (seconds since the epoch), each once.

    What was unexpected is named by its log file.
    """
    errors: dict[str, None] = {}
    for log in sorted(logs.rglob("*.log")):
        if log.stat().st_mtime >= since:
            errors |= dict.fromkeys(_errors(log))
    return [f"ERROR  {error}" for error in errors]


def _errors(log: Path) -> Iterator[str]:
    entry: list[str] | None = None
    for line in [*log.read_text(encoding="utf-8", errors="replace").splitlines(), "0000-00-00 0 END "]:
        start = _ENTRY.match(line)
        if start and entry:
            yield f"{entry[0]} (see {log})" if entry[0] == "unexpected error" else "\n".join(entry)
        if start:
            entry = [line[start.end() :]] if start[1] == "ERROR" else None
        elif entry:
            entry.append(line)
