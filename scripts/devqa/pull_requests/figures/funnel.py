"""Where pull requests were lost on their way to questions, by repository, and what agents and judges took."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devqa import ledger, tables
from devqa.errors import UserError
from devqa.usage import COUNTS

COLUMNS = ("stage", "repository", *ledger.COLUMNS[1:])

# Each stage, by the name of its files, with the table that it is; each is given the `ok` rows of the one before.
STAGES = {
    "pulls": "pulls",
    "context": "context",
    "questions": "pull_questions",
    "checked": "pull_checked",
    "answered": "pull_answers",
    "facts": "pull_facts",
}
_AGENTS = ("predictions", "recalled")
# What is said of a repository at a stage that has no row of it.
_NOTHING = {"status": "ok", "reason": "", "rows_in": 0, "rows_out": 0, **dict.fromkeys(COUNTS, 0), "usd": 0.0}


def funnel(
    files: Mapping[str, Sequence[str] | str], questions: int, prices: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Rows of `results/pull_requests/funnel.csv`: one for each stage, repository, status and reason.

    A repository of which a stage has nothing has a row of zeros there, so that none is missing. The stages of the
    agents, `predictions` and `recalled`, have no repository. USD are as in `ledger.funnel`, with what commands say of
    their own cost.

    Args:
        files: of each of STAGES, a file for each repository, and those of `predictions` and `recalled`.
        questions: how many the benchmark has.
        prices: by the label of a model.

    Raises:
        UserError: a stage has more or fewer rows than were handed to it.
    """
    rows = []
    given: dict[str, int] = {}
    for name, table in STAGES.items():
        for path in _listed(files[name]):
            repository = Path(path).stem
            account = ledger.stage(table, [path])
            _check(name, f"{repository}.parquet", account.rows, given.get(repository))
            given[repository] = account.passed
            rows += _rows(name, repository, account, prices) or [{"stage": name, "repository": repository, **_NOTHING}]
    kept = sum(given.values())
    if kept != questions:
        raise UserError(
            f"the ledger does not add up: {kept} answers have facts and the benchmark has {questions} questions; "
            "delete results/pull_requests/benchmark.parquet and run again"
        )
    return rows + _agents(files, questions, prices)


def _agents(
    files: Mapping[str, Sequence[str] | str], questions: int, prices: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    rows = []
    for name in _AGENTS:
        paths = _listed(files[name])
        account = ledger.stage(name, paths)
        _check(name, "", account.rows, len(paths) * questions)
        rows += _rows(name, "", account, prices)
    own = _own_usd(_listed(files["predictions"]))
    return [
        row | {"usd": round(row["usd"] + own[row["status"], row["reason"]], 6)}
        if row["stage"] == "predictions"
        else row
        for row in rows
    ]


def _own_usd(paths: Sequence[str]) -> Mapping[tuple[str, str], float]:
    """What commands say of their own cost, by status and reason."""
    found: dict[tuple[str, str], float] = defaultdict(float)
    for batch in tables.batches(paths, "predictions", 10_000, ["status", "reason", "usd"]):
        for row in batch:
            found[row["status"], ledger.general(row["reason"] or "")] += row["usd"] or 0
    return found


def _rows(
    name: str, repository: str, account: ledger.Stage, prices: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    return [row | {"stage": name, "repository": repository} for row in ledger.funnel([(account, None)], prices)]


def _check(name: str, file: str, rows: int, given: int | None) -> None:
    if given is not None and rows != given:
        raise UserError(
            f"the ledger does not add up: {name} was given {given} rows and has {rows}; "
            f"delete results/pull_requests/{name}/{file} and run again"
        )


def _listed(paths: Sequence[str] | str) -> list[str]:
    return [paths] if isinstance(paths, str) else list(paths)
