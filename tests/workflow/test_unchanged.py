"""An edit ends where it changes nothing any more: jobs whose inputs came out as they were do no work."""

import shutil

import pytest

from replies import reply, step_of

SAID = "recipe and inputs are as they were"


def idle(project, newer_than=0.0):
    """The rules of which at least one job has taken what it made before, by their logs."""
    logs = [log for log in (project.folder / "logs").rglob("*.log") if log.stat().st_mtime > newer_than]
    return {
        log.relative_to(project.folder / "logs").parts[0].removesuffix(".log")
        for log in logs
        if SAID in log.read_text()
    }


EVALUATION = {"retrieve", "answer", "judge", "score", "compare"}


def test_an_edit_that_changes_no_pair_ends_before_the_next_step_and_the_evaluation(project):
    assert idle(project) == set()
    before = {
        path: (project.folder / path).read_bytes()
        for path in ("results/questions.parquet", "results/benchmark.parquet")
    }
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    run = project.run()
    assert run.code == 0, run.output
    # It says the same of every pair, so `evidence` finds other tokens at most.
    assert project.asked() == {"check": 90}
    assert {"verify", "difficulty", "review", *EVALUATION} - idle(project) - {"retrieve"} == set()
    # Whoever reads the benchmark learns of the prompt; the questions are the same.
    assert (project.folder / "results/questions.parquet").read_bytes() == before["results/questions.parquet"]
    assert (project.folder / "results/benchmark.parquet").read_bytes() != before["results/benchmark.parquet"]
    # And back again: not even a table of the last but one edit is mixed in.
    project.endpoint.clear()
    project.edit("prompts/check/system.j2", "Answer as JSON.", "Answer in JSON.")
    assert project.run().code == 0
    assert project.endpoint.count == 0
    assert (project.folder / "results/benchmark.parquet").read_bytes() == before["results/benchmark.parquet"]


@pytest.mark.slow
def test_what_was_removed_is_made_anew_with_all_that_it_takes(project):
    """Who removes results and cache wants to begin anew, and gets no table of before."""
    shutil.rmtree(project.folder / "results")
    shutil.rmtree(project.folder / project.config.get("cache_dir", ".cache/devqa"))
    run = project.run()
    assert run.code == 0, run.output
    assert idle(project) == set()
    assert set(project.asked()) >= {"queries", "generate", "check", "verify", "answer", "judge"}


@pytest.mark.slow
def test_a_step_that_is_forced_does_its_work_and_what_follows_ends_early(project):
    run = project.run("--forcerun", "verify")
    assert run.code == 0, run.output
    assert project.endpoint.count == 0
    assert "verify" not in idle(project)
    assert {"difficulty", *EVALUATION} - {"retrieve"} <= idle(project)


@pytest.mark.slow
def test_an_answer_that_can_t_be_used_is_asked_for_again_though_nothing_has_changed(fresh):
    """It is a result, but one that another run may mend: so its job does its work whenever it runs."""
    refuse = True

    def sometimes(body):
        return "" if refuse and step_of(body) == "verify" else reply(body)

    fresh.endpoint.reply = sometimes
    assert fresh.run().code == 0
    refuse = False
    fresh.endpoint.clear()
    fresh.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    run = fresh.run()
    assert run.code == 0, run.output
    assert fresh.asked()["verify"] > 0
    assert all(row["outcome"] == "ok" for row in fresh.table("verified"))
