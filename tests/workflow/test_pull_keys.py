"""Which rules from pull requests to agents run when a key changes: every key is classified, and planned for."""

import json
from fnmatch import fnmatch
from typing import Any

import pytest

from devqa.config.models import Sampling
from devqa.config.pull_requests import PullRequests
from everything import everything, laid
from merging import repository, section
from planned import Plan, plans
from workflow.conftest import copy_of_the_project, write_dialogues
from workflow.test_rebuild_keys import SAMPLED, cells, keys, quoted

# What opens a repository: where it comes from is a part of its recipe.
OPENING = {"pr_repository", "pr_list", "pr_blocks", "pr_context", "pr_check", "pr_predict", "pr_command"}
JUDGING = {"pr_recall", "pr_recall_ground_truth"}
FIGURES = {"pr_score", "pr_report"}
AGENTS = {"pr_predict", "pr_recall", *FIGURES}

Row = tuple[dict[str, Any], set[str]]


def zoo(key: str, value: Any) -> dict[str, Any]:
    return {"repositories": {"zoo": {key: value}}}


def echo(key: str, value: Any) -> dict[str, Any]:
    return {"evaluation": {"commands": {"echo": {key: value}}}}


# No result depends on these: they may all change at once, and nothing runs.
NOTHING = {
    "repositories.*.token_env": zoo("token_env", "SOME_TOKEN"),
    "evaluation.commands.*.jobs": echo("jobs", 3),
}
# key → (what is laid over the section, the rules that change by it; what follows them in the DAG runs too).
CHANGING: dict[str, Row] = {
    "repositories.*.path": (zoo("path", "other"), OPENING),
    "repositories.*.url": (
        {"repositories": {"zoo": {"path": None, "url": "https://git.example/zoo"}}},
        OPENING,
    ),
    "repositories.*.commit": (zoo("commit", "0" * 40), {"pr_repository"}),
    "repositories.*.name": (zoo("name", "ann/zoo"), OPENING),
    "repositories.*.pulls": (zoo("pulls", "pulls.jsonl"), {"pr_list"}),
    "repositories.*.history": (zoo("history", ["commit"]), {"pr_list"}),
    "repositories.*.api": (zoo("api", "http://127.0.0.1:9"), {"pr_list"}),
    "repositories.*.latest": (zoo("latest", 3), {"pr_list"}),
    "select.bots": ({"select": {"bots": ["^ann$"]}}, {"pr_list"}),
    "select.ignore": ({"select": {"ignore": ["docs/*"]}}, {"pr_list", "pr_blocks"}),
    "select.languages": ({"select": {"languages": ["go"]}}, {"pr_list", "pr_blocks", "pr_context"}),
    "select.files": ({"select": {"files": 3}}, {"pr_list"}),
    **{f"context.{name}": ({"context": {name: 100}}, {"pr_context"}) for name in ("blocks", "block_tokens", "tokens")},
    "question.deep_blocks": ({"question": {"deep_blocks": 3}}, {"pr_question"}),
    "question.deep_tokens": ({"question": {"deep_tokens": 300}}, {"pr_question"}),
    "check.rare": ({"check": {"rare": 3}}, {"pr_check"}),
    "facts.most": ({"facts": {"most": 3}}, {"pr_facts"}),
    "evaluation.models": ({"evaluation": {"models": ["weak", "strong"]}}, AGENTS),
    "evaluation.settings": ({"evaluation": {"settings": ["ground_truth", "no_context"]}}, FIGURES),
    "evaluation.commands.*.command": (echo("command", "echo so {question}"), {"pr_command"}),
    "evaluation.commands.*.timeout_s": (echo("timeout_s", 3), {"pr_command"}),
    "evaluation.commands.*.answer_key": (echo("answer_key", "text"), {"pr_command"}),
    "evaluation.commands.*.usd_key": (echo("usd_key", "cost"), {"pr_command"}),
    "evaluation.commands.*.note": (echo("note", "as of today"), {"pr_report"}),
    "evaluation.repeats": ({"evaluation": {"repeats": 2}}, {"pr_command", *AGENTS}),
    **{
        f"evaluation.retrieval.{name}": ({"evaluation": {"retrieval": {name: 77}}}, {"pr_predict"})
        for name in ("blocks", "block_tokens")
    },
    **{
        f"evaluation.agentic.{name}": ({"evaluation": {"agentic": {name: value}}}, {"pr_predict"})
        for name, value in {"rounds": 3, "calls": 3, "result_tokens": 77}.items()
    },
    "evaluation.judge.batch": ({"evaluation": {"judge": {"batch": 3}}}, JUDGING),
}
# Section with a model → the rules that ask it.
STEPS = {
    "question": {"pr_question"},
    "check": {"pr_check"},
    "answer": {"pr_answer"},
    "facts": {"pr_facts"},
    "support": {"pr_facts"},
    "evaluation.judge": JUDGING,
}


