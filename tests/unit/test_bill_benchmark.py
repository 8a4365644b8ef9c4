"""Tables from elsewhere, read for the bill."""

import copy
import csv
import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from devqa import tables
from devqa.bill.benchmark import asked_rows, imported
from devqa.bill.meter import SCRIPTS, measured
from devqa.bill.plan import Planned
from devqa.config import root
from devqa.config.models import asked_with
from devqa.errors import UserError
from devqa.recipe import recipe

ROOT = SCRIPTS.parent
BENCHMARK = "results/imported_benchmark.parquet"
ANSWERS = ["results/answers/plain/theirs/1.parquet"]


@pytest.fixture
def config(tmp_path, monkeypatch) -> dict[str, Any]:
    """A configuration with a benchmark of three questions from elsewhere, one of them easy."""
    monkeypatch.chdir(ROOT)
    raw = copy.deepcopy(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    raw["cache_dir"] = str(tmp_path / "cache")
    raw["models"]["one"] = {"base_url": "http://127.0.0.1:9/v1"}
    validated = root.load(raw).model_dump(mode="json")
    monkeypatch.chdir(tmp_path)
    write("benchmark.csv", [("What is 1?", "1", "easy"), ("What is 2?", "2", "hard"), ("What is 3?", "3", "")])
    with Path("theirs.csv").open("w", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "prediction"), ("What is 1?", "one"), ("What is 2?", "two")])
    return validated


def write(path: str, rows: list[tuple[str, str, str]]) -> None:
    with Path(path).open("w", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "answer", "difficulty"), *rows])


def job(rule: str, config: dict[str, Any], pending: tuple[str, ...] = (BENCHMARK,), **more: Any) -> Planned:
    """A job about the benchmark, which is yet to be read."""
    columns = config_columns()
    asked = asked_with("one", root.Model.model_validate(config["models"]["one"]))
    inputs, outputs, options, models = {
        "import_benchmark": (
            {"files": ["benchmark.csv"]},
            {"benchmark": BENCHMARK},
            {"columns": columns["benchmark"], "named": []},
            {},
        ),
        "import_answers": (
            {"benchmark": BENCHMARK, "files": ["theirs.csv"]},
            {"answers": ANSWERS, "grades": [], "unmatched": "results/imports/plain/theirs.csv"},
            {
                "difficulties": ["easy", "hard"],
                "model": "theirs",
                "setting": "plain",
                "columns": columns["answers"],
                "grades": {},
                "files": [["theirs.csv"]],
                "named": [],
                "grades_decided": True,
            },
            {},
        ),
        "answer": (
            {"benchmark": BENCHMARK, "retrieved": []},
            {"answers": ["results/answers/plain/one/1.parquet"]},
            {"difficulties": ["easy", "hard"]},
            {"answer": asked},
        ),
        "judge": (
            {"benchmark": BENCHMARK, "answers": ANSWERS},
            {"grades": ["results/grades/plain/theirs/1.parquet"]},
            {},
            {"judge": asked},
        ),
    }[rule]
    prompts = {"answer": ["answer/plain"], "judge": ["judge"]}.get(rule, [])
    planned = Planned(
        rule=rule,
        wildcards={"setting": "plain", "model": "one"} if rule == "answer" else {},
        input=inputs,
        output=outputs,
        recipe=recipe(ROOT, f"{rule}.py", options, models, prompts),
        threads=1,
        resources={},
        runs=True,
        basis="missing" if pending else "exact",
        unsettled=False,
        pending=pending,
    )
    return dataclasses.replace(planned, **more)


def config_columns() -> dict[str, dict[str, Any]]:
    from devqa.config.imports import AnswerColumns, BenchmarkColumns

    return {"benchmark": BenchmarkColumns().model_dump(), "answers": AnswerColumns().model_dump()}


def test_a_benchmark_from_elsewhere_is_read_and_its_questions_are_counted_to_the_letter(config, tmp_path):
    jobs = [job("import_benchmark", config, ()), job("answer", config)]
    (answer,) = imported(jobs, config, tmp_path / "made")
    assert (answer.rule, answer.basis, answer.pending) == ("answer", "exact", ())
    (reading,) = measured(answer, config)
    assert len(reading.missing) == 3
    assert asked_rows([answer], ["easy", "hard"]) == 3
    # A row without a difficulty is always asked.
    assert asked_rows([answer], ["hard"]) == 2
    assert not Path("results").exists()


def test_answers_from_elsewhere_are_read_on_the_benchmark_that_was_read_before(config, tmp_path):
    jobs = [
        job("import_benchmark", config, ()),
        job("import_answers", config),
        job("judge", config, (BENCHMARK, *ANSWERS)),
    ]
    (judge,) = imported(jobs, config, tmp_path / "made")
    assert judge.basis == "exact"
    (reading,) = measured(judge, config)
    # The third question has no answer.
    assert len(reading.missing) == 2


def test_what_waits_for_a_benchmark_that_is_still_to_be_built_stays_as_it_is(config, tmp_path):
    jobs = [job("import_answers", config), job("judge", config, (BENCHMARK, *ANSWERS)), job("answer", config)]
    judge, answer = imported(jobs, config, tmp_path / "made")
    assert (judge, answer) == (jobs[1], jobs[2])
    assert asked_rows([judge, answer], ["easy", "hard"]) is None


def test_what_is_up_to_date_is_not_read_again(config, tmp_path):
    tables.write([{"id": "a", "question": "?", "difficulty": "easy"}], "benchmark", BENCHMARK)
    Path("benchmark.csv").unlink()
    jobs = [job("import_benchmark", config, (), runs=False), job("answer", config, ())]
    (answer,) = imported(jobs, config, tmp_path / "made")
    assert answer == jobs[1]
    assert asked_rows([answer], ["easy"]) == 1


def test_passages_that_are_still_to_be_found_leave_a_job_missing_but_its_rows_known(config, tmp_path):
    retrieved = "results/retrieved.parquet"
    rag = job("answer", config, (BENCHMARK, retrieved))
    rag = dataclasses.replace(rag, input={**rag.input, "retrieved": retrieved})
    (rag,) = imported([job("import_benchmark", config, ()), rag], config, tmp_path / "made")
    assert (rag.basis, rag.pending) == ("missing", (retrieved,))
    assert measured(rag, config) == []
    assert asked_rows([rag], ["easy", "hard"]) == 3


def test_a_file_that_can_t_be_read_is_named(config, tmp_path):
    Path("benchmark.csv").write_text("question\nWhat?\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"benchmark\.csv"):
        imported([job("import_benchmark", config, ()), job("answer", config)], config, tmp_path / "made")


def test_the_configuration_that_the_bill_gets_is_the_same_when_it_is_read_again(config):
    raw = copy.deepcopy(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    raw["search"]["corpus"] = str(ROOT / "examples/web")
    raw["evaluation"] |= {
        "benchmark": {"path": "benchmark.csv", "columns": {"question": "answer", "answer": "solution"}},
        "imports": [{"model": "theirs", "files": ["theirs.csv"], "columns": {"prediction": "answer", "id": None}}],
        "human_grades": {"path": "theirs.csv", "columns": {"grade": "grade"}},
    }
    first = root.load(raw)
    again = root.load(first.dumped())
    assert again == first
    assert again.dumped() == first.dumped()
    for section in (again.evaluation.benchmark, again.evaluation.imports[0], again.evaluation.human_grades):
        assert section.columns.model_fields_set < {*type(section.columns).model_fields}
    assert again.evaluation.imports[0].columns.model_fields_set == {"prediction", "id"}
