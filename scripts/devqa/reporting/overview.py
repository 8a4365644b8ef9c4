"""What the index shows: all models side by side, as plain JSON values. The same dict is `index.json`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devqa.evaluation.metrics import COUNTS, SHARES, TOKENS
from devqa.evaluation.statistics import BOUNDED
from devqa.reporting.browsed import setting_order
from devqa.reporting.data import composition, figures_of
from devqa.reporting.spending import Spent, cost
from devqa.tables import Row
from devqa.usage import added

# The columns of leaderboard.csv.
LEADERBOARD = [
    *("model", "setting", "rank"),
    *(f"{share}{part}" for share in SHARES for part in ("", "_low", "_high", "_spread")),
    *(f"{share}{part}" for share in BOUNDED for part in ("_worst", "_best")),
    *TOKENS,
    *("usd", "usd_per_answer", "uncounted", "repeats"),
    *COUNTS,
]
# The columns of comparisons.csv.
COMPARISONS = [
    *("setting", "first", "second", "rows", "clusters"),
    *("difference", "difference_low", "difference_high", "p", "p_holm", "better"),
]
# What `comparison` has beside what each setting has.
_ACROSS = ("gains", "gaps", "correlation", "people", "judges", "families")


def leaderboard_rows(
    models: Iterable[dict[str, Any]], scores: Iterable[Row], comparison: Mapping[str, Any], taken: Spent
) -> list[Row]:
    """One flat row per model and setting, best F-score first within a setting; null where undefined.

    Its keys are `LEADERBOARD`: shares with their 95 % interval, spread, worst and best case, tokens as averages per
    answer, counts as averages over repeats.

    Args:
        models: `name` and `price` of each.
        scores: of all models, as `metrics.scores` gives them.
        comparison: as scripts/compare.py writes it.
        taken: what answers took, as `spending.read_spent` gives it.
    """
    by_model = defaultdict(list)
    for row in scores:
        if row["slice"] == "all":
            by_model[row["model"]].append(row)
    board = []
    for model in models:
        for setting, groups in figures_of(by_model[model["name"]]).items():
            ranks = comparison["settings"].get(setting, {}).get("ranks", {})
            row = {"model": model["name"], "setting": setting, "rank": ranks.get(model["name"])}
            money = cost(taken.get((model["name"], setting)), model["price"])
            board.append(row | _flat(groups["all", ""]) | money)
    return [{name: row[name] for name in LEADERBOARD} for row in sorted(board, key=_best_first)]


def comparison_rows(comparison: Mapping[str, Any]) -> list[Row]:
    """One flat row per setting and pair of models; its keys are `COMPARISONS`. `difference` is first minus second."""
    return [
        {
            "setting": setting,
            **{key: each[key] for key in ("first", "second", "rows", "clusters")},
            "difference": each["difference"]["value"],
            "difference_low": each["difference"]["low"],
            "difference_high": each["difference"]["high"],
            **{key: each[key] for key in ("p", "p_holm", "better")},
        }
        for setting in sorted(comparison["settings"], key=setting_order)
        for each in comparison["settings"][setting]["comparisons"]
    ]


def index_data(
    models: list[dict[str, Any]],
    benchmark: Sequence[Row],
    scores: Iterable[Row],
    comparison: Mapping[str, Any],
    taken: Spent,
    funnel: list[Row],
    notes: list[str],
    review: Mapping[str, Any] | None = None,
    steps: Sequence[Mapping[str, Any]] = (),
    knowledge: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """All models side by side.

    Args:
        models: of each what `report_data` is given of it.
        benchmark: the rows that were asked, with their domain.
        scores, comparison, taken: as of `leaderboard_rows`.
        funnel: rows of the ledger, one per `stage`, `status` and `reason`, with `rows_in` (of the stage), `rows_out`
            (of the group), `devqa.usage.COUNTS`, `usd`.
        notes: what the reader must know of the whole run.
        review: what people have decided, as `reviewing.review` gives it.
        steps, knowledge: one's own figures beside SimpleDevQA's, as `beside` gives them.

    Returns a dict with
        `models`: `name`, `endpoint`, `note` of each;
        `benchmark`: as `data.composition` gives it;
        `settings`: a list of `setting`, `leaderboard` (as `leaderboard_rows`), `comparisons`, `resolution`;
        `gains`, `gaps`, `correlation`, `people`, `judges`, `families`: as in `comparison`;
        `funnel`, `spent`: as `staged` gives them;
        `notes`, `review`, `steps`, `knowledge`: as given.
    """
    board = defaultdict(list)
    for row in leaderboard_rows(models, scores, comparison, taken):
        board[row["setting"]].append(row)
    return {
        "models": [{key: model[key] for key in ("name", "endpoint", "note")} for model in models],
        "benchmark": composition(benchmark),
        "settings": [
            {
                "setting": setting,
                "leaderboard": rows,
                "comparisons": comparison["settings"].get(setting, {}).get("comparisons", []),
                "resolution": comparison["settings"].get(setting, {}).get("resolution"),
            }
            for setting, rows in board.items()
        ],
        **{name: comparison[name] for name in _ACROSS},
        **staged(funnel),
        "notes": notes,
        "review": dict(review or {}),
        "steps": list(steps),
        "knowledge": list(knowledge),
    }


def staged(funnel: Sequence[Row]) -> dict[str, Any]:
    """The ledger's rows by stage.

    Returns
        `funnel`: a list of `stage`, `rows`, `by_status` ({status: rows}), the sums of `devqa.usage.COUNTS` and `usd`,
            and `groups` (the ledger's rows of that stage);
        `spent`: the sums over all stages.
    """
    stages = defaultdict(list)
    for row in funnel:
        stages[row["stage"]].append(row)
    return {"funnel": [_stage(name, groups) for name, groups in stages.items()], "spent": _spent(funnel)}


def _flat(figures: Mapping[str, Mapping[str, Any]]) -> Row:
    """All rows' figures of one model in one setting, as columns."""
    row = {"repeats": figures["rows"]["repeats"]}
    for share in SHARES:
        row |= {share: figures[share]["mean"]}
        row |= {f"{share}_{part}": figures[share][part] for part in ("low", "high", "spread")}
    row |= {f"{share}_{part}": figures[share][part] for share in BOUNDED for part in ("worst", "best")}
    return row | {metric: figures[metric]["mean"] for metric in (*TOKENS, *COUNTS)}


def _best_first(row: Row) -> tuple:
    return setting_order(row["setting"]), row["f_score"] is None, -(row["f_score"] or 0), row["model"]


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


def _spent(groups: Sequence[Row]) -> dict[str, float]:
    return {**added(groups), "usd": sum(row["usd"] for row in groups)}
