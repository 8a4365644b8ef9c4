"""Files that are edited while a run is on, even if the edit is taken back before it ends."""

import shutil

import pytest

from replies import reply, step_of
from workflow.conftest import write_dialogues

pytestmark = pytest.mark.slow

TEMPLATE = "prompts/check/system.j2"
DIALOGUES = "mine/dialogues.jsonl"


def at_the_first_query(project, act):
    """Have `act` done when the first request comes."""
    done = []

    def answer(body):
        if step_of(body) == "queries" and not done:
            done.append(act())
        return reply(body)

    project.endpoint.reply = answer


def test_an_edited_template_stops_the_jobs_that_would_use_it(fresh):
    text = (fresh.folder / TEMPLATE).read_text(encoding="utf-8")
    at_the_first_query(fresh, lambda: (fresh.folder / TEMPLATE).write_text(f"{text}\nEdited."))
    run = fresh.run("--until", "check")
    assert run.code != 0
    assert f"ERROR  check: {TEMPLATE} was edited while the run was on" in run.output
    assert "Traceback" not in run.output
    assert not fresh.asked()["check"]
    assert (fresh.folder / "results/pairs/mine/0-of-2.parquet").exists()

    # Whether it stays or is taken back, the same command goes on.
    (fresh.folder / TEMPLATE).write_text(text, encoding="utf-8")
    fresh.endpoint.clear()
    again = fresh.run("--until", "check")
    assert again.code == 0, again.output
    assert set(fresh.asked()) == {"check"}
    assert all("Edited." not in str(body) for body in fresh.endpoint.requests)


def test_dialogues_that_were_others_for_a_while_are_read_again(fresh):
    fresh.config["dialogues"]["mine"] = {"path": DIALOGUES, "shards": 2}

    def others_for_a_while():
        file = fresh.folder / DIALOGUES
        shutil.copy2(file, fresh.folder / "kept")
        write_dialogues(file, range(7))
        shutil.copy2(fresh.folder / "kept", file)

    at_the_first_query(fresh, others_for_a_while)
    run = fresh.run("--until", "queries")
    assert run.code == 0, run.output
    assert f"NOTE  {DIALOGUES} has changed while the run was on: the next run reads it again" in run.output
    fresh.endpoint.clear()
    again = fresh.run("--until", "queries")
    assert (again.code, again.rules, fresh.endpoint.count) == (0, {"ingest_mine": 1, "queries": 2}, 0)
    assert fresh.run("--until", "queries").rules == {}


def test_a_run_ends_well_though_a_table_that_it_does_not_need_is_missing(project):
    (project.folder / "results/checked/mine/1-of-2.parquet").unlink()
    (project.folder / "results/reports/weak.html").unlink()
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == {"report": 1}
    assert "Reports: results/reports/index.html" in run.output
