"""Questions from pull requests: what runs and is asked again after an edit, and what bill, why and cache say of it."""

import copy
import json
import re
import shutil
from collections import Counter

import pytest

from devqa import tables
from merging import PULLS, repository, section
from replies import reply, step_of
from workflow.conftest import Project, configuration, copy_of_the_project
from workflow.test_rebuild_code import PREDICTED, imported
from workflow.test_rebuild_keys import cells
from workflow.test_rebuild_texts import NOTING

FIGURES = {"pr_score", "pr_report"}
JUDGED = {"pr_recall", "pr_recall_ground_truth", *FIGURES}
ANSWERED = {"pr_predict", "pr_ground_truth", "pr_command", *JUDGED}
BUILT = {"pr_benchmark", *ANSWERED}
# Each agent in each setting, the command, and the true answer; a conversation has three messages.
ASKED = {
    **dict.fromkeys(("pr_question", "pr_check", "pr_answer", "pr_facts", "pr_support"), PULLS),
    **{f"pr_{setting}": PULLS for setting in PREDICTED},
    "pr_agentic": 3 * PULLS,
    "pr_judge": (len(PREDICTED) + 2) * PULLS,
}
# The prompt that is edited → the rules that run. What a faithful model says does not depend on the edit.
EDITS = {
    "question": {"pr_question", "pr_check", "pr_answer", "pr_facts", *BUILT},
    "check": {"pr_check", "pr_answer", "pr_facts", *BUILT},
    "answer": {"pr_answer", "pr_facts", *BUILT},
    "facts": {"pr_facts", *BUILT},
    "support": {"pr_facts", *BUILT},
    **dict.fromkeys(PREDICTED, {"pr_predict", "pr_recall", *FIGURES}),
    "judge": JUDGED,
}
ONES = ("questions", "checked", "answered", "facts")


