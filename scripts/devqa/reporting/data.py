"""What the reports show, as plain JSON values: the same dicts are the `.json` reports and fill the pages."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from devqa.evaluation.metrics import COUNTS, SHARES, SLICES, TOKENS, fate
from devqa.llm.pricing import cost_usd
from devqa.tables import Row
from devqa.usage import added

COMPOSITION = ("language", "difficulty", "source")


# The columns of leaderboard.csv.
LEADERBOARD = [
    *("model", "setting"),
    *(name for metric in SHARES for name in (metric, f"{metric}_spread")),
    *TOKENS,
    *("usd", "usd_per_answer", "uncounted", "repeats"),
    *COUNTS,
]


def report_data(
    model: dict[str, Any], benchmark: list[Row], answers: list[Row], grades: list[Row], scores: list[Row]
) -> dict[str, Any]:
    """The report of one model.

    Args:
        model: `name`, `endpoint`, `model` (the endpoint's name for it), `note`, and `price`
            (`input`, `output` and `cached_input` in USD per million tokens).
        benchmark: the rows that were asked.
        answers, grades: the model's, of all settings and repeats.
        scores: the model's, as `metrics.scores` gives them.

    Returns a dict with
        `model`: as given;
        `benchmark`: `rows`, and `composition`: {column: {value: rows}} by language, difficulty and source;
        `settings`: a list of `setting`, `repeats`, `usd` and `usd_per_answer` (of the answers whose tokens were
            counted, at the model's price; null where none were), `uncounted` (how many were not),
            `figures`: {metric: {mean, spread, repeats}} over all rows,
            `outcomes`: {fate: answers, all repeats together}, and
            `slices`: a list of `slice`, `value`, `rows`, `figures`, `outcomes`;
        `rows`: the benchmark's `id, question, answer, language, difficulty, source`, and `references` (`url, title`);
        `runs`: one entry per row, setting and repeat: `row` (index in `rows`), `setting`, `repeat`, `prediction`
            (the raw text where the answer could not be used), `fate` (a grade, `ungraded`, or why there is no
            usable answer), `reason`, `judge_text`, and `input_tokens`, `output_tokens`, `reasoning_tokens`
            (null where they were not counted).
    """
    rows = sorted(benchmark, key=lambda row: row["id"])
    runs = _runs(rows, answers, grades)
    return {
        "model": model,
        "benchmark": {"rows": len(rows), "composition": {column: _counts(rows, column) for column in COMPOSITION}},
        "settings": _settings(model, rows, runs, answers, scores),
        "rows": [_row(row) for row in rows],
        "runs": runs,
    }


def leaderboard_rows(models: Iterable[dict[str, Any]]) -> list[Row]:
    """One flat row per model and setting, best F-score first within a setting; null where undefined.

    Its keys are `LEADERBOARD`: shares with spread, tokens as averages per answer, counts as averages over repeats.

    Args:
        models: as `report_data` gives them; `rows` and `runs` are not used.
    """
    board = []
    for data in models:
        for setting in data["settings"]:
            figures = setting["figures"]
            row = {"model": data["model"]["name"], "setting": setting["setting"]}
            for metric in SHARES:
                row |= {metric: figures[metric]["mean"], f"{metric}_spread": figures[metric]["spread"]}
            row |= {metric: figures[metric]["mean"] for metric in TOKENS}
            row |= {key: setting[key] for key in ("usd", "usd_per_answer", "uncounted", "repeats")}
            board.append(row | {metric: figures[metric]["mean"] for metric in COUNTS})
    return sorted(board, key=_best_first)


def index_data(models: list[dict[str, Any]], funnel: list[Row], notes: list[str]) -> dict[str, Any]:
    """All models side by side.

    Args:
        models: as `report_data` gives them (`rows` and `runs` are not used and may be left out).
        funnel: rows of the ledger, one per `stage`, `status` and `reason`, with `rows_in` (of the stage), `rows_out`
            (of the group), `devqa.usage.COUNTS`, `usd`.
        notes: what the reader must know of the whole run.

    Returns a dict with
        `leaderboard`: as `leaderboard_rows`;
        `models`: `name`, `endpoint`, `note` of each;
        `benchmark`: `rows` and `composition` as in `report_data`;
        `funnel`: a list of `stage`, `rows`, `by_status` ({status: rows}), the sums of `devqa.usage.COUNTS` and
            `usd`, and `groups` (the ledger's rows of that stage);
        `spent`: the sums over all stages;
        `notes`: as given.
    """
    stages = defaultdict(list)
    for row in funnel:
        stages[row["stage"]].append(row)
    return {
        "leaderboard": leaderboard_rows(models),
        "models": [{key: data["model"][key] for key in ("name", "endpoint", "note")} for data in models],
        "benchmark": models[0]["benchmark"] if models else {"rows": 0, "composition": {}},
        "funnel": [_stage(name, groups) for name, groups in stages.items()],
        "spent": _spent(funnel),
        "notes": notes,
    }


def _settings(
    model: dict[str, Any], rows: list[Row], runs: list[dict[str, Any]], answers: list[Row], scores: list[Row]
) -> list[dict[str, Any]]:
    outcomes = _outcomes(rows, runs)
    groups: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in scores:
        key = (row["slice"], row["value"])
        empty = {"rows": row["rows"], "outcomes": dict(outcomes[row["setting"], *key]), "figures": {}}
        group = groups[row["setting"]].setdefault(key, empty)
        group["figures"][row["metric"]] = {name: row[name] for name in ("mean", "spread", "repeats")}
    return [
        {
            "setting": setting,
            "repeats": found["all", ""]["figures"]["rows"]["repeats"],
            **_cost([row for row in answers if row["setting"] == setting], model),
            **{key: found["all", ""][key] for key in ("outcomes", "figures")},
            "slices": [{"slice": key[0], "value": key[1], **group} for key, group in found.items() if key[0] != "all"],
        }
        for setting, found in groups.items()
    ]


def _outcomes(rows: list[Row], runs: list[dict[str, Any]]) -> dict[tuple[str, str, str], Counter]:
    """Answers by fate for each (setting, slice, value)."""
    outcomes = defaultdict(Counter)
    for run in runs:
        row = rows[run["row"]]
        for slice_, value in (("all", ""), *((name, row[name] or "unknown") for name in SLICES)):
            outcomes[run["setting"], slice_, value][run["fate"]] += 1
    return outcomes


def _cost(answers: list[Row], model: dict[str, Any]) -> dict[str, float | int | None]:
    usage = [entry for row in answers for entry in row["usage"]]
    usd = cost_usd(usage, {model["name"]: model["price"]})
    counted = sum(row["input_tokens"] is not None for row in answers)
    return {
        "usd": usd if counted else None,
        "usd_per_answer": usd / counted if counted else None,
        "uncounted": added(usage)["uncounted"],
    }


def _row(row: Row) -> dict[str, Any]:
    shown = {key: row[key] for key in ("id", "question", "answer", "language", "difficulty", "source")}
    return shown | {"references": [{"url": ref["url"], "title": ref["title"]} for ref in row["references"] or []]}


def _runs(rows: list[Row], answers: list[Row], grades: list[Row]) -> list[dict[str, Any]]:
    answered = {(row["setting"], row["repeat"], row["id"]): row for row in answers}
    graded = {(row["setting"], row["repeat"], row["id"]): row for row in grades}
    runs = sorted({key[:2] for key in answered} | {key[:2] for key in graded})
    return [
        _run(index, run, answered.get((*run, row["id"])), graded.get((*run, row["id"])))
        for index, row in enumerate(rows)
        for run in runs
    ]


def _run(index: int, run: tuple[str, int], answer: Row | None, grade: Row | None) -> dict[str, Any]:
    became = fate(answer, grade)
    faulty = grade if became == "ungraded" else answer
    answer, grade = answer or {}, grade or {}
    return {
        "row": index,
        "setting": run[0],
        "repeat": run[1],
        "prediction": answer.get("answer") or answer.get("raw") or "",
        "fate": became,
        "reason": (faulty or {}).get("reason") or "",
        "judge_text": grade.get("judge_text") or grade.get("raw") or "",
        **{key: answer.get(key) for key in ("input_tokens", "output_tokens", "reasoning_tokens")},
    }


def _stage(name: str, groups: list[Row]) -> dict[str, Any]:
    by_status = Counter()
    for group in groups:
        by_status[group["status"]] += group["rows_out"]
    return {
        "stage": name,
        "rows": groups[0]["rows_in"],
        "by_status": dict(by_status),
        **_spent(groups),
        "groups": groups,
    }


def _spent(groups: list[Row]) -> dict[str, float]:
    return {**added(groups), "usd": sum(row["usd"] for row in groups)}


def _counts(rows: list[Row], column: str) -> dict[str, int]:
    counts = Counter(row[column] or "unknown" for row in rows)
    return {value: counts[value] for value in sorted(counts, key=lambda value: (-counts[value], value))}


def _best_first(row: Row) -> tuple:
    return row["setting"], row["f_score"] is None, -(row["f_score"] or 0), row["model"]
