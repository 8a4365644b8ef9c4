"""Real Snakemake runs of a copy of the project, with a scripted endpoint on loopback in place of a model."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devqa import tables
from replies import reply, step_of
from scripted import ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "config.yaml", "rules", "scripts", "prompts", "envs", "profiles", "examples")
FINISHED = re.compile(r"^Finished jobid: \d+ \(Rule: (\S+)\)$", re.MULTILINE)
# The table of jobs that Snakemake prints before it runs any, and in a dry-run.
PLANNED = re.compile(r"^Job stats:\njob +count\n-+ +-+\n(.*?)^total ", re.MULTILINE | re.DOTALL)


class Run:
    """What one Snakemake invocation did: `rules` that finished and those that were `planned`, each with its jobs."""

    def __init__(self, completed: subprocess.CompletedProcess[str]):
        self.code = completed.returncode
        self.output = completed.stdout + completed.stderr
        self.rules = Counter(FINISHED.findall(self.output))
        table = PLANNED.search(self.output)
        rows = [line.split() for line in table[1].splitlines()] if table else []
        self.planned = Counter({rule: int(count) for rule, count in rows})
        for counts in (self.rules, self.planned):
            counts.pop("all", None)


class Project:
    """A copy of the project in a folder of its own, with a configuration that asks the scripted endpoint."""

    def __init__(self, folder: Path, endpoint: ScriptedEndpoint, config: dict[str, Any]):
        self.folder = folder
        self.endpoint = endpoint
        self.config = config

    def run(self, *arguments: str, cores: int = 2, environment: dict[str, str] | None = None) -> Run:
        """`snakemake --cores 2 --configfile mine.yaml …` in the project's folder."""
        return Run(subprocess.run(self.command(cores, *arguments), **self.process(environment), check=False))

    def command(self, cores: int, *arguments: str) -> list[str]:
        (self.folder / "mine.yaml").write_text(yaml.safe_dump(self.config, allow_unicode=True), encoding="utf-8")
        snakemake = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--configfile", "mine.yaml"]
        return [*snakemake, *arguments]

    def process(self, environment: dict[str, str] | None = None) -> dict[str, Any]:
        return {
            "cwd": self.folder,
            "capture_output": True,
            "text": True,
            "timeout": 540,
            "env": {**os.environ, **(environment or {})},
        }

    def asked(self) -> Counter[str]:
        """How many requests each step sent since the last `clear`."""
        return Counter(step_of(body) for body in self.endpoint.requests)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace `old`, which must be there, in one of the project's files."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def table(self, name: str) -> list[dict[str, Any]]:
        """All rows of a sharded table of the current number of shards."""
        rows = []
        for source, settings in self.config["dialogues"].items():
            count = settings.get("shards", 1)
            rows += tables.read(
                [self.folder / f"results/{name}/{source}/{shard}-of-{count}.parquet" for shard in range(count)], name
            )
        return rows


VALIDATED = "import json\n\nPath('validated.json').write_text(json.dumps(config))\n\n\nrule all:"


def told(project: Project, code: str) -> Any:
    """The JSON that `code` prints in the project's folder with its library; validated.json holds the configuration."""
    project.edit("Snakefile", "rule all:", VALIDATED)
    assert project.run("--dry-run").code == 0
    environment = {**os.environ, "PYTHONPATH": str(project.folder / "scripts")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    assert not done.stderr
    return json.loads(done.stdout)


def copy_of_the_project(folder: Path) -> Path:
    """The files that a user has, without results and caches."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / part)
    return folder


def configuration(endpoint: ScriptedEndpoint, **sections: Any) -> dict[str, Any]:
    """A user's configuration: every step asks the scripted endpoint."""
    models = {name: endpoint.model(model=name) for name in ("worker", "weak", "strong", "judge")}
    steps: dict[str, Any] = {
        name: {"model": "worker"} for name in ("queries", "condense", "generate", "check", "verify")
    }
    steps["check"]["date"] = "2026-11-01"
    steps["difficulty"] = {"models": ["weak", "strong"], "judge": "judge"}
    evaluation = {"models": ["weak", "strong"], "repeats": 2, "judge": {"model": "judge"}}
    return {"models": models, "steps": steps, "evaluation": evaluation, **sections}


@pytest.fixture(scope="session")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(reply) as server:
        yield server


SUBJECTS = (
    "asyncio gather",
    "git reflog",
    "SQL left join",
    "docker build cache",
    "HTTP 429 retry",
    "Redis persistence",
)


def dialogue(number: int) -> dict[str, Any]:
    """A made-up record in WildChat's shape, about something that the example's pages know."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    return {
        "conversation_hash": f"{number:032x}",
        "model": "gpt-4",
        "language": "English",
        "conversation": [
            {"role": "user", "content": f"Question number {number}: how does {subject} work in detail?"},
            {"role": "assistant", "content": f"Here is what I know about {subject}, case {number}."},
        ],
    }


def write_dialogues(path: Path, numbers: Iterable[int]) -> None:
    """A JSON Lines file of made-up records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(dialogue(number)) for number in numbers)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="session")
def finished(endpoint, tmp_path_factory) -> Project:
    """A project whose workflow has run to the end on thirty dialogues. Tests take copies of it."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("finished") / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(30))
    sources = {"mine": {"path": "mine/dialogues.jsonl", "shards": 2}}
    # A test before this may have left replies of its own.
    endpoint.reply = reply
    project = Project(folder, endpoint, configuration(endpoint, dialogues=sources))
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules["queries"] == 2
    assert run.rules["report"] == 2
    return project


@pytest.fixture
def project(finished, endpoint, tmp_path) -> Project:
    """A copy of the finished project, which a test may change; the endpoint has forgotten all requests."""
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(finished.config))


@pytest.fixture
def fresh(endpoint, tmp_path) -> Project:
    """A copy of the project in which nothing has run yet, with six dialogues."""
    folder = copy_of_the_project(tmp_path / "project")
    write_dialogues(folder / "mine/dialogues.jsonl", range(6))
    endpoint.clear()
    endpoint.reply = reply
    return Project(folder, endpoint, configuration(endpoint, dialogues={"mine": {"path": "mine", "shards": 2}}))