def under(name: str, over: dict[str, Any]) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        over = {part: over}
    return over


for name, rules in {**STEPS, "evaluation": {"pr_predict"}}.items():
    for key, value in SAMPLED.items():
        CHANGING[f"{name}.sampling.{key}"] = (under(name, {"sampling": {key: value}}), rules)
# The benchmark says of its rows which models made them.
for name, rules in STEPS.items():
    made = set() if rules == JUDGING else {"pr_benchmark"}
    CHANGING[f"{name}.model"] = (under(name, {"model": "strong"}), rules | made)
# Keys of models that have a part in it, and in nothing else.
OF_MODELS: dict[str, Row] = {
    "price": ({"price": {"input": 3}}, {"pr_report"}),
    "note": ({"note": "as of today"}, {"pr_report"}),
    "limits": ({"limits": {"concurrency": 3}}, set()),
    "seed": ({"sampling": {"seed": 3}}, {"pr_predict"}),
    "context": ({"context": 4_096}, {"pr_predict"}),
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory) -> dict[str, Plan]:
    """The plan for each key, compared with that of the section as it is (""); "nothing": all those keys at once."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("keys") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(2))
    repository(folder / "zoo")
    repository(folder / "other", pulls=2)
    (folder / "pulls.jsonl").touch()
    config = everything(folder)
    config["models"]["agent"] = config["models"]["weak"]
    as_it_is = section("zoo")
    as_it_is["evaluation"]["models"] = ["agent"]
    quiet = as_it_is
    for over in NOTHING.values():
        quiet = laid(quiet, over)
    sections = [as_it_is, quiet, *(laid(as_it_is, over) for over, _ in CHANGING.values())]
    configs = [config | {"pull_requests": each} for each in sections]
    configs += [laid(configs[0], {"models": {"agent": over}}) for over, _ in OF_MODELS.values()]
    names = ["", "nothing", *CHANGING, *(f"models.{key}" for key in OF_MODELS)]
    found = plans(folder, [(each, {}) for each in configs])
    return dict(zip(names, found, strict=True))


def pulling(rules: Any) -> set[str]:
    return {rule for rule in rules if rule.startswith("pr_")}


def test_every_key_is_classified():
    assert sorted([*NOTHING, *CHANGING]) == sorted(keys(PullRequests)), "a new key: say above what runs by it"


def test_every_sampling_value_is_classified():
    assert SAMPLED.keys() == Sampling.model_fields.keys()


@pytest.mark.slow
def test_what_changes_no_result_runs_nothing(planned):
    assert planned["nothing"].runs == {}
    assert pulling(planned[""].recipes) == {
        *OPENING,
        *STEPS["question"],
        *STEPS["answer"],
        *STEPS["facts"],
        *JUDGING,
        *FIGURES,
        "pr_benchmark",
        "pr_ground_truth",
    }


@pytest.mark.slow
@pytest.mark.parametrize("key", CHANGING)
def test_an_edited_key_changes_exactly_the_rules_that_depend_on_it(key, planned):
    assert set(planned[key].changed) == CHANGING[key][1]


@pytest.mark.slow
@pytest.mark.parametrize("key", OF_MODELS)
def test_a_key_of_a_model_changes_the_rules_that_ask_it_or_tell_of_it(key, planned):
    assert pulling(planned[f"models.{key}"].changed) == OF_MODELS[key][1]


@pytest.mark.slow
def test_only_jobs_that_look_into_a_repository_depend_on_where_it_is(planned):
    settings = [recipe for recipe in planned[""].recipes["pr_predict"] if "origins" in json.dumps(recipe["options"])]
    assert len(settings) == 2


def test_the_documentation_says_of_each_key_what_is_tested():
    rows = [(quoted(names), set(quoted(rules.partition(";")[0]))) for names, rules in cells("Keys of `pull_requests`")]
    for key, (_, rules) in {**CHANGING, **dict.fromkeys(NOTHING, ({}, set()))}.items():
        (said,) = [each for names, each in rows if any(fnmatch(key, name) for name in names)]
        assert (key, said) == (key, {rule.replace("_recall_ground_truth", "_recall") for rule in rules})
    for key, (_, rules) in OF_MODELS.items():
        place = f"models.*.sampling.{key}" if key in SAMPLED else f"models.*.{key}"
        said = [each for names, each in rows if any(fnmatch(f"{place}.x", name) or place == name for name in names)]
        assert (key, said) == (key, [rules] if rules else [])
