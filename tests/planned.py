"""What an edit makes Snakemake run, for many edits in one process, without running anything.

Each plan is the DAG of a dry-run, with the study and the pull requests where the configuration has them. A job is
`changed` if it is new or its params or its inputs are others than those of the first plan, which is what makes
Snakemake run it; it `runs` if it is changed or stands behind one that is. Run as a script in a project's folder, this
reads a JSON list of edits, `[configuration, {file: text}]`, and writes the plans.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Edit = tuple[Mapping[str, Any], Mapping[str, str]]


@dataclass
class Plan:
    """Jobs by rule; `recipes` (of the first plan alone) are those of each rule's jobs, as parsed JSON."""

    changed: Counter = field(default_factory=Counter)
    runs: Counter = field(default_factory=Counter)
    recipes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def plans(folder: Path, edits: Sequence[Edit]) -> list[Plan]:
    """A plan for each of `edits`, each made to the project in `folder` as it stands, all compared with the first."""
    completed = subprocess.run(
        [sys.executable, __file__], input=json.dumps(edits), cwd=folder, text=True, capture_output=True, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    found = json.loads((folder / "plans.json").read_text(encoding="utf-8"))
    return [Plan(Counter(changed), Counter(runs), recipes) for changed, runs, recipes in found]


def _main() -> None:
    edits, first, found = json.load(sys.stdin), {}, []
    for config, files in edits:
        before = {file: Path(file).read_bytes() for file in files}
        for file, text in files.items():
            Path(file).write_text(text, encoding="utf-8")
        if any(file.startswith("scripts/") for file in files):
            _forget_code()
        jobs = _jobs(config)
        for file, content in before.items():
            Path(file).write_bytes(content)
        if any(file.startswith("scripts/") for file in files):
            _forget_code()
        first = first or jobs
        changed = {name for name, job in jobs.items() if name not in first or job[:3] != first[name][:3]}
        runs = _with_what_follows(changed, jobs)
        recipes: dict[str, list[Any]] = {}
        for rule, recipe, *_ in jobs.values() if not found else ():
            recipes.setdefault(rule, []).append(json.loads(recipe))
        found.append([Counter(jobs[name][0] for name in names) for names in (changed, runs)] + [recipes])
    Path("plans.json").write_text(json.dumps(found), encoding="utf-8")


def _forget_code() -> None:
    """The workflow takes its code to stay as it is for as long as a process lives."""
    if provenance := sys.modules.get("devqa.provenance"):
        provenance._inspect.cache_clear()
        provenance.closure.cache_clear()


def _jobs(config: Mapping[str, Any]) -> dict[str, tuple[str, str, tuple[str, ...], set[str]]]:
    """Rule, recipe, inputs, and the jobs before it, of every job, by its outputs."""
    import yaml
    from snakemake.api import SnakemakeApi
    from snakemake.settings.enums import Quietness
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        ExecutionSettings,
        OutputSettings,
        ResourceSettings,
    )

    Path("mine.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    # With both of these, a dry-run ends as soon as it knows the jobs.
    quiet = frozenset({Quietness.RULES, Quietness.PROGRESS})
    output = OutputSettings(dryrun=True, quiet=quiet, enable_file_logging=False)
    with SnakemakeApi(output) as api:
        settings = ConfigSettings(configfiles=[Path("mine.yaml")])
        workflow = api.workflow(ResourceSettings(cores=2), settings, snakefile=Path("Snakefile"))
        targets = {"all", *(section for section in ("study", "pull_requests") if config.get(section))}
        run = workflow.dag(DAGSettings(targets=targets))
        run.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
        dag = workflow._workflow.dag
        jobs = [job for job in dag.jobs if job.output]
        return {
            _name(job): (
                job.rule.name,
                str(job.params.recipe),
                tuple(sorted(map(str, job.input))),
                {_name(before) for before in dag.dependencies[job]},
            )
            for job in jobs
        }


def _name(job: Any) -> str:
    return " ".join(sorted(map(str, job.output)))


def _with_what_follows(changed: set[str], jobs: Mapping[str, tuple]) -> set[str]:
    runs = set(changed)
    while more := {name for name, job in jobs.items() if name not in runs and job[3] & runs}:
        runs |= more
    return runs


if __name__ == "__main__":
    _main()
