"""What `snakemake why` says beforehand against what the run then sends, with real Snakemake."""

import json
import re
import shutil
import sys
from typing import Any

import pytest

from everything import everything
from merging import repository, section
from replies import reply, step_of
from scripted import Reply
from workflow.conftest import Project, Run, told, write_dialogues
from workflow.test_again import hash_of
from workflow.test_rebuild_code import studying

STEP = re.compile(r"^(?P<step>[a-z_]+)(?:, (?P<jobs>\d+) of \d+ (?:shards|jobs))?: (?P<sends>.*)$")
SENT = re.compile(r"(?P<probably>probably )?(?P<sent>[\d,]+) of [\d,]+ requests will be sent")


class Said:
    """What `snakemake why` printed: the causes of each step, and what it sends."""

    def __init__(self, project: Project, *arguments: str):
        before = project.endpoint.count
        run = project.run("--quiet", "rules", *arguments, "--", "why", cores=1)
        assert run.code == 0, run.output
        assert project.endpoint.count == before
        self.text = run.output
        self.causes: dict[str, list[str]] = {}
        self.sends: dict[str, str] = {}
        self.jobs: dict[str, int] = {}
        step = ""
        for line in self.text.splitlines():
            if head := STEP.match(line):
                step = head["step"]
                self.causes[step], self.sends[step] = [], head["sends"]
                self.jobs[step] = int(head["jobs"] or 1)
            elif line.startswith("    ") and step in self.causes:
                self.causes[step].append(line.strip())

    def sent(self, step: str) -> int:
        """How many requests a step will send."""
        found = SENT.search(self.sends.get(step, ""))
        return int(found["sent"].replace(",", "")) if found else 0

    def certain(self, step: str) -> bool:
        """Are these all that it can send?"""
        return "probably" not in self.sends[step]

    def runs(self) -> set[str]:
        """The steps of which jobs run, by the names that rules have."""
        return {"ingest_mine" if step == "ingest" else step for step in self.causes}


def ran(project: Project) -> Run:
    """A run that went well; the endpoint counts its requests alone."""
    project.endpoint.clear()
    run = project.run()
    assert run.code == 0, run.output
    return run


def test_nothing_to_be_done(project):
    assert "Nothing to be done" in Said(project).text


@pytest.mark.slow
def test_a_template_is_named_with_its_text_before_and_after_and_what_it_sends(project):
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    project.edit("prompts/shared/documents.j2", "whatever it says", "whatever that says")
    said = Said(project)
    assert "prompts/check/system.j2 has changed" in said.causes["check"]
    assert said.causes["generate"] == ["prompts/shared/documents.j2 has changed"]
    assert "prompts/shared/documents.j2 has changed" in said.causes["verify"]
    assert said.causes["review"] == ["because merge runs before it"]
    assert said.causes["report"] == ["because score runs before it"]
    assert said.sends["review"] == "sends nothing"
    # Two steps use it, and it is shown once.
    for line in ("-Answer in JSON.", "+Answer as JSON.", "+{# Numbered", "--- prompts/shared/documents.j2 as it was"):
        assert said.text.count(f"\n{line}") == 1, said.text
    run = ran(project)
    assert said.runs() == set(run.rules)
    assert {step: said.sent(step) for step in ("generate", "check", "verify")} == {
        "generate": 0,
        "check": 90,
        "verify": 0,
    }
    assert project.asked() == {"check": 90}


@pytest.mark.slow
def test_what_changed_of_the_configuration_is_told_by_its_key_and_what_it_sends(project):
    project.config["models"]["new"] = project.endpoint.model(model="new")
    project.config["evaluation"]["models"].append("new")
    project.config["evaluation"]["judge"]["sampling"] = {"max_tokens": 700}
    said = Said(project)
    assert "evaluation.judge.sampling.max_tokens: 1000 → 700" in said.causes["difficulty"]
    assert any("evaluation.judge.sampling.max_tokens: 1000 → 700" in cause for cause in said.causes["judge"])
    assert 'evaluation.models: ["weak", "strong"] → ["weak", "strong", "new"]' in said.causes["compare"]
    assert "1 of them (new): not made yet: results/answers/plain/new/1.parquet, " in said.causes["answer"][0]
    run = ran(project)
    assert said.runs() == set(run.rules)
    asked = project.asked()
    assert said.sent("answer") == asked["answer"] == 180
    assert said.sent("difficulty") + said.sent("judge") >= asked["judge"] > 0


