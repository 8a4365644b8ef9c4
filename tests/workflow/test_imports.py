"""A benchmark and answers from elsewhere, in real Snakemake runs."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from devqa import tables
from devqa.evaluation.metrics import figures
from workflow.conftest import ROOT

PUBLISHED = ROOT.parent / "shared/data/simpledevqa"
FIGURES = {
    "Llama-3.1-8b": (0.449, 0.535, 0.016, 0.456, 0.453),
    "gpt-3.5-turbo": (0.677, 0.307, 0.016, 0.688, 0.682),
    "o3-mini": (0.718, 0.278, 0.004, 0.721, 0.719),
    "claude-3-5-haiku": (0.536, 0.324, 0.140, 0.623, 0.576),
}
ROWS = [("What does git log show?", "commits", "hard"), ("What is HTTP 404?", "not found", ""), ("1 + 1?", "2", "easy")]


def write_csv(path: Path, header: str, *rows) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path.name


def external(project, **evaluation):
    """A benchmark of three rows, of which two are asked, and two models with answers from elsewhere."""
    folder = project.folder
    questions = [row[0] for row in ROWS]
    graded = zip(questions[:2], ["NA", "not\nfound, really"], ["B", "A"], ["fine", "poor"], strict=True)
    project.config["evaluation"] |= {
        "benchmark": {
            "path": write_csv(folder / "bench.csv", "problem,answer,difficulty", *ROWS),
            "columns": {"question": "problem"},
        },
        "models": ["weak"],
        "repeats": 1,
        "difficulties": ["hard"],
        "imports": [
            {
                "model": "gpt-3.5",
                "files": [
                    write_csv(folder / "graded.csv", "question,prediction,mark,word", *graded, ["Who?", "I", "A", ""])
                ],
                "columns": {"grade": "mark"},
            },
            {
                "model": "other",
                "setting": "rag",
                "files": [
                    write_csv(folder / f"said{n}.csv", "question,prediction", [questions[n], "said"]) for n in (0, 1)
                ],
            },
        ],
        **evaluation,
    }
    return project


@pytest.mark.slow
def test_answers_from_elsewhere_flow_with_those_that_are_asked(fresh):
    project = external(fresh, panel=["strong"])
    run = project.run("--", "results/funnel.csv")
    assert run.code == 0, run.output
    assert not any(rule in run.rules for rule in ("ingest_mine", "generate", "benchmark"))
    # Two questions for the one model that is asked; its two answers and two of the model without grades are judged,
    # and all of them and those that came with grades by the panel.
    assert project.asked() == {"answer": 2, "judge": 2 + 2 + 2 + 2 + 2}
    results = project.folder / "results"
    answers = tables.read(results / "answers/plain/gpt-3.5/1.parquet", "answers")
    assert [row["answer"] for row in answers] == ["NA", "not\nfound, really"]
    grades = tables.read(results / "grades/plain/gpt-3.5/1.parquet", "grades")
    assert [(row["judge"], row["grade"]) for row in grades] == [(None, "INCORRECT"), (None, "CORRECT")]
    outcomes = [
        [row["outcome"] for row in tables.read(results / f"answers/rag/other/{repeat}.parquet", "answers")]
        for repeat in (1, 2)
    ]
    assert outcomes == [["ok", "missing"], ["missing", "ok"]]
    with (results / "imports/plain/gpt-3.5.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["row"], row["question"]) for row in csv.DictReader(file)] == [("3", "Who?")]
    assert len((results / "imports/rag/other.csv").read_text().splitlines()) == 1
    with (results / "funnel.csv").open(encoding="utf-8", newline="") as file:
        rows = {}
        for row in csv.DictReader(file):
            rows[row["stage"]] = rows.get(row["stage"], 0) + int(row["rows_out"])
    assert rows == {"answers": 8, "grades": 8, "panel": 8}
    again = project.run("--", "results/funnel.csv")
    assert (again.code, again.rules) == (0, {}), again.output
    # Rows in another order are read again, and nothing more is asked.
    project.endpoint.clear()
    write_csv(
        project.folder / "graded.csv", "question,prediction,mark", *([row[0], "x", "A"] for row in reversed(ROWS[:2]))
    )
    assert project.run("--", "results/funnel.csv").rules["import_plain_gpt-3.5"] == 1
    assert project.asked()["answer"] == 0


def test_answers_with_grades_need_neither_conversations_nor_pages_nor_a_model(fresh):
    external(fresh, models=[])
    evaluation = fresh.config["evaluation"]
    del evaluation["judge"], evaluation["imports"][1:]
    for folder in ("examples", "mine"):
        shutil.rmtree(fresh.folder / folder)
    run = fresh.run()
    assert (run.code, fresh.endpoint.count) == (0, 0), run.output
    assert (fresh.folder / "results/reports/gpt-3.5.html").exists()
    assert "match nothing: results/imports/plain/gpt-3.5.csv" in run.output


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"columns": {"grade": "marks"}}, "graded.csv has no column 'marks' for grade: did you mean 'mark'?"),
        (
            {"columns": {"grade": "word"}},
            "no grade of gpt-3.5 in column 'word' can be read: its words are 'fine', 'poor'",
        ),
        ({"files": ["none.csv"]}, "evaluation.imports.0.files: 'none.csv' does not exist"),
    ],
)
def test_what_the_user_has_to_mend_is_said_in_one_message(fresh, entry, says):
    project = external(fresh)
    project.config["evaluation"]["imports"][0] |= entry
    run = project.run("--", "results/imports/plain/gpt-3.5.csv")
    assert run.code == 1
    assert says in run.output
    assert "Traceback" not in run.output


def test_tables_that_are_read_last_are_looked_at_before_anything_is_paid_for(fresh):
    write_csv(fresh.folder / "figures.csv", "model,pass@1", ["weak", "80"], ["weak", "90"])
    fresh.config["evaluation"]["code_generation"] = {"path": "figures.csv"}
    run = fresh.run()
    assert (run.code != 0, fresh.endpoint.count) == (True, 0)
    assert "figures.csv, row 2: weak has a figure in an earlier row" in run.output
    assert "Traceback" not in run.output


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published grades are not on this machine")
def test_published_grades_give_the_published_figures(fresh):
    columns = {"question": "problem", "answer": "golden_answer"}
    more = {"prediction": "predict_answer", "grade": "grade_letter"}
    fresh.config["evaluation"] = {
        "benchmark": {"path": str(PUBLISHED / "benchmark.parquet"), "columns": columns},
        "models": [],
        "imports": [
            {"model": model, "files": [str(PUBLISHED / f"graded/{model}.parquet")], "columns": {**columns, **more}}
            for model in FIGURES
        ],
    }
    run = fresh.run("--", *(f"results/grades/plain/{model}/1.parquet" for model in FIGURES))
    assert run.code == 0, run.output
    assert json.dumps(fresh.asked()) == "{}"
    benchmark = tables.read(fresh.folder / "results/imported_benchmark.parquet", "benchmark")
    for model, expected in FIGURES.items():
        answers, grades = (
            {row["id"]: row for row in tables.read(fresh.folder / f"results/{name}/plain/{model}/1.parquet", name)}
            for name in ("answers", "grades")
        )
        got = figures(benchmark, answers, grades)
        assert tuple(round(got[name], 3) for name in ("co", "in", "na", "cga", "f_score")) == expected
