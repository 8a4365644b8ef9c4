"""What is said at the end of a run."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from devqa.llm.pricing import money
from devqa.llm.spend import Account, dollars

# The rule that makes a table, where it has another name.
_RULES = {
    "pages": "fetch",
    "references": "clean",
    "condensed": "condense",
    "pairs": "generate",
    "checked": "check",
    "verified": "verify",
    "rated": "difficulty",
    "answers": "answer",
    "grades": "judge",
}
# As `devqa.job` writes them: the time, the level, and a message that may have several lines.
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


def summary(results: Path) -> list[str]:
    """Lines about what a run has made in `results`: where the reports are, how much there is, and what failed."""
    funnel = results / "funnel.csv"
    if not (results / "reports/index.html").exists() or not funnel.exists():
        return []
    with funnel.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = sum(int(row["rows_out"]) for row in rows if row["stage"] == "merged" and row["status"] == "ok")
    lines = [f"Reports: {results}/reports/index.html   Benchmark: {results}/benchmark.parquet ({kept} rows)"]
    failed = [row for row in rows if row["status"] == "failed"]
    lines += [f"FAILED  {row['stage']}: {row['rows_out']} of {row['rows_in']} rows: {row['reason']}" for row in failed]
    if any("given up" in row["reason"] for row in failed):
        lines.append("What was given up is asked again by the next run: give the same command.")
    if failed:
        rules = " ".join(dict.fromkeys(_RULES.get(row["stage"], row["stage"]) for row in failed))
        lines.append(f"All failed rows, and only they, are tried again with --forcerun {rules}")
    if uncounted := sum(int(row["uncounted"]) for row in rows):
        lines.append(f"NOTE  {uncounted:,} calls came without a token count: the cost is too low.")
    return lines


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