@pytest.fixture(scope="module")
def done(endpoint, tmp_path_factory):
    """A project whose questions are asked and graded, its requests, and the modules that each script has loaded."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("pulled") / "project")
    repository(folder / "zoo")
    loaded = tmp_path_factory.mktemp("loaded")
    (loaded / "hook").mkdir()
    (loaded / "notes").mkdir()
    (loaded / "hook/sitecustomize.py").write_text(NOTING, encoding="utf-8")
    endpoint.clear()
    endpoint.reply = reply
    project = Project(folder, endpoint, configuration(endpoint, pull_requests=section("zoo")))
    run = project.run(
        "--", "pull_requests", environment={"PYTHONPATH": str(loaded / "hook"), "LOADED": str(loaded / "notes")}
    )
    assert run.code == 0, run.output
    return project, endpoint.requests, [json.loads(note.read_text()) for note in (loaded / "notes").iterdir()]


@pytest.fixture
def project(done, endpoint, tmp_path):
    """A copy of that project, which a test may change; the endpoint has forgotten all requests."""
    finished, *_ = done
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(finished.config))


def pulled(project):
    """A run that went well: the rules that ran, beside the one that tells of it."""
    run = project.run("--", "pull_requests")
    assert run.code == 0, run.output
    return set(run.rules) - {"pull_requests"}


def edit(project, prompt):
    file = project.folder / f"prompts/pull_requests/{prompt}/system.j2"
    file.write_text(f"Be exact. {file.read_text(encoding='utf-8')}", encoding="utf-8")


def contents(project, *names):
    folder = project.folder / "results/pull_requests"
    return {name: (folder / f"{name}.parquet").read_bytes() for name in names}


def billed(project):
    """What the bill says of each part: requests that have their answer, that are to be sent, and the basis."""
    run = project.run("--", "bill")
    assert run.code == 0, run.output
    found = re.findall(r"^(pr_\w+) +\w+ +[\d,]+ +([\d,]+) +([\d,]+) .* (\w+)$", run.output, re.MULTILINE)
    said = {
        name: (int(cached.replace(",", "")), int(sent.replace(",", "")), basis) for name, cached, sent, basis in found
    }
    return said, run.output


def test_the_number_of_requests_is_exact(done):
    project, requests, _ = done
    assert Counter(map(step_of, requests)) == ASKED
    folder = project.folder / "results/pull_requests"
    assert len(tables.read(folder / "benchmark.parquet", "repository_benchmark")) == PULLS
    truth = tables.read(folder / "recalled/ground_truth/ground_truth/1.parquet", "recalled")
    assert [row["recall"] for row in truth] == [1.0] * PULLS


def test_a_job_loads_no_module_that_its_rule_does_not_depend_on(done):
    project, _, notes = done
    root, loaded = project.folder / "scripts", {}
    for main, files in notes:
        if ".snakemake" in main:
            own = {file.removeprefix(f"{root}/") for file in files if file.startswith(f"{root}/devqa/")}
            loaded.setdefault(main.rpartition("/")[2].partition(".")[2], set()).update(own)
    assert {script for script in loaded if script.startswith("pr_")} >= {"pr_blocks.py", "pr_recall.py", "pr_report.py"}
    for script, modules in loaded.items():
        assert modules <= imported(script), script


def test_a_second_run_does_nothing_and_nothing_would_be_asked(project):
    assert pulled(project) == set()
    assert not project.endpoint.count
    assert billed(project)[0] == {}


@pytest.mark.parametrize(
    "prompt", [pytest.param(name, marks=[] if name in ("facts", "judge") else pytest.mark.slow) for name in EDITS]
)
def test_an_edited_prompt_is_asked_again_and_no_other_and_the_bill_says_so(prompt, project):
    edit(project, prompt)
    said, text = billed(project)
    assert not project.endpoint.count
    asked = f"pr_{prompt}"
    assert said[asked][1] == ASKED[asked] or (prompt == "agentic" and 0 < said[asked][1] <= 13 * PULLS)
    assert said[asked][2] == ("present" if prompt == "agentic" else "exact"), text
    before = contents(project, "questions", "facts")
    assert pulled(project) == EDITS[prompt]
    assert project.asked() == {asked: ASKED[asked]}
    assert contents(project, "questions", "facts") == before


def test_other_facts_are_looked_for_again_and_no_question_answer_or_prediction_is_asked_for(project):
    edit(project, "facts")
    said, _ = billed(project)
    before = contents(project, "questions")

    def otherwise(body):
        facts = [{"fact": "The red one is counted.", "importance": "vital"}]
        return {"facts": facts} if step_of(body) == "pr_facts" else reply(body)

    project.endpoint.reply = otherwise
    assert pulled(project) == EDITS["facts"]
    # An answer that two agents gave is judged once for both.
    assert project.asked() == {step: ASKED[step] for step in ("pr_facts", "pr_support", "pr_judge")}
    assert contents(project, "questions") == before
    # That all facts come out other than they were is what the bill expects.
    assert said["pr_facts"] == (0, PULLS, "exact")
    assert {step: sent for step, (_, sent, _) in said.items() if sent} == project.asked()


@pytest.mark.slow
def test_a_further_pull_request_is_the_only_one_that_is_asked_about(project):
    shutil.rmtree(project.folder / "zoo")
    repository(project.folder / "zoo", pulls=PULLS + 1)
    pulled(project)
    asked = project.asked()
    once = {*ASKED} - {"pr_retrieval", "pr_agentic", "pr_judge"}
    assert {step: asked[step] for step in once} == dict.fromkeys(once, 1)
    # What is found in the repository may have changed for others too.
    assert 1 <= asked["pr_retrieval"] <= PULLS + 1


@pytest.mark.slow
def test_the_bill_reckons_a_first_run_and_knows_what_the_cache_holds(project):
    shutil.rmtree(project.folder / "results/pull_requests")
    said, text = billed(project)
    assert said.keys() == ASKED.keys()
    assert {basis for *_, basis in said.values()} == {"guess"}
    assert said["pr_question"][0] == PULLS
    assert "pull_requests.evaluation.commands.echo: what it costs is not known" in text
    assert "200 pull requests (latest)" in text


def test_the_causes_are_told_by_the_keys_of_the_configuration(project):
    project.config["pull_requests"] |= {"facts": {"model": "strong", "most": 9}, "context": {"blocks": 7}}
    project.config["pull_requests"]["evaluation"] |= {"retrieval": {"blocks": 3}, "models": ["weak", "strong"]}
    project.config["pull_requests"]["evaluation"]["commands"]["echo"]["timeout_s"] = 9
    run = project.run("--", "why")
    assert run.code == 0, run.output
    for said in (
        "pull_requests.context.blocks: 40 → 7",
        'pull_requests.facts.model: "worker" → "strong"',
        "pull_requests.facts.most: 35 → 9",
        "pull_requests.evaluation.retrieval.blocks: 10 → 3",
        "pull_requests.evaluation.commands.echo.timeout_s: 900.0 → 9.0",
        "who is asked in which setting",
        "runs commands: what they send and cost is not counted",
    ):
        assert said in run.output, said
    assert not project.endpoint.count


@pytest.mark.slow
def test_the_cache_s_commands_know_what_is_read(project):
    """Answers about pull requests are asked for by this configuration, so none of them goes."""
    run = project.run("--", "cache_show")
    assert run.code == 0, run.output
    assert re.search(r"judge +pr_judge +30 +0 +30 +30 ", run.output), run.output
    run = project.run("--", "cache_prune")
    assert run.code == 0, run.output
    assert "No answer goes" in run.output


def test_without_pull_requests_in_the_configuration_it_is_said_what_to_write(fresh):
    run = fresh.run("--", "pull_requests")
    assert run.code != 0
    assert "The configuration has no section `pull_requests`" in run.output
    assert not run.rules


def test_the_documentation_has_a_row_for_each_of_these():
    said = {row[0].strip() for row in cells("Edits")}
    assert {
        "a prompt from pull requests to agents",
        "other facts of true answers",
        "a further pull request",
    } <= said
