"""What the report of questions from pull requests shows, as plain JSON values: the same dict is `report.json`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from devqa.llm.pricing import is_free, record_usd
from devqa.pull_requests import GROUND_TRUTH
from devqa.pull_requests.figures.statistics import SEGMENTS, segments
from devqa.reporting import blog
from devqa.reporting.overview import staged
from devqa.reporting.recalled import browsed
from devqa.tables import Row
from devqa.usage import COUNTS

# The columns of leaderboard.csv. Shares have their 95 % interval and the spread over repeats; times and tokens are of
# one answer.
LEADERBOARD = [
    *("agent", "setting", "rank"),
    *(f"recall{part}" for part in ("", "_low", "_high", "_spread", "_worst", "_best")),
    *(f"vital_recall{part}" for part in ("", "_low", "_high", "_spread")),
    *(f"{name}{part}" for name in ("facts", "vital", "okay") for part in ("_found", "_of")),
    *("seconds_mean", "seconds_median", "seconds_p95"),
    *("input_tokens", "output_tokens", "reasoning_tokens"),
    *("usd", "usd_per_answer", "uncounted"),
    *("questions", "repeats", "answers", "graded", "ungraded", "failed", "missing"),
]
# Of the segments, those whose values are counted by repository.
COUNTED = {
    "scope": ("deep", "broad"),
    "core": ("yes",),
    "searchable": ("yes",),
    "difficulty": ("easy", "moderate", "hard"),
}
_HISTOGRAMS = ("blocks", "files", "facts")


def recalling_data(
    benchmark: Sequence[Row],
    statistics: Mapping[str, Any],
    predictions: Iterable[Row],
    recalled: Iterable[Row],
    funnel: Sequence[Row],
    prices: Mapping[str, Mapping[str, float]],
    notes: Sequence[str],
) -> dict[str, Any]:
    """The report of questions from pull requests.

    Args:
        benchmark, predictions, recalled: as `devqa.reporting.recalled` reads them.
        statistics: as scripts/pr_score.py writes them.
        funnel: as `devqa.pull_requests.figures.funnel.funnel` gives it.
        prices: USD per million tokens, by the label of a model.
        notes: what the reader must know.

    Returns a dict with
        `notes`, and of `statistics` `clusters`, `comparisons`, `resolution`, `gaps`, `ground_truth`;
        `benchmark`: `composition` gives it;
        `leaderboard`: rows with the columns of leaderboard.csv, best recall first, the true answers last;
        `unusable`: `agent, setting, fate, reason, answers` of all answers without a grade;
        `segments`: for each segment `segment`, `values` ({value: questions}) and `agents`, in the leaderboard's order:
            `agent, setting, recall` ({value: {value, low, high, graded}});
        `funnel`, `spent`: as `overview.staged` gives them, all repositories together;
        `losses`: as `losses` gives them;
        `agents`, `rows`, `runs`, `longest`: as `recalled.browsed` gives them, agents in the leaderboard's order.
    """
    board = leaderboard_rows(statistics, prices)
    order = [(row["setting"], row["agent"]) for row in board]
    by_run = {(run["setting"], run["agent"]): run for run in statistics["runs"]}
    runs = [by_run[key] for key in order]
    return {
        "notes": list(notes),
        **{name: statistics[name] for name in ("clusters", "comparisons", "resolution", "gaps", "ground_truth")},
        "benchmark": composition(benchmark),
        "leaderboard": board,
        "unusable": [
            {"agent": run["agent"], "setting": run["setting"], **each} for run in runs for each in run["reasons"]
        ],
        "segments": _segments(benchmark, [run for run in runs if run["setting"] != GROUND_TRUTH]),
        **staged(_together(funnel)),
        "losses": losses(funnel),
        **browsed(benchmark, order, predictions, recalled),
    }


def leaderboard_rows(statistics: Mapping[str, Any], prices: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """One flat row for each agent and setting; its keys are `LEADERBOARD`. Best recall first, the true answers last.

    `usd` is what a command says of its own cost, else the configured price times the tokens; null where neither is
    known: a model without a price is not known to cost nothing. `uncounted` answers are not in it.
    """
    rows = [
        {
            "agent": run["agent"],
            "setting": run["setting"],
            "rank": run["rank"],
            **_shares(run),
            **{
                f"{'facts' if name == 'all' else name}_{part}": counts[part]
                for name, counts in run["facts"].items()
                for part in ("found", "of")
            },
            **{f"seconds_{part}": run["seconds"][part] for part in ("mean", "median", "p95")},
            **{f"{kind}_tokens": run["tokens"][kind] for kind in ("input", "output", "reasoning")},
            **_cost(run, prices),
            "questions": statistics["questions"],
            "repeats": run["repeats"],
            **run["answers"],
        }
        for run in statistics["runs"]
    ]
    return [{name: row[name] for name in LEADERBOARD} for row in sorted(rows, key=_best_first)]


def composition(benchmark: Sequence[Row]) -> dict[str, Any]:
    """What the benchmark is made of.

    Returns
        `questions`;
        `repositories`: of each `repository, name, url, commit`, and what `total` has;
        `total`: `questions`, `counts` ({segment: {value: questions}} of COUNTED), and for `blocks`, `files` and `facts`
            of a question `mean`, `median`, `least` and `most`;
        `histograms`: {blocks, files, facts: {number: questions}}, numbers ascending, none left out;
        `blog`: the published benchmark's figures, as `total`, as far as they are known.
    """
    by_repository = defaultdict(list)
    for row in benchmark:
        by_repository[row["repository"]].append(row)
    return {
        "questions": len(benchmark),
        "repositories": [
            {**{key: rows[0][key] for key in ("repository", "name", "url", "commit")}, **_made_of(rows)}
            for _, rows in sorted(by_repository.items())
        ],
        "total": _made_of(benchmark),
        "histograms": {name: _histogram(_numbers(benchmark, name)) for name in _HISTOGRAMS},
        "blog": {
            "repositories": blog.REPOSITORIES,
            "questions": blog.QUESTIONS,
            "counts": {"scope": blog.SCOPE, "core": {"yes": blog.CORE}, "difficulty": blog.DIFFICULTY},
            "facts": blog.FACTS,
        },
    }


def losses(funnel: Sequence[Row]) -> dict[str, Any]:
    """Where each repository's pull requests went.

    Returns
        `stages`: their names in order, those of the agents not among them;
        `repositories`: `repository`, `given` (pull requests that were looked at) and `passed` ({stage: rows});
        `reasons`: `stage, repository, status, reason, rows` of all rows that were lost.
    """
    own = [row for row in funnel if row["repository"]]
    passed: dict[str, Counter[str]] = defaultdict(Counter)
    given: dict[str, int] = {}
    for row in own:
        given.setdefault(row["repository"], row["rows_in"])
        passed[row["repository"]][row["stage"]] += row["rows_out"] if row["status"] == "ok" else 0
    return {
        "stages": list(dict.fromkeys(row["stage"] for row in own)),
        "repositories": [
            {"repository": name, "given": given[name], "passed": dict(passed[name])} for name in sorted(given)
        ],
        "reasons": [
            {**{key: row[key] for key in ("stage", "repository", "status", "reason")}, "rows": row["rows_out"]}
            for row in own
            if row["status"] != "ok"
        ],
    }


def _shares(run: Mapping[str, Any]) -> dict[str, float | None]:
    shares = {}
    for name in ("recall", "vital_recall"):
        parts = dict(run[name])
        shares[name] = parts.pop("value")
        shares |= {f"{name}_{part}": figure for part, figure in parts.items()}
    return shares


def _cost(run: Mapping[str, Any], prices: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    uncounted = run["usage"]["uncounted"]
    price = prices.get(run["agent"], {})
    if run["usd"]["known"]:
        usd, answers = run["usd"]["own"], run["usd"]["known"]
        uncounted = run["answers"]["answers"] - answers
    elif run["tokens"]["counted"] and not is_free(price):
        usd, answers = record_usd(run["usage"], price), run["tokens"]["counted"]
    else:
        return {"usd": None, "usd_per_answer": None, "uncounted": uncounted}
    return {"usd": usd, "usd_per_answer": usd / answers, "uncounted": uncounted}


def _best_first(row: Mapping[str, Any]) -> tuple:
    recall = row["recall"]
    return row["setting"] == GROUND_TRUTH, recall is None, -(recall or 0), row["setting"], row["agent"]


def _made_of(rows: Sequence[Row]) -> dict[str, Any]:
    counts = {segment: Counter(SEGMENTS[segment](row) for row in rows) for segment in COUNTED}
    return {
        "questions": len(rows),
        "counts": {segment: {value: counts[segment][value] for value in values} for segment, values in COUNTED.items()},
        **{name: _summed_up(_numbers(rows, name)) for name in _HISTOGRAMS},
    }


def _numbers(rows: Sequence[Row], name: str) -> list[int]:
    if name == "facts":
        return [len(row["facts"]) for row in rows]
    column = {"blocks": "n_context_nodes", "files": "n_context_files"}[name]
    return [row[column] for row in rows if row[column] is not None]


def _summed_up(numbers: Sequence[int]) -> dict[str, float | None]:
    if not numbers:
        return dict.fromkeys(("mean", "median", "least", "most"))
    return {"mean": fmean(numbers), "median": median(numbers), "least": min(numbers), "most": max(numbers)}


def _histogram(numbers: Sequence[int]) -> dict[str, int]:
    counts = Counter(numbers)
    return {str(number): counts[number] for number in range(min(counts), max(counts) + 1)} if counts else {}


def _segments(benchmark: Sequence[Row], runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    values: dict[str, dict[str, int]] = {segment: {} for segment in SEGMENTS}
    for segment, value, places in segments(benchmark):
        values[segment][value] = len(places)
    return [
        {
            "segment": segment,
            "values": found,
            "agents": [
                {
                    "agent": run["agent"],
                    "setting": run["setting"],
                    "recall": {
                        part["value"]: {**part["recall"], "graded": part["graded"]}
                        for part in run["segments"]
                        if part["segment"] == segment
                    },
                }
                for run in runs
            ],
        }
        for segment, found in values.items()
    ]


def _together(funnel: Sequence[Row]) -> list[Row]:
    """The funnel's rows of all repositories together, one for each stage, status and reason."""
    given: dict[tuple[str, str], int] = {}
    sums: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in funnel:
        given[row["stage"], row["repository"]] = row["rows_in"]
        key = row["stage"], row["status"], row["reason"]
        total = sums.setdefault(key, dict.fromkeys(("rows_out", *COUNTS, "usd"), 0))
        for name in total:
            total[name] += row[name]
    whole = Counter()
    for (stage, _), rows in given.items():
        whole[stage] += rows
    # Lost rows most frequent first within a stage, as in the ledger.
    places = {stage: place for place, stage in enumerate(whole)}
    status = {"ok": 0, "rejected": 1, "failed": 2}
    ordered = sorted(
        sums.items(), key=lambda item: (places[item[0][0]], status[item[0][1]], -item[1]["rows_out"], item[0][2])
    )
    return [
        {"stage": stage, "status": became, "reason": reason, "rows_in": whole[stage], **total}
        for (stage, became, reason), total in ordered
    ]
