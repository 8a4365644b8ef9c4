"""What the report of one model shows, as plain JSON values: the same dict is the `.json` report and fills the page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devqa.evaluation.metrics import SLICES, UNKNOWN
from devqa.evaluation.runs import verdicts
from devqa.reporting.browsed import browsed, setting_order
from devqa.reporting.spending import Spent, cost
from devqa.tables import Row

# What `scores` says of a metric.
FIGURE = ("mean", "spread", "low", "high", "worst", "best", "repeats")
# The statistics that a setting may have (results/statistics/<model>.json).
STATISTICS = ("calibration", "audit", "corrected", "people", "judges")


def report_data(
    model: dict[str, Any],
    benchmark: Sequence[Row],
    answers: Iterable[Row],
    grades: Sequence[Row],
    scores: Sequence[Row],
    taken: Spent,
    statistics: Mapping[str, Any] | None = None,
    panel: Sequence[Row] = (),
    verdict: str = "judge",
) -> dict[str, Any]:
    """The report of one model.

    Args:
        model: `name`, `endpoint`, `model` (the endpoint's name for it), `note`, `families` (what it has in common with
            models that took part), and `price` (`input`, `output` and `cached_input` in USD per million tokens).
        benchmark: the rows that were asked, with their domain.
        answers, grades, panel: the model's, of all settings and repeats; `panel` by the further judges.
        scores: the model's, as `metrics.scores` gives them.
        taken: what the answers took, as `spending.spent` gives it.
        statistics: the model's, as scripts/score.py writes them.
        verdict: whose grades the figures are made of, as of `evaluation.runs.verdicts`.

    Returns a dict with
        `model`: as given;
        `benchmark`: as `composition` gives it;
        `settings`: a list of `setting`, `repeats`, `usd` and `usd_per_answer` (of the answers whose tokens were
            counted, at the model's price; null where none were), `uncounted` (calls without a token count),
            `figures`: {metric: {mean, spread, low, high, worst, best, repeats}} over all rows,
            `outcomes`: {fate: answers, all repeats together},
            `slices`: a list of `slice`, `value`, `rows`, `figures`, `outcomes`, and
            `calibration`, `audit`, `corrected`, `people`, `judges`: from `statistics`, null where there is none;
        `gain`: from `statistics`: each other setting minus plain;
        `rows`, `passages`, `runs`: as `browsed.browsed` gives them.
    """
    deciding = verdicts(grades, panel, verdict)
    single = browsed(benchmark, answers, grades, panel, deciding)
    return {
        "model": model,
        "benchmark": composition(benchmark),
        "settings": _settings(model, single, taken, scores, (statistics or {}).get("settings", {})),
        "gain": (statistics or {}).get("gain", []),
        **single,
    }


def composition(benchmark: Sequence[Row]) -> dict[str, Any]:
    """`rows`, and `composition`: {slice: {value: rows}}, most frequent first; no slice that no row has a value for."""
    counts = {slice_: Counter(row.get(slice_) or UNKNOWN for row in benchmark) for slice_ in SLICES}
    return {
        "rows": len(benchmark),
        "composition": {
            slice_: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
            for slice_, found in counts.items()
            if found.keys() - {UNKNOWN}
        },
    }


def figures_of(scores: Iterable[Row]) -> dict[str, dict[tuple[str, str], dict[str, Any]]]:
    """{setting: {(slice, value): {metric: figure}}} of rows of table `scores`, settings in their order."""
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in scores:
        found[row["setting"]][row["slice"], row["value"]][row["metric"]] = {name: row[name] for name in FIGURE}
    return {setting: dict(found[setting]) for setting in sorted(found, key=setting_order)}


def _settings(
    model: dict[str, Any],
    single: dict[str, list[dict[str, Any]]],
    taken: Spent,
    scores: Sequence[Row],
    statistics: Mapping[str, Any],
) -> list[dict[str, Any]]:
    outcomes = _outcomes(single["rows"], single["runs"])
    return [
        {
            "setting": setting,
            "repeats": groups["all", ""]["rows"]["repeats"],
            **cost(taken.get((model["name"], setting)), model["price"]),
            "outcomes": dict(outcomes[setting, "all", ""]),
            "figures": groups["all", ""],
            "slices": [
                {
                    "slice": slice_,
                    "value": value,
                    "rows": round(figures["rows"]["mean"]),
                    "outcomes": dict(outcomes[setting, slice_, value]),
                    "figures": figures,
                }
                for (slice_, value), figures in groups.items()
                if slice_ != "all"
            ],
            **{name: statistics.get(setting, {}).get(name) for name in STATISTICS},
        }
        for setting, groups in figures_of(scores).items()
    ]


def _outcomes(rows: Sequence[Row], runs: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str], Counter]:
    """Answers by fate for each (setting, slice, value)."""
    places = [[("all", ""), *((name, row[name] or UNKNOWN) for name in SLICES)] for row in rows]
    outcomes = defaultdict(Counter)
    for run in runs:
        for place in places[run["row"]]:
            outcomes[run["setting"], *place][run["fate"]] += 1
    return outcomes
