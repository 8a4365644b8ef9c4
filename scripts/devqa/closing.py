"""What is said at the end of a run."""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from devqa import attempts
from devqa.imports.files import CELL_LIMIT
from devqa.llm.pricing import money
from devqa.llm.spend import Account, dollars

# All stages of the funnel in the order in which data flows, each with the rules that try its failed rows again:
# none where no row fails.
_RULES: dict[str, list[str]] = {
    "dialogues": [],
    "queries": ["queries"],
    "search": ["search"],
    "pages": ["fetch"],
    # A page whose bytes are damaged can't be cleaned, only fetched again.
    "references": ["fetch"],
    "condensed": ["condense"],
    "pairs": ["generate"],
    "checked": ["check"],
    "evidence": ["evidence"],
    "verified": ["verify"],
    "rescued": [],
    "rated": ["difficulty"],
    "merged": [],
    "reviewed": [],
    "domains": ["domains"],
    "retrieved": ["retrieve"],
    "answers": ["answer"],
    "grades": ["judge"],
    "panel": ["panel"],
}
# A table whose name is not its stage's: pairs that people have brought back are rated by themselves.
_STAGES = {"rated_rescued": "rated"}
# Of these every failed row is tried again by the next run.
_SEARCHED = ("search", "pages", "evidence", "retrieved")
# Such rows are mended with those of the stage before, which have hints of their own.
_CONSEQUENCES = ("the search for passages was given up", "there is no answer to grade")
TOLD_TO_STOP = "NOTE  The run was told to stop (SIGTERM): give the same command again to go on."
# As `devqa.job` writes them: the time, the level, and a message that may have several lines.
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d [\d:,]+ ([A-Z]+) ")


def summary(
    results: Path,
    made: Collection[Path],
    rules: Mapping[str, Sequence[str]] = {},
    decisions: Sequence[str] = (),
) -> list[str]:
    """Lines about what a run has made: where the reports are, how much there is, what people decided, what failed.

    Args:
        made: the files that this run has made or found up to date; nothing is said of others.
        rules: the rules that make a stage's table, where they are not always the same.
        decisions: the files of people's decisions about pairs.

    Raises:
        UserError: a table or a file of decisions can't be read.
    """
    rows = _ledger(results, made)
    failed = [row for row in rows if row["status"] == "failed"]
    lines = [*_places(results, made), *_strangers(results, made), *_reviewed(results, made, decisions)]
    lines += [
        f"NOTE  {row['stage']}: {row['rows_out']} of {row['rows_in']} rows: {row['reason']}"
        for row in rows
        if row["status"] == "rejected" and row["stage"] in ("answers", "grades", "panel")
    ]
    lines += [f"FAILED  {row['stage']}: {row['rows_out']} of {row['rows_in']} rows: {row['reason']}" for row in failed]
    lines += _hints(failed, rules)
    if uncounted := sum(int(row["uncounted"]) for row in rows):
        lines.append(f"NOTE  {uncounted:,} calls came without a token count: the cost is too low.")
    return lines


def _places(results: Path, made: Collection[Path]) -> list[str]:
    index = results / "reports/index.html"
    benchmarks = (results / "benchmark.parquet", results / "imported_benchmark.parquet")
    places = [f"Reports: {index}"] if index in made else []
    places += [f"Benchmark: {path} ({_rows(path)} rows)" for path in benchmarks if path in made]
    return ["   ".join(places)] if places else []


def _strangers(results: Path, made: Collection[Path]) -> list[str]:
    unmatched = sorted(path for path in made if path.is_relative_to(results / "imports"))
    counts = {table: count for table in unmatched if (count := _records(table))}
    return [f"NOTE  {count} rows of imported answers match nothing: {table}" for table, count in counts.items()]


def _reviewed(results: Path, made: Collection[Path], decisions: Sequence[str]) -> list[str]:
    """How far people have come with the pairs, once there are decisions."""
    table = results / "reviewed.parquet"
    if not decisions or table not in made:
        return []
    # Not needed at any other end of a run, and slow to import.
    from devqa import tables
    from devqa.review.decisions import pair_decisions
    from devqa.review.following import progress

    rows = tables.read(table, "reviewed")
    said = ", ".join(f"{count:,} {what}" for what, count in progress(rows).items())
    known = {row["pair_id"] for row in rows}
    lost = sum(row["pair_id"] not in known for row in pair_decisions(decisions))
    others = f"; {lost:,} decisions are about pairs that are not there now: kept, not applied" if lost else ""
    return [f"NOTE  review: of {len(rows):,} pairs {said}{others}"]