@pytest.mark.slow
def test_a_new_dialogue_is_told_by_its_file(project):
    write_dialogues(project.folder / "mine/dialogues.jsonl", [*range(30), 30])
    said = Said(project)
    assert said.causes["ingest"] == ["changed: mine/dialogues.jsonl"]
    assert said.causes["queries"] == ["because ingest runs before it"]
    assert said.certain("queries")
    run = ran(project)
    assert said.runs() == set(run.rules)
    asked = project.asked()
    assert {step: said.sent(step) for step in ("queries", "generate", "check")} == {
        "queries": 1,
        "generate": 1,
        "check": 3,
    }
    assert (asked["queries"], asked["generate"], asked["check"]) == (1, 1, 3)


@pytest.mark.slow
def test_modules_shards_and_lost_files_are_told_and_send_nothing(project):
    project.edit("scripts/devqa/steps/check.py", '"""pairs → checked', '"""pairs -> checked')
    said = Said(project)
    assert said.causes["check"] == ["code: scripts/devqa/steps/check.py"]
    assert said.sends["check"] == "none of its 90 requests will be sent: the cache has all answers"
    assert "generate" not in said.causes

    (project.folder / "results/review.parquet").unlink()
    assert "gone: results/review.parquet" in Said(project).causes["review"]

    project.config["dialogues"]["mine"]["shards"] = 3
    shutil.rmtree(project.folder / ".cache/devqa/prompts")
    project.edit("prompts/judge/system.j2", "and nothing else", "and nothing more")
    said = Said(project)
    assert said.jobs["queries"] == 3
    assert said.causes["queries"] == ["dialogues.mine.shards: 2 → 3", "also because ingest runs before it"]
    assert said.causes["review"][0] == "dialogues.mine.shards: 2 → 3"
    assert (said.sent("queries"), said.certain("queries")) == (0, True)
    assert "prompts/judge/system.j2 has changed" in said.causes["judge"]
    assert "prompts/judge/system.j2: its earlier text is not kept" in said.text


@pytest.mark.slow
def test_rows_that_were_given_up_are_told_and_counted(fresh):
    for model in fresh.config["models"].values():
        model["limits"] = {"retries": 0}

    def unwell(body):
        if step_of(body) == "check" and hash_of(body) % 5 == 0:
            return Reply(status=503, error="overloaded")
        return reply(body)

    fresh.endpoint.reply = unwell
    assert fresh.run("--until", "check").code == 0
    failed = [row for row in fresh.table("checked") if row["status"] == "failed"]
    assert failed
    fresh.endpoint.reply = reply
    said = Said(fresh)
    assert "rows that were given up are asked again" in "".join(said.causes["check"])
    assert (said.sent("check"), said.certain("check")) == (len(failed), True)
    fresh.endpoint.clear()
    assert fresh.run("--until", "check").code == 0
    assert fresh.asked() == {"check": len(failed)}


DUES = """
import json, sys
from pathlib import Path
from devqa.bill.plan import planned_and_due
config = json.loads(Path("validated.json").read_text())
jobs, dues = planned_and_due(Path("Snakefile").absolute(), config)
print(json.dumps([vars(due) for due in dues]))
"""


@pytest.mark.slow
def test_every_value_of_every_recipe_has_a_key_that_the_configuration_has(fresh):
    """So that no option is added to a rule of which nobody is told what it is called."""
    sys.path.insert(0, str(fresh.folder / "scripts"))
    from devqa.why.keys import option_key

    repository(fresh.folder / "zoo")
    fresh.config = everything(fresh.folder) | {"study": studying(), "pull_requests": section("zoo")}
    dues = told(fresh, DUES)
    config = json.loads((fresh.folder / "validated.json").read_text())
    named = {}
    for due in dues:
        options = json.loads(due["recipe"])["options"]
        named |= {
            (due["step"], name): option_key(due["step"], (name,), options, config, due["wildcards"]) for name in options
        }
    assert len({script for script, _ in named}) > 15
    # What reports say of a model, and prices, are a table for each model.
    tables = ("models.{name}", "prices")
    for place, key in named.items():
        if " " not in key and key not in tables:
            assert has(config, key.split(".")), (place, key)


def has(section: Any, key: list[str]) -> bool:
    """Is there such a key in the configuration?"""
    for part in key:
        if isinstance(section, list) and part.isdecimal() and int(part) < len(section):
            section = section[int(part)]
        elif isinstance(section, dict) and part in section:
            section = section[part]
        else:
            return False
    return True
