"""The bill before a run against what the run then sends and costs, with real Snakemake."""

import base64
import csv
import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from internet import Internet
from replies import reply, step_of
from scripted import Reply
from workflow.conftest import Project, told, write_dialogues

PRICE = {"input": 1.0, "output": 4.0}
# A line of the table: step, model, requests, cached, to send, input, output, USD, low to high, basis.
LINE = re.compile(
    r"^(?P<step>[a-z]+(?: (?:judge|rag|confidence|agentic))?) +(?P<model>[A-Za-z][\w:]*)? +"
    r"(?P<requests>[\d,]+) +(?P<cached>[\d,]+) +(?P<sent>[\d,]+) .*?"
    r"(?P<low>[\d.,]+) to (?P<high>[\d.,]+) +(?P<basis>[a-z]+)$",
    re.MULTILINE,
)


class Bill:
    """What `snakemake bill` printed."""

    def __init__(self, project: Project, *arguments: str, environment: dict[str, str] | None = None):
        run = project.run("--nocolor", *arguments, "--", "bill", cores=1, environment=environment)
        assert run.code == 0, run.output
        self.text = run.output
        self.lines = {(line["step"], line["model"]): line for line in LINE.finditer(run.output)}

    def sent(self, step: str, basis: str | None = None) -> int:
        """Requests that a step will send, of all its models together; only of lines with this `basis`."""
        return sum(
            number(line["sent"])
            for (name, _), line in self.lines.items()
            if name == step and basis in (None, line["basis"])
        )

    def holds(self, usd: float) -> bool:
        """Is this cost within the range?"""
        whole = self.lines["all", None]
        return number(whole["low"]) <= usd <= number(whole["high"]) and number(whole["high"]) > 0

    @property
    def most(self) -> int:
        """How many requests will be sent at most."""
        said = re.search(r"At most ([\d,]+) requests", self.text)
        return number(said[1]) if said else number(self.lines["all", None]["sent"])


def number(text: str) -> float:
    return float(text.replace(",", ""))


def priced(project: Project) -> None:
    for model in project.config["models"].values():
        model["price"] = PRICE


class Till:
    """Makes the endpoint count tokens of its own and adds up what they cost: the true cost of a run."""

    def __init__(self, project: Project):
        self.usd = 0.0
        project.endpoint.reply = self._reply

    def _reply(self, body: dict[str, Any]) -> Reply:
        said = reply(body)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        given = sum(len(message["content"]) for message in body["messages"]) // 4 + 7
        taken = len(text) // 4 + 1
        self.usd += (given * PRICE["input"] + taken * PRICE["output"]) / 1_000_000
        return Reply(
            text=text, usage={"prompt_tokens": given, "completion_tokens": taken, "total_tokens": given + taken}
        )


def test_an_edited_prompt_is_billed_to_the_request_and_needs_no_key(project):
    priced(project)
    project.config["models"]["worker"]["api_key_env"] = "NO_SUCH_KEY"
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    bill = Bill(project, "--quiet", "all")
    assert project.endpoint.count == 0
    assert (bill.sent("check", "exact"), bill.sent("verify"), bill.sent("answer")) == (90, 0, 0)
    assert "Nothing to ask at: queries, condense, generate." in bill.text
    run = project.run()
    assert run.code != 0
    assert "NO_SUCH_KEY is not set" in run.output
    till = Till(project)
    assert project.run(environment={"NO_SUCH_KEY": "sk-for-the-test"}).code == 0
    assert project.asked() == {"check": 90}
    assert bill.holds(till.usd), bill.text


@pytest.mark.slow
def test_a_new_model_is_billed(project):
    priced(project)
    project.config["models"]["new"] = project.endpoint.model(model="new", price=PRICE)
    project.config["evaluation"]["models"].append("new")
    bill = Bill(project)
    assert set(bill.lines) == {("answer", "new"), ("judge", "judge"), ("all", None)}
    assert bill.sent("answer", "exact") == 180
    assert project.endpoint.count == 0
    till = Till(project)
    assert project.run().code == 0
    asked = project.asked()
    assert asked["answer"] == 180
    assert asked["judge"] <= bill.sent("judge") <= 180
    assert bill.holds(till.usd), bill.text


@pytest.mark.slow
def test_settings_domains_and_a_panel_are_billed_to_the_request(project):
    priced(project)
    project.config["evaluation"] |= {
        "settings": ["plain", "rag", "confidence"],
        "model_settings": {"weak": ["plain", "rag"]},
        "panel": ["worker"],
        "domains": {"model": "worker", "names": {"tools": "", "web": ""}},
    }
    bill = Bill(project)
    assert project.endpoint.count == 0
    # Two repeats of ninety questions: weak and strong with passages, strong with a confidence.
    assert {step: bill.sent(step) for step in ("domains", "answer", "answer rag", "answer confidence")} == {
        "domains": 90,
        "answer": 0,
        "answer rag": 360,
        "answer confidence": 180,
    }
    # The judge sees the new answers, the panel all: two repeats of a plain answer are alike.
    assert bill.sent("judge") == 540 + 180 + 540
    till = Till(project)
    alike = project.endpoint.reply
    numbers = itertools.count()

    def different(body: dict[str, Any]) -> Reply:
        said = alike(body)
        answers = step_of(body) in ("answer", "rag", "confidence")
        return replace(said, text=f"{next(numbers)} {said.text}") if answers else said

    project.endpoint.reply = different
    run = project.run()
    assert run.code == 0, run.output
    assert project.endpoint.count == number(bill.lines["all", None]["sent"]) == bill.most
    assert project.asked() == {"domains": 90, "rag": 360, "confidence": 180, "judge": 1260}
    assert bill.holds(till.usd), bill.text


