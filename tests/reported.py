"""Reports of answers whose fates are given one by one, on texts that try to break out of a page."""

from typing import Any

from devqa.evaluation.as_json import as_json
from devqa.evaluation.comparing import comparison
from devqa.evaluation.metrics import scores
from devqa.evaluation.runs import runs
from devqa.reporting import data, overview, pages, spending
from devqa.usage import COUNTS

HOSTILE = [
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %}",
    "]]>&lt;b&gt;\u2028\x00'\"",
]
FATES = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", "ungraded", "refused", "truncated", "empty", "error"]
MODEL = {
    "name": "m-1",
    "endpoint": "https://models.example/v1",
    "model": "m-1-2025",
    "note": "",
    "price": {"input": 1, "output": 2, "cached_input": 0.5},
    "families": [],
}
# A comparison that has nothing to say.
NOTHING = {
    "settings": {},
    "gains": [],
    "gaps": [],
    "correlation": None,
    "people": None,
    "judges": None,
    "families": [],
}


def bench(number: int, question: str = "Which <b>flag</b>?", language: str = "en", **more: Any) -> dict[str, Any]:
    """One benchmark row."""
    return {
        "id": f"q{number:05}",
        "question": question,
        "answer": "gold " + question,
        "language": language,
        "domain": None,
        "difficulty": "hard" if number % 3 else "easy",
        "source": "example",
        "dialogue_id": f"d{number}",
        "filtered": [],
        "references": [
            {"url": "https://docs.example/a?b=1&c=2", "title": question},
            {"url": "javascript:document.title='owned'", "title": "bad"},
        ],
        **more,
    }


def spent(calls: int = 1, **counts: int) -> dict[str, int]:
    """A usage of `calls` calls."""
    return {"calls": calls, **{count: calls * counts.get(count, 0) for count in COUNTS[1:]}}


