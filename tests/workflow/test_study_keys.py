"""Which rules of the study run when one of its keys changes: every key is classified, and planned for."""

import pytest

from devqa.config.study import Study
from workflow.test_rebuild_keys import keys
from workflow.test_study import done, project  # noqa: F401 -- fixtures

REPORT = {"study_report"}
CLASSIFY = {"study_classify", *REPORT}
SAMPLE = {"study_sample", *CLASSIFY}
FILTER = {"study_filter", "study_seeds", *SAMPLE}
UNIQUE = {"study_unique", *FILTER}
ALL = {"study_scan", *UNIQUE}

# key → (what is laid over the section, the rules that run by it).
ROWS = {
    "sources.*.path": ({"sources": {"wild": {"path": "raw/a.parquet"}}}, UNIQUE),
    "shards": ({"shards": 3}, UNIQUE),
    "languages": ({"languages": ["en"]}, ALL),
    "toxic": ({"toxic": True}, ALL),
    "redacted": ({"redacted": False}, ALL),
    "duplicate_similarity": ({"duplicate_similarity": 0.7}, UNIQUE),
    "text_tokens": ({"text_tokens": 300}, ALL),
    "topic.engine": ({"topic": {"engine": "command", "command": "cat"}}, ALL),
    "topic.command": ({"topic": {"engine": "command", "command": "tac"}}, ALL),
    "topic.threshold": ({"topic": {"threshold": 0.4}}, ALL),
    "filter.model": ({"filter": {"model": "weak"}}, FILTER),
    "sample.confidence": ({"sample": {"interval": 0.1, "confidence": 0.9}}, SAMPLE),
    "sample.interval": ({"sample": {"interval": 0.2}}, SAMPLE),
    "sample.strata": ({"sample": {"interval": 0.1, "strata": ["length"]}}, SAMPLE),
    "sample.seed": ({"sample": {"interval": 0.1, "seed": 2}}, SAMPLE),
    "tasks.model": ({"tasks": {"model": "weak"}}, CLASSIFY),
    "tasks.categories": ({"tasks": {"model": "strong", "categories": {"Dev Knowledge QA": "", "other": ""}}}, CLASSIFY),
    "tasks.knowledge": ({"tasks": {"model": "strong", "knowledge": "Code Editing"}}, CLASSIFY),
    "suitability.model": ({"suitability": {"model": "strong"}}, CLASSIFY),
    "seeds": ({"seeds": 9}, {"study_seeds"}),
    "seed": ({"seed": 2}, {"study_seeds"}),
}
SAMPLING = {"filter": FILTER, "tasks": CLASSIFY, "suitability": CLASSIFY}


def test_every_key_is_classified():
    sampled = {f"{step}.sampling" for step in SAMPLING}
    found = {key for key in keys(Study) if key.rpartition(".")[0] not in sampled}
    assert found == ROWS.keys(), "a new key: say above what runs when it changes"


def planned(project, changed):  # noqa: F811 -- the fixture, under the name of its argument
    project.config["study"] |= changed
    run = project.run("--dry-run", "--", "study")
    assert run.code == 0, run.output
    return set(run.planned) - {"study"}


@pytest.mark.slow
@pytest.mark.parametrize("key", ROWS)
def test_a_changed_key_runs_what_depends_on_it_and_no_other(project, key):  # noqa: F811
    changed, rules = ROWS[key]
    assert planned(project, changed) == rules


@pytest.mark.slow
@pytest.mark.parametrize("step", SAMPLING)
def test_how_a_model_is_sampled_runs_its_step(project, step):  # noqa: F811
    section = {**project.config["study"][step], "sampling": {"temperature": 0.5}}
    assert planned(project, {step: section}) == SAMPLING[step]
