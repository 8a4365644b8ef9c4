"""What a run spends: the cap over all its jobs, and the account that it gives."""

import csv
import json
import os

import pytest

from devqa.llm.spend import picodollars, run_total
from internet import Internet
from replies import reply
from scripted import Reply
from workflow.conftest import write_dialogues

# A thousand USD per million tokens: ten tokens are a cent.
PRICE = {"output": 1000}
CACHE = ".cache/devqa"


def ten_tokens(body):
    """A good answer that costs a cent."""
    return Reply(reply(body), usage={"prompt_tokens": 100, "completion_tokens": 10})


def with_prices(project, shards=1, dialogues=40, **more):
    """Queries cost a cent each, and at most two."""
    write_dialogues(project.folder / "mine/dialogues.jsonl", range(dialogues))
    project.config["dialogues"]["mine"]["shards"] = shards
    project.config["models"]["worker"] |= {"price": PRICE, "limits": {"concurrency": 4}}
    project.config["steps"]["queries"]["sampling"] = {"max_tokens": 20}
    project.config |= more
    project.endpoint.reply = ten_tokens


def spent_usd(project):
    """What the only run of a project has spent, by its own account, in whole cents."""
    (run,) = (project.folder / CACHE / "spend").iterdir()
    account = run_total(project.folder / CACHE, run.name)
    assert account.broken_off == 0
    return account.spent / picodollars(0.01)


def test_a_run_stops_at_its_budget_and_the_next_one_sends_the_rest(fresh):
    with_prices(fresh, budget_usd=0.3)
    run = fresh.run("--until", "queries")
    assert run.code != 0
    sent = fresh.endpoint.count
    # The last request was sent when its two cents were still there.
    assert spent_usd(fresh) == sent == 29
    left = "budget_usd: the run's budget of 0.3000 USD is reached (0.2900 USD spent): 11 of 40 requests of queries "
    assert run.output.count(f"ERROR  queries: {left}with worker were not sent. What was answered is kept:") == 1
    assert "This run spent 0.2900 USD of 0.3000 USD (budget_usd)\n" in run.output
    assert "Traceback" not in run.output
    fresh.endpoint.clear()
    fresh.config["budget_usd"] = 5
    run = fresh.run("--until", "queries")
    assert run.code == 0, run.output
    assert fresh.endpoint.count == 40 - sent
    assert "This run spent 0.1100 USD of 5.00 USD (budget_usd)\n" in run.output
    assert {row["status"] for row in fresh.table("queries")} == {"ok"}


@pytest.mark.slow
def test_the_jobs_of_a_run_share_its_budget(fresh):
    with_prices(fresh, shards=3, budget_usd=0.2)
    old = fresh.folder / CACHE / "spend/long-ago"
    old.mkdir(parents=True)
    os.utime(old, (1, 1))
    run = fresh.run("--until", "queries")
    assert run.code != 0
    assert spent_usd(fresh) == fresh.endpoint.count == 19
    assert not run.rules["queries"] or run.rules["queries"] < 3


@pytest.mark.slow
def test_searches_and_models_stop_at_the_same_budget_and_the_next_run_buys_the_rest(fresh):
    with Internet() as internet:
        with_prices(fresh, shards=2, dialogues=6, budget_usd=0.1)
        fresh.config["search"] = internet.searxng(results=4, price_per_request=0.01)
        run = fresh.run("--until", "search")
        assert run.code != 0
        # Six queries were written for a cent each.
        assert fresh.endpoint.count == 6
        assert internet.asked["/search"] == 4
        assert spent_usd(fresh) == 10
        reached = (
            "budget_usd: the run's budget of 0.1000 USD is reached (0.1000 USD spent): no further search is sent. "
        )
        assert f"ERROR  search: {reached}What was answered is kept:" in run.output
        assert "This run spent 0.1000 USD of 0.1000 USD (budget_usd)\n" in run.output
        assert "Traceback" not in run.output
        fresh.config["budget_usd"] = 5
        # The price is the search's alone: it is said that money was spent.
        for model in fresh.config["models"].values():
            model.pop("price", None)
        run = fresh.run("--until", "search")
        assert run.code == 0, run.output
        rows = fresh.table("search")
        wanted = {query for row in fresh.table("queries") for query in row["queries"]}
        assert internet.asked["/search"] == len(wanted)
        assert {row["status"] for row in rows} == {"ok"}
        assert f"This run spent {(len(wanted) - 4) / 100:.4f} USD of 5.00 USD (budget_usd)\n" in run.output


@pytest.mark.slow
def test_what_fails_on_the_way_holds_nothing_up(fresh):
    """Requests that wait for another attempt don't keep money from those that could be sent."""
    tried = set()

    def at_the_second_try(body):
        text = body["messages"][-1]["content"]
        if text not in tried and len(tried) < 10:
            tried.add(text)
            return Reply(status=503, headers={"Retry-After": "0.1"})
        return ten_tokens(body)

    with_prices(fresh, budget_usd=0.3)
    fresh.endpoint.reply = at_the_second_try
    run = fresh.run("--until", "queries")
    assert run.code != 0
    assert spent_usd(fresh) == fresh.endpoint.count - len(tried) == 29
    assert "budget_usd: the run's budget of 0.3000 USD is reached (0.2900 USD spent)" in run.output


@pytest.mark.slow
def test_a_free_model_is_not_held_up_and_nothing_is_said(fresh):
    fresh.config["budget_usd"] = 0.01
    for model in fresh.config["models"].values():
        model["price"] = {"input": 0}
    run = fresh.run("--until", "queries")
    assert run.code == 0, run.output
    assert not (fresh.folder / CACHE / "spend").exists()


@pytest.mark.slow
def test_the_ledger_and_the_reports_tell_what_was_counted_and_what_was_not(fresh):
    usage = {
        "prompt_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens": 10,
        "completion_tokens_details": {"reasoning_tokens": 4},
    }

    def said(body):
        return Reply(reply(body), usage=usage if body["model"] != "strong" else None)

    with_prices(fresh, dialogues=3)
    fresh.config["evaluation"]["repeats"] = 1
    for model in ("weak", "strong"):
        fresh.config["models"][model]["price"] = {"input": 1000, "cached_input": 500}
    fresh.endpoint.reply = said
    run = fresh.run()
    assert run.code == 0, run.output
    with (fresh.folder / "results/funnel.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["stage"]: row for row in csv.DictReader(file)}
    told = [rows["queries"][key] for key in ("calls", "cached_tokens", "reasoning_tokens", "uncounted", "usd")]
    assert told == ["3", "120", "12", "0", "0.03"]
    assert int(rows["answers"]["calls"]) == 2 * int(rows["answers"]["uncounted"]) > 0
    settings = {
        model: json.loads((fresh.folder / f"results/reports/{model}.json").read_text())["settings"][0]
        for model in ("weak", "strong")
    }
    # 60 tokens at a tenth of a cent and 40 at half of that.
    assert settings["weak"]["usd_per_answer"] == pytest.approx(0.08)
    assert settings["weak"]["figures"]["reasoning_tokens"]["mean"] == 4
    assert (settings["strong"]["usd"], settings["strong"]["figures"]["tokens"]["mean"]) == (None, None)
    uncounted = sum(int(row["uncounted"]) for row in rows.values())
    assert f"NOTE  {uncounted} calls came without a token count: the cost is too low.\n" in run.output
    assert "\nThis run spent " in run.output