def answered(
    benchmark: list[dict[str, Any]],
    fates: list[str] = FATES,
    repeats: int = 1,
    setting: str = "plain",
    model: str = MODEL["name"],
    **counts: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Answers and grades in which row i has the i-th of `fates`, and its question's text wherever a text can be."""
    counts = {"input_tokens": 100, "output_tokens": 50, **counts}
    answers, grades = [], []
    for repeat in range(1, repeats + 1):
        for number, row in enumerate(benchmark):
            became = fates[number % len(fates)]
            usable = became in FATES[:4]
            text = row["question"]
            key = {"id": row["id"], "setting": setting, "model": model, "repeat": repeat}
            result = {
                "answer": text if usable else None,
                "raw": "" if usable else "cut " + text,
                "outcome": "ok" if usable else became,
                "status": "ok" if usable else "failed",
                "reason": "" if usable else "why: " + text,
                "confidence": None,
                "passages": [{"url": text, "title": text, "text": text, "score": 1.0}],
                "tool_calls": [{"round": 1, "tool": text, "arguments": text, "outcome": text, "result": text}],
                "usage": [{"model": model, **spent(**counts)}],
                **{key: counts.get(key, 0) or None for key in ("input_tokens", "output_tokens")},
                "reasoning_tokens": counts.get("reasoning_tokens", 0) if counts["input_tokens"] else None,
            }
            answers.append(key | result)
            if usable:
                grade = {"grade": None if became == "ungraded" else became, "judge": "j", "judge_text": text, "raw": ""}
                grades.append(key | grade | {"reason": "two verdicts" if became == "ungraded" else ""})
    return answers, grades


def report(
    benchmark: list[dict[str, Any]], model: dict[str, Any] = MODEL, statistics: Any = None, **options: Any
) -> dict[str, Any]:
    """What `data.report_data` makes of such answers."""
    answers, grades = answered(benchmark, model=model["name"], **options)
    found = scores(benchmark, answers, grades)
    return data.report_data(model, benchmark, answers, grades, found, spending.spent(answers), statistics)


def index(
    benchmark: list[dict[str, Any]],
    models: dict[str, dict[str, Any]],
    funnel: list[dict[str, Any]] = (),
    notes: list[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """What `overview.index_data` makes of several models.

    Args:
        models: of each, by name, the options of `answered`, and what differs from `MODEL` under the key "model".
        more: what `comparison` has beside what is computed.
    """
    described, answers, found, own = [], [], [], {}
    for name, options in models.items():
        options = dict(options)
        described.append(MODEL | {"name": name} | options.pop("model", {}))
        given, grades = answered(benchmark, model=name, **options)
        answers += given
        found += scores(benchmark, given, grades)
        own[name] = runs(benchmark, given, grades)
    compared = {**NOTHING, **as_json(comparison(benchmark, own)), **more} if own else NOTHING
    taken = spending.spent(answers)
    return overview.index_data(described, benchmark, found, compared, taken, list(funnel), list(notes))


def stage(name: str, status: str, reason: str, rows_in: int, rows_out: int, **counts: int) -> dict[str, Any]:
    """A row of the funnel."""
    row = {"stage": name, "status": status, "reason": reason, "rows_in": rows_in, "rows_out": rows_out, "usd": 0.5}
    return row | spent(rows_out, **{"input_tokens": 10, "output_tokens": 1, **counts})


HOSTILE_BENCH = [
    bench(number, text, "zh", domain=text, source=text, id=f"{number} {text}")
    for number, text in enumerate(HOSTILE * 2)
]


def hostile_pages() -> tuple[bytes, bytes]:
    """A report and an index with hostile text in every place that a text can be in."""
    names = {"note": HOSTILE[0] + HOSTILE[3], "endpoint": HOSTILE[1], "model": HOSTILE[0]}
    role = {"role": HOSTILE[0], "model": HOSTILE[1], "family": HOSTILE[2], "same_model": False}
    families = [{"model": HOSTILE[0], "family": HOSTILE[3], "roles": [role]}]
    statistics = {"settings": {"plain": _hostile_statistics()}, "gain": []}
    one = report(HOSTILE_BENCH, MODEL | names | {"families": families}, statistics, repeats=3)
    rows = [stage("pairs", "ok", "", 9, 5), stage("pairs", "rejected", HOSTILE[0], 9, 4)]
    unmatched = {"row": 1, "id": HOSTILE[0], "model": HOSTILE[1], "reason": HOSTILE[2]}
    estimate = {"value": 0.5, "low": None, "high": None}
    points = [{"model": text, "score": 0.1 * place, "outside": 0.5} for place, text in enumerate(HOSTILE)]
    all_models = index(
        HOSTILE_BENCH,
        {"m-1": {"model": names}, "m-2": {"fates": FATES[1:], "model": names}},
        rows,
        [HOSTILE[0]],
        families=families,
        people={"path": HOSTILE[0], "judges": [], "unmatched": [unmatched], "unmatched_rows": 1},
        correlation={
            "name": HOSTILE[0],
            "points": points,
            "left_out": [HOSTILE[1]],
            "unknown": [HOSTILE[2]],
            "pearson": estimate,
            "spearman": estimate,
        },
    )
    return pages.model_report(one), pages.index_page(all_models)


def _hostile_statistics() -> dict[str, Any]:
    estimate = {"value": 0.5, "low": 0.4, "high": 0.6}
    figures = dict.fromkeys(("co", "cga", "f_score"), estimate)
    left_out = {"left_out": HOSTILE[0], "rows": 1, "figures": figures, "difference": estimate}
    return {
        "audit": [left_out],
        "corrected": {"figures": {}, "reason": HOSTILE[1]},
        "judges": {
            "judges": [HOSTILE[0]],
            "alpha": {"rows": 1, "alpha": estimate},
            "figures": [{"judge": HOSTILE[0], **figures, "graded": 1.0}],
        },
    }
