"""What runs again after an edit, and how many requests that sends: nothing is computed or paid for twice."""

import json

import pytest

from workflow.conftest import dialogue, write_dialogues

BEFORE_VERIFY = {"ingest_mine", "corpus", "queries", "search", "fetch", "clean", "condense", "generate", "check"}
EVALUATION = {"answer", "judge", "score", "compare", "report", "index", "funnel"}
FROM_VERIFY = {"verify", "review", "difficulty", "benchmark", "sources", *EVALUATION}
ASKING = {"queries", "condense", "generate", "check", "verify", "difficulty", "answer", "judge"}


def test_a_finished_project_has_every_output(finished):
    for path in ("benchmark.parquet", "review.parquet", "funnel.csv", "reports/index.html", "reports/leaderboard.csv"):
        assert (finished.folder / "results" / path).stat().st_size > 0
    for model in ("weak", "strong"):
        report = json.loads((finished.folder / f"results/reports/{model}.json").read_text())
        assert len(report["rows"]) == 90
        assert (finished.folder / f"results/reports/{model}.html").exists()
        # The filter's models have left their word on every row of the benchmark that is built here.
        audit = json.loads((finished.folder / f"results/statistics/{model}.json").read_text())["settings"]["plain"][
            "audit"
        ]
        assert [each["left_out"] for each in audit] == [None, "strong", "weak"]
        assert audit[0]["rows"] >= max(each["rows"] for each in audit[1:]) > 0


def test_nothing_runs_twice(project):
    run = project.run()
    assert (run.code, run.rules, project.endpoint.count) == (0, {}, 0)
    assert "Nothing to be done" in run.output


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("config.yaml", "# Where references come from", "\n\n# Where references are found"),
        ("config.yaml", "concurrency: 16", "concurrency: 2"),
        ("config.yaml", "timeout_s: 20", "timeout_s: 21"),
    ],
)
def test_what_changes_no_result_runs_nothing(project, path, old, new):
    project.edit(path, old, new)
    for model in project.config["models"].values():
        model |= {"limits": {"concurrency": 3, "timeout_s": 99}, "api_key_env": "SOME_KEY"}
    for file in (*project.folder.glob("scripts/**/*.py"), *project.folder.glob("prompts/**/*.j2")):
        file.touch()
    run = project.run(environment={"SOME_KEY": "x"})
    assert (run.code, run.rules, project.endpoint.count) == (0, {}, 0)


def test_an_edited_prompt_reruns_its_step_and_what_follows(project):
    project.edit("prompts/verify/answer/system.j2", "from the documents alone", "only from the documents")
    run = project.run()
    assert run.code == 0, run.output
    assert set(run.rules) == FROM_VERIFY
    # Every pair is asked about anew; the answers come out the same, so nobody compares, answers or judges again.
    assert project.asked() == {"verify": 90}


def test_an_edited_include_reruns_the_steps_that_include_it_and_none_before(project):
    project.edit("prompts/shared/documents.j2", "whatever it says", "whatever that says")
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules["generate"] == 2
    assert not {"queries", "search", "fetch", "clean", "condense"} & set(run.rules)
    # A comment in a template changes no message: the rules run, and nothing is sent.
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_an_edited_module_reruns_exactly_the_steps_that_import_it(project):
    project.edit("scripts/devqa/steps/check.py", '"""pairs → checked', '"""pairs -> checked')
    run = project.run()
    assert run.code == 0, run.output
    assert not {"ingest_mine", "corpus", "queries", "search", "fetch", "clean", "condense", "generate"} & set(run.rules)
    assert run.rules["check"] == 2
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_an_edit_of_the_client_asks_nobody_again(project):
    project.edit("scripts/devqa/llm/chat.py", '"""The one way', '"""The only way')
    run = project.run()
    assert run.code == 0, run.output
    assert set(run.rules) >= ASKING
    assert not {"ingest_mine", "corpus"} & set(run.rules)
    assert project.endpoint.count == 0


def test_a_new_model_is_the_only_one_that_is_asked(project):
    project.config["models"]["new"] = project.endpoint.model(model="new")
    project.config["evaluation"]["models"].append("new")
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == {"answer": 2, "judge": 1, "score": 1, "compare": 1, "report": 1, "index": 1, "funnel": 1}
    # Two samples of each answer; they are the same here, so the judge sees each once.
    assert project.asked() == {"answer": 180, "judge": 90}
    assert {body["model"] for body in project.endpoint.requests} <= {"new", "judge"}


def test_a_new_dialogue_is_the_only_one_that_is_asked_about(project):
    write_dialogues(project.folder / "mine/dialogues.jsonl", [*range(30), 30])
    run = project.run()
    assert run.code == 0, run.output
    asked = project.asked()
    assert asked["queries"] == asked["generate"] == 1
    assert asked["check"] == asked["verify"] == 3
    # Two filter models once, two models twice: three questions each.
    assert asked["answer"] == 3 * 2 + 3 * 2 * 2
    text = dialogue(30)["conversation"][0]["content"]
    (query,) = [body for body in project.endpoint.requests if "queries" in str(body.get("response_format"))]
    assert text in query["messages"][-1]["content"]


@pytest.mark.slow
def test_other_shards_send_nothing(project):
    project.config["dialogues"]["mine"]["shards"] = 3
    before = (project.folder / "results/benchmark.parquet").read_bytes()
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules["queries"] == 3
    assert project.endpoint.count == 0
    assert (project.folder / "results/benchmark.parquet").read_bytes() == before


def test_an_edited_judge_prompt_regrades_and_asks_for_no_answer(project):
    project.edit("prompts/judge/system.j2", "and nothing else", "and nothing more")
    run = project.run()
    assert run.code == 0, run.output
    assert set(project.asked()) == {"judge"}
    assert not BEFORE_VERIFY & set(run.rules)
    assert "verify" not in run.rules


@pytest.mark.slow
def test_a_dry_run_tells_the_truth(project):
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    planned = project.run("--dry-run")
    assert project.endpoint.count == 0
    assert planned.planned
    assert project.run().rules == planned.planned
