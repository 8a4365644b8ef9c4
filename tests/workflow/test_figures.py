"""From graded answers to scores, statistics and the comparison of all models, in real Snakemake runs."""

import csv
import json
import random
from pathlib import Path

import pytest

from devqa import tables
from workflow.conftest import Project

QUESTIONS, REPEATS = 36, 2
MODELS = {"gpt-3.5": 0.4, "gpt-4": 0.8, "Llama-3": 0.6}
TARGETS = ["results/comparison.json", *(f"results/statistics/{model}.json" for model in MODELS)]


def write(path: Path, *rows) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path.name


def graded(folder: Path) -> list[dict]:
    """Three models in two settings, whose answers come with grades and, in `plain`, with confidence."""
    generator = random.Random(1)
    imports = []
    for model, ability in MODELS.items():
        for setting in ("plain", "rag"):
            files = []
            for repeat in range(1, REPEATS + 1):
                rows = [
                    (
                        f"q{number:02}",
                        f"said {number}",
                        "A" if generator.random() < ability else "B",
                        90 if number else "",
                    )
                    for number in range(QUESTIONS)
                ]
                name = f"{model}-{setting}-{repeat}.csv"
                files.append(write(folder / name, ("id", "prediction", "mark", "confidence"), *rows))
            imports.append({"model": model, "setting": setting, "files": files, "columns": {"grade": "mark"}})
    return imports


@pytest.fixture
def project(fresh) -> Project:
    """A benchmark and answers from elsewhere, two further judges, people's grades and figures of another benchmark."""
    folder = fresh.folder
    columns = ("id", "question", "answer", "difficulty", "dialogue_id")
    rows = [
        (f"q{n:02}", f"What is {n}?", f"said {n}", "hard" if n % 3 else "easy", f"d{n // 3}") for n in range(QUESTIONS)
    ]
    people = [(f"q{n:02}", "gpt-4", "A" if n % 2 else "B", "") for n in range(20)]
    lost = [("q00", "nobody", "A", ""), ("q99", "gpt-4", "A", ""), ("q00", "gpt-4", "A", 7)]
    fresh.config["evaluation"] = {
        "benchmark": {"path": write(folder / "bench.csv", columns, *rows)},
        "models": [],
        "judge": {"model": "judge"},
        "panel": ["strong", "weak"],
        "imports": graded(folder),
        "human_grades": {"path": write(folder / "people.csv", ("id", "model", "grade", "repeat"), *people, *lost)},
        "code_generation": {
            "path": write(folder / "he.csv", ("model", "pass@1"), *((m, 50) for m in MODELS), ("x", 1))
        },
    }
    return fresh


def read(project: Project, path: str) -> dict:
    return json.loads((project.folder / "results" / path).read_text(encoding="utf-8"))


def overall(project: Project, model: str, metric: str) -> dict:
    rows = tables.read(project.folder / f"results/scores/{model}.parquet", "scores")
    return next(row for row in rows if (row["setting"], row["slice"], row["metric"]) == ("plain", "all", metric))


@pytest.mark.slow
def test_all_figures_come_out_of_graded_answers(project):
    run = project.run("--", *TARGETS)
    assert run.code == 0, run.output
    compared = read(project, "comparison.json")
    assert list(compared["settings"]) == ["plain", "rag"]
    assert len(compared["settings"]["plain"]["comparisons"]) == 3
    assert compared["settings"]["plain"]["ranks"]["gpt-4"] == 1
    assert [each["model"] for each in compared["gains"]] == list(MODELS) * 3
    assert (compared["gaps"][0]["weakest"], compared["gaps"][0]["strongest"]) == ("gpt-3.5", "gpt-4")
    assert compared["correlation"]["unknown"] == ["x"]
    assert [each["judge"] for each in compared["people"]["judges"]] == ["imported", "strong", "weak", "majority"]
    assert compared["people"]["unmatched_rows"] == 3
    assert compared["judges"]["judges"] == ["imported", "strong", "weak"]
    assert compared["judges"]["alpha"]["rows"] == len(MODELS) * 2 * REPEATS * QUESTIONS
    own = read(project, "statistics/gpt-4.json")
    plain = own["settings"]["plain"]
    assert plain["calibration"]["excluded"]["unreadable"] == REPEATS
    assert (plain["people"]["judge"], plain["people"]["rows"]) == ("imported", 20)
    assert own["settings"]["rag"]["people"] is None and plain["audit"] is None
    by_judge = {each["judge"]: each for each in plain["judges"]["figures"]}
    assert by_judge["imported"]["co"]["value"] == pytest.approx(overall(project, "gpt-4", "co")["mean"])
    assert [each["setting"] for each in own["gain"]] == ["rag"] * 3

    # Whose grades count is a matter of counting: nothing is asked, and only figures are made again.
    before = {path: (project.folder / path).read_bytes() for path in TARGETS}
    project.endpoint.clear()
    project.config["evaluation"]["verdict"] = "majority"
    run = project.run("--", *TARGETS)
    assert (run.code, set(run.rules), project.asked()) == (0, {"score", "compare"}, {}), run.output
    majority = overall(project, "gpt-4", "co")
    assert majority["mean"] == pytest.approx(by_judge["majority"]["co"]["value"])
    assert read(project, "statistics/gpt-4.json")["settings"]["plain"]["people"]["judge"] == "majority"
    project.config["evaluation"]["verdict"] = "judge"
    assert project.run("--", *TARGETS).code == 0
    assert {path: (project.folder / path).read_bytes() for path in TARGETS} == before