@pytest.mark.slow
def test_a_new_dialogue_is_billed(project):
    priced(project)
    write_dialogues(project.folder / "mine/dialogues.jsonl", [*range(30), 30])
    bill = Bill(project)
    assert bill.sent("queries", "exact") == 1
    assert (bill.sent("generate"), bill.sent("check")) == (1, 3)
    assert project.endpoint.count == 0
    till = Till(project)
    assert project.run().code == 0
    asked = project.asked()
    assert asked["queries"] == 1
    assert asked.total() <= bill.most
    assert bill.holds(till.usd), bill.text


@pytest.mark.slow
def test_answers_that_are_gone_are_billed_again(project):
    priced(project)
    shutil.rmtree(project.folder / ".cache")
    shutil.rmtree(project.folder / "results/answers")
    bill = Bill(project)
    assert bill.sent("answer", "exact") == 360
    assert project.endpoint.count == 0
    till = Till(project)
    assert project.run().code == 0
    asked = project.asked()
    assert asked["answer"] == 360
    assert asked.total() <= bill.most
    assert bill.holds(till.usd), bill.text


@pytest.mark.slow
def test_results_that_are_gone_cost_nothing_while_the_cache_is_there(project):
    priced(project)
    shutil.rmtree(project.folder / "results")
    bill = Bill(project)
    assert ("queries", "worker") in bill.lines
    assert {step: bill.sent(step) for step in ("queries", "generate", "check", "difficulty", "answer")} == {
        "queries": 0,
        "generate": 0,
        "check": 0,
        "difficulty": 0,
        "answer": 0,
    }
    assert bill.holds(0)
    assert project.run().code == 0
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_a_fresh_project_is_estimated_and_marked(fresh):
    priced(fresh)
    fresh.config["budget_usd"] = 0.001
    bill = Bill(fresh)
    assert not (fresh.folder / "results").exists()
    assert bill.sent("queries", "exact") == 6
    steps = {"condense", "generate", "check", "verify", "difficulty", "difficulty judge", "answer", "judge"}
    assert {step for (step, _), line in bill.lines.items() if line["basis"] == "paper"} == {*steps, "all"}
    assert "reckoned from 6 dialogues at the rates of SimpleDevQA" in bill.text
    assert "budget_usd is 0.0010: even the low end lies above" in bill.text
    assert fresh.endpoint.count == 0
    del fresh.config["budget_usd"]
    till = Till(fresh)
    assert fresh.run().code == 0
    asked = fresh.asked()
    assert asked["queries"] == 6
    assert asked.total() <= bill.most
    assert bill.holds(till.usd), bill.text


SEARCH_PRICE = 0.01
KEY = {"BRAVE_API_KEY": "some-key"}


def searched_for(project: Project, table: str) -> set[tuple[str, str]]:
    """What is searched for after `table`, in which language."""
    rows = [row for row in project.table(table) if row["status"] == "ok"]
    return {
        (query, row["language"])
        for row in rows
        for query in (row["queries"] if table == "queries" else [row["question"]])
    }


