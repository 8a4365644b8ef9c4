"""From the pull requests of repositories to the fact recall of agents (what runs again: test_pull_rebuilds.py)."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from devqa import tables
from devqa.schemas import SCHEMAS
from replies import reply
from workflow.conftest import Project, configuration, copy_of_the_project

ROOT = Path(__file__).resolve().parents[2]
# A folder of clones, such as those of other tests of real repositories; nothing of them is in the project.
REPOSITORIES = os.environ.get("DEVQA_REPOSITORIES", "")
STEPS = ("question", "check", "answer", "facts", "support")
SETTINGS = ["ground_truth", "full_context", "no_context", "retrieval", "agentic"]
# What an agent may print: the question that it was asked, so that each answer is another one.
AGENT = "import pathlib, sys; print(len(list(pathlib.Path(sys.argv[1]).rglob('*.py'))), 'modules:', sys.argv[2])"
STAGES = {
    "pulls": ("pulls", None),
    "context": ("context", "pulls"),
    "questions": ("pull_questions", "context"),
    "checked": ("pull_checked", "questions"),
    "answered": ("pull_answers", "checked"),
    "facts": ("pull_facts", "answered"),
}


def section(repositories, **evaluation):
    return {
        "repositories": repositories,
        **{step: {"model": "worker"} for step in STEPS},
        "evaluation": {"models": ["weak"], "judge": {"model": "judge"}, **evaluation},
    }


def everything():
    """All settings of two models, and a command, on the example."""
    command = f"{sys.executable} -c {json.dumps(AGENT)} {{checkout}} {{question}}"
    return section(
        {"jobqueue": {"path": "examples/repository.bundle"}},
        models=["weak", "strong"],
        settings=SETTINGS,
        repeats=2,
        commands={"counter": {"command": command, "jobs": 2}},
    )


def pulled(project, name, repository="jobqueue"):
    """All rows of a table of one repository, by its folder's name."""
    return tables.read(project.folder / f"results/pull_requests/{name}/{repository}.parquet", STAGES[name][0])


def found(project, table):
    """All rows of the agents' tables, by setting."""
    rows = {}
    for path in sorted((project.folder / f"results/pull_requests/{table}").glob("*/*/*.parquet")):
        rows.setdefault(path.parts[-3], []).extend(tables.read(path, table))
    return rows


def passed(rows):
    return [row for row in rows if row["status"] == "ok"]


def accounted(project, repository):
    """Every stage has the rows that the one before let through, each rejection with its reason."""
    for name, (_, before) in STAGES.items():
        rows = pulled(project, name, repository)
        assert all(bool(row["reason"]) == (row["status"] != "ok") for row in rows), name
        if before:
            given = [row["pull_id"] for row in passed(pulled(project, before, repository))]
            assert sorted(row["pull_id"] for row in rows) == sorted(given), name


