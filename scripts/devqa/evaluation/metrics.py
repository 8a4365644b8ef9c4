"""The metrics of one model's run over the benchmark (SimpleDevQA, arXiv 2512.08867, section 6; OpenAI SimpleQA)."""

import statistics
from collections import Counter, defaultdict

from devqa.errors import UserError
from devqa.evaluation.grading import GRADES
from devqa.tables import Row

SHARES = ("co", "in", "na", "cga", "f_score")
TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens", "tokens")
# What became of an answer: it has a grade, it has none, or it could not be used (by outcome, or no answer row).
UNUSABLE = ("refused", "truncated", "empty", "error", "missing")
COUNTS = ("rows", "graded", "ungraded", *UNUSABLE)
METRICS = (*SHARES, *TOKENS, *COUNTS)
SLICES = ("language", "difficulty")

Figures = dict[str, float | None]


def scores(benchmark: list[Row], answers: list[Row], grades: list[Row]) -> list[Row]:
    """The rows of table `scores` for one model: each metric per setting and slice, over all repeats.

    `benchmark` holds the rows that were asked. Metrics are computed per repeat; `mean` is over the repeats
    in which the metric is defined, `repeats` says how many those are, `spread` is their sample standard
    deviation (null for fewer than two). A metric that is 0/0 in every repeat stands with a null mean.
    `rows` is the number of benchmark rows of the slice.

    - `co`, `in`, `na`: shares of the graded rows (0 to 1)
    - `cga` = CO / (CO + IN); `f_score` = harmonic mean of CO and CGA (0 where both are 0)
    - `input_tokens`, `output_tokens`, `tokens`: averages over the answers whose usage is known; `reasoning_tokens`
      are part of the output
    - counts: `rows` = `graded` + `ungraded` + `refused` + `truncated` + `empty` + `error` + `missing`

    Raises:
        UserError: rows of more than one model, a row that the benchmark lacks, or one given twice.
    """
    runs = _by_run(answers, "answers")
    grade_runs = _by_run(grades, "grades")
    models = {row["model"] for row in (*answers, *grades)}
    if len(models) > 1:
        raise UserError(f"scores are of one model, not of {', '.join(sorted(models))}")
    _refuse_strangers(benchmark, (*answers, *grades))
    repeats_of = defaultdict(list)
    for setting, repeat in sorted(runs.keys() | grade_runs.keys()):
        repeats_of[setting].append((runs.get((setting, repeat), {}), grade_runs.get((setting, repeat), {})))
    return [
        {"model": next(iter(models)), "setting": setting, "slice": slice_, "value": value, "rows": len(rows), **row}
        for setting, repeats in repeats_of.items()
        for slice_, value, rows in slices(benchmark)
        for row in _over_repeats([figures(rows, *repeat) for repeat in repeats])
    ]


def slices(benchmark: list[Row]) -> list[tuple[str, str, list[Row]]]:
    """(slice, value, rows) for all rows (`all`, "") and for each language and difficulty, in a fixed order."""
    found = [("all", "", benchmark)]
    for slice_ in SLICES:
        groups = defaultdict(list)
        for row in benchmark:
            groups[row[slice_] or "unknown"].append(row)
        found += [(slice_, value, groups[value]) for value in sorted(groups)]
    return found


def figures(rows: list[Row], answers: dict[str, Row], grades: dict[str, Row]) -> Figures:
    """Every metric of one repeat over benchmark `rows`; answers and grades by id. None stands for 0/0."""
    fates = Counter(fate(answers.get(row["id"]), grades.get(row["id"])) for row in rows)
    spent = [
        answers[row["id"]] for row in rows if row["id"] in answers and answers[row["id"]]["input_tokens"] is not None
    ]
    correct, incorrect, not_attempted = (fates[grade] for grade in GRADES)
    graded = correct + incorrect + not_attempted
    co, cga = _ratio(correct, graded), _ratio(correct, correct + incorrect)
    return {
        "co": co,
        "in": _ratio(incorrect, graded),
        "na": _ratio(not_attempted, graded),
        "cga": cga,
        "f_score": _harmonic(co, cga),
        "input_tokens": _average([row["input_tokens"] for row in spent]),
        "output_tokens": _average([row["output_tokens"] for row in spent]),
        "reasoning_tokens": _average([row["reasoning_tokens"] for row in spent]),
        "tokens": _average([row["input_tokens"] + row["output_tokens"] for row in spent]),
        "rows": len(rows),
        "graded": graded,
        "ungraded": fates["ungraded"],
        **{name: fates[name] for name in UNUSABLE},
    }


def fate(answer: Row | None, grade: Row | None) -> str:
    """What became of one answer: its grade, `ungraded`, or why there is no usable answer (one of `UNUSABLE`).

    An answer that could not be used has no grade, whatever a judge said of it: a refusal by the endpoint is
    no NOT_ATTEMPTED.
    """
    if answer is None:
        return "missing"
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


def _by_run(rows: list[Row], table: str) -> dict[tuple[str, int], dict[str, Row]]:
    """Rows by id, for each (setting, repeat)."""
    runs = defaultdict(dict)
    for row in rows:
        run = runs[row["setting"], row["repeat"]]
        if row["id"] in run:
            raise UserError(f"{table} have row {row['id']} twice in setting {row['setting']}, repeat {row['repeat']}")
        run[row["id"]] = row
    return runs


def _refuse_strangers(benchmark: list[Row], rows: tuple[Row, ...]) -> None:
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


def _average(values: list[int]) -> float | None:
    return statistics.fmean(values) if values else None