@pytest.mark.slow
def test_paid_searches_are_billed_to_the_request_and_counted_in_the_ledger(fresh):
    """With one shard, because what two jobs search for at the same moment is sent by both."""
    with Internet() as internet:
        priced(fresh)
        fresh.config |= {
            "search": internet.brave(results=4, price_per_request=SEARCH_PRICE) | {"url": internet.url},
            "fetch": internet.fetch(retries=0),
        }
        fresh.config["dialogues"]["mine"]["shards"] = 1
        fresh.config["evaluation"] |= {"settings": ["plain", "rag"], "repeats": 1}
        till = Till(fresh)
        first = Bill(fresh)
        assert {line["basis"] for (step, _), line in first.lines.items() if step in ("search", "evidence")} == {"paper"}
        # Three queries for each of six dialogues.
        assert first.sent("search") == 18
        # The questions are searched for when they are pairs.
        assert (first.sent("evidence") > 0, first.sent("retrieve")) == (True, 0)

        assert fresh.run("--until", "queries").code == 0
        bill = Bill(fresh)
        assert internet.asked.total() == 0
        assert bill.sent("search") == len(searched_for(fresh, "queries")) > 6
        assert number(bill.lines["search", "search:brave"]["low"]) == pytest.approx(bill.sent("search") * SEARCH_PRICE)
        assert fresh.run("--until", "check", environment=KEY).code == 0
        path = "/res/v1/web/search"
        assert internet.asked[path] == bill.sent("search")

        bill = Bill(fresh)
        assert ("search", "search:brave") not in bill.lines
        assert bill.sent("evidence") == len(searched_for(fresh, "checked")) > 0
        internet.asked.clear()
        before = till.usd
        run = fresh.run(environment=KEY)
        assert run.code == 0, run.output
        assert internet.asked[path] == bill.sent("evidence")
        spent = till.usd - before + internet.asked[path] * SEARCH_PRICE
        assert bill.holds(spent), bill.text
        assert f"This run spent {spent:.4f} USD\n" in run.output
        searched = len(searched_for(fresh, "queries")) + internet.asked[path]
        assert first.holds(till.usd + searched * SEARCH_PRICE), first.text
        with (fresh.folder / "results/funnel.csv").open(encoding="utf-8", newline="") as file:
            funnel = list(csv.DictReader(file))
        calls = Counter()
        usd = Counter()
        for row in funnel:
            calls[row["stage"]] += int(row["calls"])
            usd[row["stage"]] += float(row["usd"])
        # What several rows share counts for each.
        assert calls["search"] >= len(searched_for(fresh, "queries"))
        assert usd["search"] == pytest.approx(calls["search"] * SEARCH_PRICE)
        assert usd["evidence"] == pytest.approx(calls["evidence"] * SEARCH_PRICE)
        assert calls["evidence"] >= internet.asked[path]
        assert "Nothing would be asked" in Bill(fresh).text


@pytest.mark.slow
def test_a_finished_project_has_nothing_to_pay(project):
    run = project.run("--", "bill", cores=1)
    assert "Nothing would be asked" in run.output
    assert "no table" not in run.output


PLAN = """
import json, sys
from pathlib import Path
from devqa.bill.plan import planned
jobs = planned(Path("Snakefile").absolute(), json.loads(Path("validated.json").read_text()))
print(json.dumps([vars(job) for job in jobs]))
"""


def planned(project: Project) -> list[dict[str, Any]]:
    """The jobs that `devqa.bill.plan.planned` finds with the project's configuration."""
    return told(project, PLAN)


def recorded(project: Project) -> dict[str, str]:
    """The recipe that Snakemake itself has kept for each file of its last run."""
    recipes = {}
    for file in (project.folder / ".snakemake/metadata").rglob("*"):
        if file.is_file():
            record = json.loads(file.read_text())
            recipes |= {tuple(record["params"]): record["rule"]} if record.get("params") else {}
    return recipes


def test_the_plan_has_the_recipes_of_a_plain_run(project):
    kept = recorded(project)
    jobs = planned(project)
    assert Counter(job["rule"] for job in jobs)["answer"] == 2
    assert {(job["runs"], job["basis"]) for job in jobs} == {(False, "exact")}
    for job in jobs:
        assert kept[(repr(job["recipe"]),)] == job["rule"]


def an_edited_prompt(project: Project) -> None:
    project.edit("prompts/verify/answer/system.j2", "from the documents alone", "only from the documents")


def an_edited_module(project: Project) -> None:
    project.edit("scripts/devqa/steps/clean.py", '"""pages → references', '"""pages -> references')


def a_killed_job(project: Project) -> None:
    """What Snakemake leaves of a job that was killed with it."""
    mark = base64.b64encode(b"results/checked/mine/0-of-2.parquet").decode()
    (project.folder / ".snakemake/incomplete" / mark).touch()


@pytest.mark.slow
@pytest.mark.parametrize("happens", [an_edited_prompt, an_edited_module, a_killed_job])
def test_the_plan_runs_what_a_dry_run_says(project, happens):
    happens(project)
    dry = project.run("--dry-run").planned
    jobs = planned(project)
    runs = Counter(job["rule"] for job in jobs if job["runs"])
    assert runs["verify"] > 0
    assert runs == {job["rule"]: dry[job["rule"]] for job in jobs if dry[job["rule"]]}
    # Other code of a job before them is no matter of answers; other prompts are.
    unsettled = {job["rule"] for job in jobs if job["unsettled"]}
    after_cleaning = {"condense", "generate", "check", "evidence", "verify", "difficulty", "answer", "judge"}
    assert unsettled == (after_cleaning if happens is an_edited_module else set())
    first = next(job["rule"] for job in jobs if job["runs"])
    assert {job["basis"] for job in jobs if job["rule"] == first and job["runs"]} == (
        {"present"} if happens is an_edited_module else {"exact"}
    )


@pytest.mark.slow
def test_a_workflow_that_can_t_be_planned_is_refused_with_one_message(project):
    project.edit("Snakefile", "        review=[", "        other='no/such/file',\n        review=[")
    run = project.run("--", "bill", cores=1)
    assert run.code != 0
    assert "bill: the workflow can't be planned: Missing input files" in run.output
    assert "Traceback" not in run.output