@pytest.fixture(scope="module")
def done(endpoint, tmp_path_factory):
    """A project that is finished, the requests that it sent, and what it said. Tests take copies of it."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("pulled") / "project")
    endpoint.clear()
    endpoint.reply = reply
    project = Project(folder, endpoint, configuration(endpoint, pull_requests=everything()))
    run = project.run("--", "pull_requests")
    assert run.code == 0, run.output
    return project, project.asked(), run


@pytest.fixture
def project(done, endpoint, tmp_path):
    """A copy of it, which a test may change; the endpoint has forgotten all requests."""
    finished, *_ = done
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(finished.config))


def test_every_pull_request_is_accounted_for(done):
    project, _, run = done
    accounted(project, "jobqueue")
    pulls = {row["number"]: row for row in pulled(project, "pulls")}
    assert sorted(pulls) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [number for number, row in pulls.items() if row["status"] != "ok"] == [3, 5]
    assert "bot" in pulls[3]["reason"]
    assert "test" in pulls[5]["reason"]
    assert "results/pull_requests/report.html" in run.output
    benchmark = tables.read(project.folder / "results/pull_requests/benchmark.parquet", "repository_benchmark")
    assert {row["pull_id"] for row in benchmark} == {row["pull_id"] for row in passed(pulled(project, "facts"))}
    assert benchmark
    assert all(row["facts"] and row["nodes"] and row["models"] and row["prompts"] for row in benchmark)


def test_what_was_renamed_and_moved_since_is_shown_as_it_is_now(done):
    project, _, _ = done
    context = {row["number"]: row for row in passed(pulled(project, "context"))}
    # The first one wrote jobqueue/retry.py, which a later one has moved.
    backoff = next(hunk for hunk in context[1]["hunks"] if hunk["was"].startswith("backoff"))
    assert (backoff["outcome"], backoff["path"]) == ("moved", "jobqueue/retry.py")
    assert "def backoff" in next(block["text"] for block in context[1]["blocks"] if block["node"] == backoff["node"])
    assert not any("retry.py" in block["path"] for row in context.values() for block in row["blocks"])
    # The sixth one has renamed Store.lease, as its own version knows.
    assert "Store.claim (jobqueue/store.py)" in [block["node"] for block in context[6]["blocks"]]


def test_the_number_of_requests_is_exact(done):
    project, asked, _ = done
    context = passed(pulled(project, "context"))
    questions = tables.read(project.folder / "results/pull_requests/questions.parquet", "repository_questions")
    assert asked["pr_question"] == len(context)
    assert asked["pr_check"] <= len(passed(pulled(project, "questions")))
    assert asked["pr_answer"] == len(passed(pulled(project, "checked")))
    assert asked["pr_facts"] == len(passed(pulled(project, "answered")))
    # Two models, two repeats.
    for setting in ("pr_full_context", "pr_no_context", "pr_retrieval"):
        assert asked[setting] == 4 * len(questions), setting
    assert asked["pr_agentic"] >= 4 * len(questions)


def test_true_answers_hold_all_facts_and_commands_answer(done):
    project, _, _ = done
    recalled = found(project, "recalled")
    assert {row["recall"] for row in recalled["ground_truth"]} == {1.0}
    predictions = found(project, "predictions")
    assert set(predictions) == {*SETTINGS, "command"}
    assert all("modules:" in row["answer"] for row in predictions["command"])
    assert all(row["exit_code"] == 0 and row["seconds"] > 0 for row in predictions["command"])
    assert any(call["outcome"] == "ok" for row in predictions["agentic"] for call in row["tool_calls"])
    assert all(row["shown"] for row in predictions["retrieval"])


def test_the_report_and_the_dataset_are_there(done):
    project, _, _ = done
    folder = project.folder / "results/pull_requests"
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8")
    dataset = pq.read_table(folder / "deep_code_bench.parquet")
    assert dataset.schema.equals(SCHEMAS["deep_code_bench"])
    assert dataset.num_rows == pq.read_table(folder / "benchmark.parquet").num_rows
    assert (folder / "leaderboard.csv").read_text().count("\n") == 1 + len(found(project, "recalled")) + 4


@pytest.mark.slow
def test_a_judge_that_is_replaced_asks_for_grades_alone(project):
    project.config["pull_requests"]["evaluation"]["judge"] = {"model": "strong"}
    run = project.run("--", "pull_requests")
    assert run.code == 0, run.output
    assert set(project.asked()) == {"pr_judge"}


@pytest.mark.slow
def test_this_projects_own_history(endpoint, tmp_path):
    """Its commits have no pull requests, so each counts as one."""
    shallow = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False
    )
    if shallow.stdout.strip() != "false":
        pytest.skip("this is no clone with its history")
    repositories = {"devqa": {"path": str(ROOT), "history": ["commit"], "latest": 25}}
    with_history(endpoint, tmp_path, repositories)


@pytest.mark.slow
@pytest.mark.skipif(not REPOSITORIES, reason="DEVQA_REPOSITORIES names no folder of clones")
def test_real_repositories(endpoint, tmp_path):
    folders = [path.parent for path in sorted(Path(REPOSITORIES).glob("*/*/HEAD"))][:4]
    repositories = {folder.parent.name: {"path": str(folder), "latest": 40} for folder in folders}
    assert len(repositories) > 1
    with_history(endpoint, tmp_path, repositories)


def with_history(endpoint, tmp_path, repositories):
    """Go through real repositories to the end, twice."""
    endpoint.clear()
    endpoint.reply = reply
    folder = copy_of_the_project(tmp_path / "project")
    asked = section(repositories, settings=SETTINGS)
    project = Project(folder, endpoint, configuration(endpoint, pull_requests=asked))
    run = project.run("--", "pull_requests")
    assert run.code == 0, run.output
    for repository in repositories:
        accounted(project, repository)
        statuses = Counter(row["status"] for row in pulled(project, "context", repository))
        assert statuses["ok"] > statuses.total() / 2, (repository, statuses)
    recalls = {row["recall"] for row in found(project, "recalled")["ground_truth"]}
    assert recalls == {1.0}
    endpoint.clear()
    run = project.run("--", "pull_requests")
    assert run.code == 0, run.output
    assert not endpoint.requests
