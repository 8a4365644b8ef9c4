"""The metrics of one model's run over the benchmark (SimpleDevQA, arXiv 2512.08867, section 6; OpenAI SimpleQA)."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from devqa.errors import UserError
from devqa.evaluation.bootstrap import Estimate
from devqa.evaluation.grading import GRADES
from devqa.evaluation.statistics import SHARES, bounds, cluster_numbers, encode, share_intervals
from devqa.tables import Row

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens", "tokens")
# What became of an answer: it has a grade, it has none, or it could not be used (by outcome, or no answer row).
UNUSABLE = ("refused", "truncated", "empty", "error", "missing")
COUNTS = ("rows", "graded", "ungraded", *UNUSABLE)
METRICS = (*SHARES, *TOKENS, *COUNTS)
# Of the benchmark's rows, and what a row without a value has there.
UNKNOWN = "unknown"
SLICES = ("language", "knowledge", "domain", "difficulty", "source")

Figures = dict[str, float | None]


def scores(benchmark: Sequence[Row], answers: Sequence[Row], grades: Sequence[Row]) -> list[Row]:
    """The rows of table `scores` for one model: each metric per setting and slice, over all repeats.

    `benchmark` holds the rows that were asked, with their domain where they have one. Metrics are computed per
    repeat; `mean` is over the repeats in which the metric is defined, `repeats` says how many those are, `spread` is
    their sample standard deviation (null for fewer than two). A metric that is 0/0 in every repeat stands with a null
    mean. `rows` is the number of benchmark rows of the slice.

    - `co`, `in`, `na`: shares of the graded rows (0 to 1)
    - `cga` = CO / (CO + IN); `f_score` = harmonic mean of CO and CGA (0 where both are 0)
    - `input_tokens`, `output_tokens`, `tokens`: averages over the answers whose usage is known; `reasoning_tokens`
      are part of the output
    - counts: `rows` = `graded` + `ungraded` + `refused` + `truncated` + `empty` + `error` + `missing`

    Shares have `low` and `high`, the 95 % interval of `mean` (dialogues drawn with all their rows and repeats; see
    `statistics.share_intervals`), and CO, CGA and F-score `worst` and `best`: what `mean` would be if all rows
    without a grade were INCORRECT, or CORRECT.

    Raises:
        UserError: rows of more than one model, a row that the benchmark lacks, or one given twice.
    """
    refuse_strangers(benchmark, (*answers, *grades))
    # The order decides what the bootstrap draws.
    benchmark = sorted(benchmark, key=lambda row: row["id"])
    runs, grade_runs = by_run(answers, "answers"), by_run(grades, "grades")
    repeats_of = defaultdict(list)
    for setting, repeat in sorted(runs.keys() | grade_runs.keys()):
        repeats_of[setting].append((runs.get((setting, repeat), {}), grade_runs.get((setting, repeat), {})))
    model = next((row["model"] for row in (*answers, *grades)), "")
    return [
        {"model": model, "setting": setting, **row}
        for setting, repeats in repeats_of.items()
        for row in _scores(benchmark, repeats)
    ]


def _scores(benchmark: list[Row], repeats: list[tuple[dict[str, Row], dict[str, Row]]]) -> Iterable[Row]:
    """The rows of one setting."""
    clusters = cluster_numbers([row.get("dialogue_id") for row in benchmark])
    fates = [_fates(benchmark, *repeat) for repeat in repeats]
    tokens = [_tokens(benchmark, answers) for answers, _ in repeats]
    ids = [row["id"] for row in benchmark]
    codes = np.stack([encode(dict(zip(ids, each, strict=True)), ids) for each in fates])[None]
    for slice_, value, places in slices(benchmark):
        intervals = share_intervals(codes[..., places], clusters[places])[0]
        limits = bounds(codes[..., places])[0]
        for row in _over_repeats(
            [
                _figures([became[place] for place in places], spent[places])
                for became, spent in zip(fates, tokens, strict=True)
            ]
        ):
            _, low, high = intervals.get(row["metric"], Estimate(None, None, None))
            worst, best = limits.get(row["metric"], (None, None))
            estimates = {"low": low, "high": high, "worst": worst, "best": best}
            yield {"slice": slice_, "value": value, "rows": len(places), **row, **estimates}


def slices(benchmark: Sequence[Row]) -> list[tuple[str, str, list[int]]]:
    """(slice, value, places in `benchmark`) for all rows (`all`, "") and for each value of `SLICES`, in a fixed order.

    A row without the value is `unknown`; a slice that no row has a value for is left out.
    """
    found = [("all", "", list(range(len(benchmark))))]
    for slice_ in SLICES:
        groups = defaultdict(list)
        for place, row in enumerate(benchmark):
            groups[row.get(slice_) or UNKNOWN].append(place)
        if groups.keys() - {UNKNOWN}:
            found += [(slice_, value, groups[value]) for value in sorted(groups)]
    return found


def figures(rows: Sequence[Row], answers: dict[str, Row], grades: dict[str, Row]) -> Figures:
    """Every metric of one repeat over benchmark `rows`; answers and grades by id. None stands for 0/0."""
    return _figures(_fates(rows, answers, grades), _tokens(rows, answers))


def _figures(fates: list[str], tokens: np.ndarray) -> Figures:
    """Every metric of rows with these `fates` and `tokens` (rows, 3)."""
    counts = Counter(fates)
    correct, incorrect, not_attempted = (counts[grade] for grade in GRADES)
    graded = correct + incorrect + not_attempted
    co, cga = _ratio(correct, graded), _ratio(correct, correct + incorrect)
    return {
        "co": co,
        "in": _ratio(incorrect, graded),
        "na": _ratio(not_attempted, graded),
        "cga": cga,
        "f_score": _harmonic(co, cga),
        **{name: _average(tokens[:, place]) for place, name in enumerate(TOKENS[:3])},
        "tokens": _average(tokens[:, 0] + tokens[:, 1]),
        "rows": len(fates),
        "graded": graded,
        "ungraded": counts["ungraded"],
        **{name: counts[name] for name in UNUSABLE},
    }


def _fates(rows: Iterable[Row], answers: dict[str, Row], grades: dict[str, Row]) -> list[str]:
    return [fate(answers.get(row["id"]), grades.get(row["id"])) for row in rows]


def _tokens(rows: Sequence[Row], answers: dict[str, Row]) -> np.ndarray:
    """Input, output and reasoning tokens (rows, 3) of each answer; NaN where they were not counted."""
    nothing: Row = {}
    counted = [[answers.get(row["id"], nothing).get(name) for name in TOKENS[:3]] for row in rows]
    return np.array(counted, dtype=float).reshape(len(rows), 3)


def fate(answer: Row | None, grade: Row | None) -> str:
    """What became of one answer: its grade, `ungraded`, or why there is no usable answer (one of `UNUSABLE`).

    An answer that could not be used has no grade, whatever a judge said of it: a refusal by the endpoint is
    no NOT_ATTEMPTED. But a grade that came with an empty answer counts: whoever gave it knew that the answer is empty.
    """
    if answer is None:
        return "missing"
    if answer["outcome"] == "empty" and grade is not None and grade["grade"] in GRADES and not grade.get("judge"):
        return grade["grade"]
    if answer["outcome"] in UNUSABLE:
        return answer["outcome"]
    if answer["status"] != "ok":
        return "error"
    return grade["grade"] if grade is not None and grade["grade"] in GRADES else "ungraded"


def _over_repeats(repeats: list[Figures]) -> list[Row]:
    rows = []
    for metric in METRICS:
        values = [figures[metric] for figures in repeats if figures[metric] is not None]
        rows.append(
            {
                "metric": metric,
                "mean": statistics.fmean(values) if values else None,
                "spread": statistics.stdev(values) if len(values) > 1 else None,
                "repeats": len(values),
            }
        )
    return rows


def by_run(rows: Iterable[Row], table: str) -> dict[tuple[str, int], dict[str, Row]]:
    """Rows by id, for each (setting, repeat), of `table` as the message calls it.

    Raises:
        UserError: a row is given twice.
    """
    runs = defaultdict(dict)
    for row in rows:
        run = runs[row["setting"], row["repeat"]]
        if row["id"] in run:
            raise UserError(f"{table} have row {row['id']} twice in setting {row['setting']}, repeat {row['repeat']}")
        run[row["id"]] = row
    return runs


def refuse_strangers(benchmark: Iterable[Row], rows: Sequence[Row]) -> None:
    """Refuse answers and grades that are not those of one model to rows of the benchmark.

    Raises:
        UserError: rows of more than one model, or a row that the benchmark lacks.
    """
    models = {row["model"] for row in rows}
    if len(models) > 1:
        raise UserError(f"scores are of one model, not of {', '.join(sorted(models))}")
    strangers = {row["id"] for row in rows} - {row["id"] for row in benchmark}
    if strangers:
        raise UserError(
            f"{len(strangers)} answered rows are not in the benchmark, the first is {min(strangers)}: "
            "delete the answers and grades and run again"
        )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _harmonic(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else statistics.harmonic_mean([one, other])


def _average(counts: np.ndarray) -> float | None:
    """The mean of the `counts` that are known: one that isn't (NaN) is not 0."""
    known = counts[~np.isnan(counts)]
    return float(known.mean()) if known.size else None