def _ledger(results: Path, made: Collection[Path]) -> list[dict[str, Any]]:
    """Rows of the funnel: as it is where it belongs to this run and to its tables, else counted from these."""
    funnel, tables = results / "funnel.csv", _tables(results, made)
    latest = max((path.stat().st_mtime for paths in tables.values() for path in paths), default=0)
    if funnel in made and funnel.stat().st_mtime >= latest:
        with funnel.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    # Not needed at any other end of a run, and slow to import.
    from devqa import ledger

    return ledger.funnel([(ledger.stage(name, map(str, paths)), None) for name, paths in tables.items()], {})


def _tables(results: Path, made: Collection[Path]) -> dict[str, list[Path]]:
    """The tables of each stage that are among `made`, in the order in which data flows."""
    parquet = [path for path in made if path.is_relative_to(results) and path.suffix == ".parquet"]
    # One table lies in `results` itself, and many in a folder with the stage's name.
    found = {name: [path for path in parquet if _stage(results, path) == name] for name in _RULES}
    return {name: sorted(paths) for name, paths in found.items() if paths}


def _stage(results: Path, table: Path) -> str:
    name = Path(table.relative_to(results).parts[0]).stem
    return _STAGES.get(name, name)


def _hints(failed: Sequence[Mapping[str, Any]], rules: Mapping[str, Sequence[str]]) -> list[str]:
    """What brings failed rows back. No row has a part in two hints."""
    ways = [(_way(row["stage"], row["reason"]), row["stage"]) for row in failed]
    offline, passing, others = (
        list(dict.fromkeys(stage for way, stage in ways if way == wanted)) for wanted in ("online", "run", "forcerun")
    )
    lines = []
    if offline:
        lines.append(
            f"What is not in the cache ({', '.join(offline)}) is missing because of offline: set offline to false, or "
            "import a cache that has it (cache_import), and give the same command."
        )
    if passing:
        lines.append(f"What was given up is asked again by the next run ({', '.join(passing)}): give the same command.")
    if others:
        known = {**_RULES, **rules}
        again = " ".join(dict.fromkeys(rule for stage in others for rule in known[stage]))
        what = "Other failed rows" if lines else "Failed rows"
        lines.append(f"{what} ({', '.join(others)}) are tried again, and only they, with --forcerun {again}")
    return lines


def _way(stage: str, reason: str) -> str:
    """How failed rows of a stage come back: by going "online", by the next "run", or only by "forcerun"."""
    if reason in _CONSEQUENCES:
        return ""
    if reason.startswith("offline"):
        return "online"
    return "run" if stage in _SEARCHED or "given up" in reason else "forcerun"


def _rows(table: Path) -> int:
    # Not needed at any other end of a run, and slow to import.
    import pyarrow.parquet

    return pyarrow.parquet.read_metadata(table).num_rows


def _records(table: Path) -> int:
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


class Failed(NamedTuple):
    """A job that has failed: its rule, its wildcards, and where it writes its log."""

    rule: str
    wildcards: Mapping[str, str]
    log: Path


def causes(logs: Path, since: float, failed: Iterable[Failed] = ()) -> list[str]:
    """The errors in the log files that were written after `since` (seconds since the epoch), each once.

    What was unexpected is named by its log file, and so are those of the `failed` jobs that have left no word.
    """
    errors: dict[str, None] = {}
    for log in sorted(logs.rglob("*.log")):
        if log.stat().st_mtime >= since:
            errors |= dict.fromkeys(_errors(log))
    errors |= dict.fromkeys(_silent(job) for job in failed if not (job.log.exists() and any(_errors(job.log))))
    return [f"ERROR  {error}" for error in errors]


def _silent(job: Failed) -> str:
    name = ", ".join([job.rule, *job.wildcards.values()])
    if attempts.was_killed(job.rule, job.wildcards):
        return (
            f"{name}: the job was killed before it could say why (see {job.log}). Most often memory has run out: "
            f"{attempts.more_memory(job.rule)}. Was it kill -9, or a node that was lost, give the same command again"
        )
    return f"{name}: the job has left no word of what went wrong in {job.log}: see what Snakemake says above"


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
