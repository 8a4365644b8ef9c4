"""What people have decided, in the figures and pages of a real run: nothing is asked for it."""

import copy
import json
import shutil
from collections import Counter
from typing import Any

import pytest

from devqa import tables
from devqa.config.evaluation import DOMAIN_GROUPS, DOMAINS
from replies import reply
from workflow.conftest import Project

ROWS = 90


@pytest.fixture(scope="module")
def graded(finished, endpoint, tmp_path_factory) -> Project:
    """The finished project with the paper's domains."""
    folder = tmp_path_factory.mktemp("graded") / "project"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    project = Project(folder, endpoint, copy.deepcopy(finished.config))
    project.config["evaluation"] |= {"domains": {"model": "worker"}}
    run = project.run()
    assert run.code == 0, run.output
    assert project.asked() == {"domains": ROWS}
    endpoint.clear()
    return project


def decide(project: Project, kind: str, table: str, rows: list[dict[str, Any]], names=("ann", "bob")) -> None:
    (project.folder / "review").mkdir(exist_ok=True)
    decisions = [
        dict.fromkeys(tables.SCHEMAS[table].names)
        | {"annotator": name, "role": "annotator", "decided_at": "2026-11-01T10:00:00Z"}
        | row
        for row in rows
        for name in names
    ]
    tables.write(decisions, table, project.folder / f"review/{kind}.parquet")


def read_json(project: Project, path: str) -> Any:
    return json.loads((project.folder / "results" / path).read_text())


def test_decisions_of_all_kinds_are_in_the_reports_and_ask_nothing(graded):
    project = graded
    before = read_json(project, "reports/index.json")
    assert before["review"] == {}
    assert before["people"] is None
    assert {each["group"]: each["paper"] for each in before["knowledge"]} == {"syntactic": 2305, "semantic": 435}
    assert sum(each["rows"] for each in before["knowledge"]) == ROWS
    assert [each["own"] for each in before["steps"]][:4] == [30, ROWS, ROWS, ROWS]
    assert before["steps"][-1]["own"] is None
    report = read_json(project, "reports/weak.json")
    groups = [each for each in report["settings"][0]["slices"] if each["slice"] == "knowledge"]
    assert {each["value"]: each["rows"] for each in groups} == {
        each["group"]: each["rows"] for each in before["knowledge"]
    }

    questions = tables.read(project.folder / "results/questions.parquet", "benchmark")
    merged = tables.read_ok(project.folder / "results/merged.parquet", "merged")
    sampled = tables.read(project.folder / "results/grades/plain/weak/1.parquet", "grades")[:20]
    key = ("id", "setting", "model", "repeat")
    urls = ["https://a.example/1", "https://b.example/2"]
    accepted = {"decision": "accept", "own_answer": "x", "evidence_urls": urls, "failed_criteria": [], "answer": ""}
    rejected = {"decision": "reject", "reason": "vague", "failed_criteria": [], "evidence_urls": [], "answer": ""}
    hard = [row["pair_id"] for row in merged if row["difficulty"] == "hard"]
    pairs = [{"pair_id": pair, "reason": "", **accepted} for pair in hard[:12]]
    pairs += [{"pair_id": pair, "own_answer": "", **rejected} for pair in hard[12:15]]
    decide(project, "pairs", "pair_decisions", pairs)
    decide(
        project,
        "grades",
        "grade_decisions",
        [{name: row[name] for name in key} | {"grade": "CORRECT"} for row in sampled],
    )
    gone = {each["pair_id"] for each in pairs if each["decision"] == "reject"}
    kept = [row for row in questions if row["id"] not in gone]
    domain = "Compiler design"
    decide(project, "domains", "domain_decisions", [{"id": row["id"], "domain": domain} for row in kept[:10]])

    run = project.run()
    assert run.code == 0, run.output
    assert project.asked() == {}
    index = read_json(project, "reports/index.json")
    assert index["review"]["pairs"]["pairs"] == {"accepted": 12, "corrected": 0, "rejected": 3, "open": ROWS - 15}
    assert set(index["review"]) == {"pairs", "grades", "domains"}
    assert (index["steps"][-1]["own"], index["steps"][-1]["own_rate"]) == (12, 0.8)
    domains = {row["id"]: row["domain"] for row in tables.read(project.folder / "results/domains.parquet", "domains")}
    assert {domains[row["id"]] for row in kept[:10]} == {domain}
    counts = Counter(domains.values())
    (semantic,) = [each for each in index["knowledge"] if each["group"] == "semantic"]
    assert semantic["rows"] == sum(counts[name] for name in DOMAIN_GROUPS["semantic"])
    assert {each["domain"] for each in semantic["domains"]} <= set(DOMAINS)
    # Settled grades are people's grades: one for each answer, however many gave it.
    (judge,) = index["people"]["judges"]
    assert index["people"]["path"] == "review/grades.parquet"
    assert judge["rows"] + judge["ungraded"] + index["people"]["unmatched_rows"] == 20
    assert read_json(project, "statistics/weak.json")["settings"]["plain"]["people"]["rows"] == judge["rows"]
    assert not project.run().rules
