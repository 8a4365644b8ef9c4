"""What people call values of recipes of the rules from pull requests to agents."""

import json

import pytest

from devqa.bill.estimate import Cost
from devqa.bill.plan import Due
from devqa.why.causes import steps
from devqa.why.changes import compared
from devqa.why.page import page

ORIGIN = {"label": "zoo", "path": "zoo", "url": "", "name": ""}
COMMAND = {"command": "agent {question}", "timeout_s": 9.0}
CONFIG = {
    "models": {"gpt": {"runtime": "openai", "identity": None}},
    "evaluation": {"imports": []},
    "search": {"engine": "local", "price_per_request": 0},
    "offline": False,
    "pull_requests": {
        "repositories": {
            "zoo": {"path": "zoo", "url": "", "pulls": "history"},
            "farm": {"path": "", "url": "https://git.example/farm", "pulls": "github"},
        },
        "question": {"sampling": {"max_tokens": 100, "seed": None}},
        "support": {"sampling": {}},
        "evaluation": {
            "commands": {"other": {"command": "other {question}"}, "mine": COMMAND, "twin": COMMAND},
            "sampling": {"temperature": 0.5},
            "judge": {"sampling": {"temperature": 0.0}},
        },
    },
}


def recipe(**parts):
    return json.dumps({"options": {}, "models": {}, "prompts": {}, "code": {}, **parts}, sort_keys=True)


def said(script, name, before, now, **wildcards):
    return list(compared(script, recipe(**{name: before}), recipe(**{name: now}), CONFIG, wildcards).values)


@pytest.mark.parametrize(
    ("script", "beside", "changed", "key"),
    [
        ("pr_repository", ORIGIN, {"commit": 1}, "repositories.zoo.commit"),
        ("pr_list", ORIGIN, {"latest": 1}, "repositories.zoo.latest"),
        ("pr_list", ORIGIN, {"select": {"files": 1}}, "select.files"),
        ("pr_blocks", {}, {"languages": 1}, "select.languages"),
        ("pr_context", {}, {"languages": 1}, "select.languages"),
        ("pr_context", {}, {"blocks": 1}, "context.blocks"),
        ("pr_question", {}, {"deep_blocks": 1}, "question.deep_blocks"),
        ("pr_check", {}, {"rare": 1}, "check.rare"),
        ("pr_facts", {}, {"most": 1}, "facts.most"),
        ("pr_predict", {}, {"blocks": 1}, "evaluation.retrieval.blocks"),
        ("pr_predict", {"rounds": 3}, {"calls": 1}, "evaluation.agentic.calls"),
        ("pr_predict", {}, {"origins": {"zoo": {"name": 1}}}, "repositories.zoo.name"),
        ("pr_recall", {}, {"batch": 1}, "evaluation.judge.batch"),
    ],
)
def test_an_option_has_the_name_of_its_key(script, beside, changed, key):
    other = json.loads(json.dumps(changed).replace("1", "2"))
    assert said(script, "options", beside | changed, beside | other) == [f"pull_requests.{key}: 1 → 2"]


@pytest.mark.parametrize(
    ("agent", "key"), [("mine", "mine.usd_key"), ("twin", "twin.usd_key"), ("gone", "usd_key"), ("", "usd_key")]
)
def test_a_command_has_its_own_name_whatever_others_run(agent, key):
    before, now = COMMAND | {"usd_key": 1}, COMMAND | {"usd_key": 2}
    assert said("pr_command", "options", before, now, agent=agent) == [
        f"pull_requests.evaluation.commands.{key}: 1 → 2"
    ]
    due = Due("pr_command", {"agent": agent}, True, recipe(options=now), earlier=recipe(options=before))
    ((group,),) = [step.groups for step in steps([due], CONFIG)]
    assert group.changes.values == (f"pull_requests.evaluation.commands.{key}: 1 → 2",)


def test_where_a_repository_comes_from_is_told_by_its_label():
    before, now = {"origin": ORIGIN}, {"origin": ORIGIN | {"url": "https://u.example/x?token=secret"}}
    assert said("pr_check", "options", before, now) == [
        'pull_requests.repositories.zoo.url: "" → "https://u.example/x?(hidden)"'
    ]
    now = {"origins": {"zoo": ORIGIN, "farm": {**ORIGIN, "label": "farm"}}}
    assert said("pr_predict", "options", {"origins": {"zoo": ORIGIN}}, now) == [
        "pull_requests.repositories.farm is new"
    ]


def test_what_is_no_key_is_said_in_words():
    assert said("pr_score", "options", {"runs": [["plain", "gpt"]]}, {"runs": []}) == ["who is asked in which setting"]
    for script, name in (("pr_benchmark", "models"), ("pr_report", "notes")):
        assert " " in said(script, "options", {name: [1]}, {name: [2]})[0]
    assert said("pr_report", "options", {"prices": {"gpt": {"input": 1}}}, {"prices": {"gpt": {"input": 2}}}) == [
        "models.gpt.price.input: 1 → 2"
    ]


def asked(label="gpt", **sampling):
    return {"label": label, "sampling": sampling}


@pytest.mark.parametrize(
    ("script", "role", "chosen", "sampled"),
    [
        ("pr_question", "pr_question", "question.model", "question.sampling.seed"),
        ("pr_facts", "pr_support", "support.model", "support.sampling.seed"),
        ("pr_predict", "pr_agentic", "evaluation.models", "evaluation.sampling.seed"),
        ("pr_recall", "pr_judge", "evaluation.judge.model", "evaluation.judge.sampling.seed"),
    ],
)
def test_models_and_how_they_are_asked_are_told_by_their_sections(script, role, chosen, sampled):
    assert said(script, "models", {role: asked("old")}, {role: asked()}) == [f'pull_requests.{chosen}: "old" → "gpt"']
    assert said(script, "models", {role: asked(seed=1)}, {role: asked(seed=2)}) == [
        f"models.gpt.sampling.seed or pull_requests.{sampled}: 1 → 2"
    ]


def due(step, role="", **wildcards):
    models = {role: {"label": "gpt"}} if role else {}
    return Due(step, wildcards, True, recipe(models=models), absent=(f"{step}.parquet",))


def told(*dues, costs=()):
    text = page(steps(dues, CONFIG), costs, CONFIG, {})
    return [line for line in text.splitlines() if line.startswith("pr_")]


def test_the_parts_of_a_step_are_told_together():
    costs = [
        Cost(role, "gpt", 10, sent, sent, 0, 0, 0, 0, 0, frozenset({basis}), False)
        for role, sent, basis in (("pr_facts", 5, "exact"), ("pr_support", 2, "guess"))
    ]
    assert told(due("pr_facts", "pr_facts", repository="zoo"), costs=costs) == [
        "pr_facts: probably 7 of 27 requests will be sent, at most 7 (reckoned, as its tables are not there)"
    ]


def test_what_is_fetched_and_run_is_said():
    assert told(due("pr_repository", repository="zoo"), due("pr_list", repository="zoo")) == [
        "pr_repository: sends nothing",
        "pr_list: sends nothing",
    ]
    assert told(due("pr_repository", repository="farm"), due("pr_list", repository="farm"), due("pr_command")) == [
        "pr_repository: repositories that are not in the cache are cloned",
        "pr_list: GitHub is asked for pull requests that are not in the cache",
        "pr_command: runs commands: what they send and cost is not counted",
    ]
