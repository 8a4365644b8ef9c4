"""A made-up evaluation with everything that the reports show: answers and grades at random, figures by the library."""

import random
from typing import Any

from devqa.evaluation.as_json import as_json
from devqa.evaluation.comparing import comparison, correlated
from devqa.evaluation.metrics import scores
from devqa.evaluation.model_statistics import model_statistics
from devqa.evaluation.people import comparison_with_people
from devqa.evaluation.runs import runs, verdicts
from devqa.reporting import data, overview, spending
from devqa.usage import COUNTS

GRADES = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
LANGUAGES, DOMAINS = ("en", "zh", "ru"), ("databases", "web", "version control", "operating systems", None)
PRICE = {"input": 1.0, "output": 2.0, "cached_input": 0.5}
WORDS = ["git", "stash", "keeps", "the", "index", "and", "работает", "с", "ветками", "左前缀", "原则", "```code```"]


def described(name: str, **more: Any) -> dict[str, Any]:
    """What a report is told of a model."""
    endpoint = "https://models.example/v1"
    return {"name": name, "endpoint": endpoint, "model": name, "note": "", "price": PRICE, "families": [], **more}


def questions(count: int, dialogues: int | None = None) -> list[dict[str, Any]]:
    """Benchmark rows with every column that is shown or counted."""
    return [
        {
            "id": f"q{number:05}",
            "question": f"Question {number}: what does `git stash --keep-index` do?",
            "answer": "It stashes the working tree, and leaves the index as it is.",
            "language": LANGUAGES[number % 3],
            "domain": DOMAINS[number % 5],
            "difficulty": "hard" if number % 3 else "easy",
            "source": ("wildchat", "pull requests")[number % 2],
            "dialogue_id": f"d{number % (dialogues or count)}",
            "filtered": [
                {"model": "strong", "grade": GRADES[number % 2]},
                {"model": "weak", "grade": "INCORRECT"},
            ],
            "references": [{"url": f"https://docs.example/{number}", "title": f"Page {number}"}],
        }
        for number in range(count)
    ]


class Model:
    """Answers, grades and further judges' grades of one made-up model with the true rate `skill` of being right."""

    def __init__(self, name: str, skill: float, benchmark: list[dict[str, Any]], settings: dict[str, int], length=40):
        self.name = name
        self.benchmark = benchmark
        self._random = random.Random(name)  # noqa: S311 - no secret
        self._length = length
        self.answers: list[dict[str, Any]] = []
        self.grades: list[dict[str, Any]] = []
        self.panel: list[dict[str, Any]] = []
        for setting, repeats in settings.items():
            better = skill + {"rag": 0.5 * (1 - skill), "agentic": 0.3 * (1 - skill)}.get(setting, 0)
            for repeat in range(1, repeats + 1):
                for row in benchmark:
                    self._add(row, setting, repeat, better)

    def _add(self, row: dict[str, Any], setting: str, repeat: int, skill: float) -> None:
        drawn = self._random.random
        key = {"id": row["id"], "setting": setting, "model": self.name, "repeat": repeat}
        usable = drawn() > 0.02
        answer = {"outcome": "ok", "status": "ok", "reason": "", "answer": self._text(), "raw": None}
        if not usable:
            answer = {
                "outcome": "truncated",
                "status": "failed",
                "reason": "truncated: too long",
                "answer": None,
                "raw": self._text(),
            }
        counts = dict.fromkeys(COUNTS, 0) | {"calls": 1, "input_tokens": 120, "output_tokens": 60, "cached_tokens": 20}
        counted = {"input_tokens": 120, "output_tokens": 60, "reasoning_tokens": 0}
        stated = round(100 * min(1, max(0, self._random.gauss(skill + 0.2, 0.2)))) if drawn() > 0.05 else None
        shown = [
            {
                "url": f"https://docs.example/{row['id']}/{place}",
                "title": f"Page {place}",
                "text": self._text(),
                "score": 1.0,
            }
            for place in range(3)
        ]
        call = {
            "round": 1,
            "tool": "search",
            "arguments": '{"query": "git stash"}',
            "outcome": "ok",
            "result": self._text() * 20,
        }
        self.answers.append(
            key
            | answer
            | counted
            | {
                "confidence": stated if setting == "confidence" and usable else None,
                "passages": shown if setting == "rag" else [],
                "tool_calls": [call, call | {"tool": "open", "round": 2}] if setting == "agentic" else [],
                "usage": [{"model": self.name, **counts}],
            }
        )
        if usable:
            truth = "CORRECT" if drawn() < skill else "INCORRECT" if drawn() < 0.8 else "NOT_ATTEMPTED"
            self.grades.append(key | self._grade("judge", truth))
            self.panel += [key | self._grade(judge, truth) for judge in ("second", "third")]

    def _grade(self, judge: str, truth: str) -> dict[str, Any]:
        drawn = self._random.random()
        grade = truth if drawn < 0.92 else self._random.choice(GRADES) if drawn < 0.99 else None
        reason = "" if grade else "no verdict"
        return {"judge": judge, "grade": grade, "judge_text": f"{judge}: {self._text(8)}", "raw": "", "reason": reason}

    def _text(self, length: int | None = None) -> str:
        return " ".join(self._random.choices(WORDS, k=length or self._length))


def people(models: list[Model], count: int) -> list[dict[str, Any]]:
    """People's grades of the first answers of each model, and two that belong to no answer."""
    found = [
        {
            "row": number,
            "id": row["id"],
            "model": model.name,
            "setting": None,
            "repeat": None,
            "grade": GRADES[number // 9 % 3] if number % 9 == 0 else row["grade"] or "CORRECT",
            "reason": "",
        }
        for model in models
        for number, row in enumerate(model.grades[:count])
    ]
    strangers = [found[0] | {"id": "q?"}, found[0] | {"model": "nobody"}] if found else []
    return [*found, *strangers]


def report(model: Model, graded=(), verdict="judge", panel=True, **more: Any) -> dict[str, Any]:
    """What `data.report_data` makes of a made-up model."""
    further = model.panel if panel else []
    rows = scores(model.benchmark, model.answers, verdicts(model.grades, further, verdict))
    own = runs(model.benchmark, model.answers, model.grades, further, verdict)
    statistics = as_json(model_statistics(model.name, model.benchmark, own, graded))
    told, taken = described(model.name, **more), spending.spent(model.answers)
    return data.report_data(
        told, model.benchmark, model.answers, model.grades, rows, taken, statistics, further, verdict
    )


def index(models: list[Model], graded=(), outside=None, families=(), funnel=(), notes=(), panel=True) -> dict[str, Any]:
    """What `overview.index_data` makes of several made-up models."""
    return overview.index_data(*index_arguments(models, graded, outside, families, panel), list(funnel), list(notes))


def index_arguments(models: list[Model], graded=(), outside=None, families=(), panel=True) -> tuple:
    """What `overview.index_data` takes of the models."""
    benchmark = models[0].benchmark
    found = {each.name: runs(benchmark, each.answers, each.grades, each.panel if panel else []) for each in models}
    compared = {
        **comparison(benchmark, found),
        "correlation": outside and correlated(found, outside, "HumanEval pass@1"),
        "people": comparison_with_people(benchmark, found, graded, "people.csv") if graded else None,
        "families": list(families),
    }
    return (
        [described(each.name) for each in models],
        benchmark,
        [row for each in models for row in scores(benchmark, each.answers, each.grades)],
        as_json(compared),
        spending.spent(row for each in models for row in each.answers),
    )
