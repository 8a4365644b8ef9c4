"""What a model bears is divided among all jobs of a run."""

import json
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from replies import reply
from scripted import Reply
from workflow.conftest import write_dialogues

NODES = Path(__file__).resolve().parents[1] / "plugins"

# Prints what is there of each model's resource, and who takes how much of it, without running anything.
SHARES = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.enums import Quietness
from snakemake.settings.types import ConfigSettings, DAGSettings, ExecutionSettings, OutputSettings, ResourceSettings

output = OutputSettings(dryrun=True, quiet=frozenset({Quietness.ALL}), enable_file_logging=False)
with SnakemakeApi(output) as api:
    given = ResourceSettings(**json.loads(sys.argv[1]))
    workflow = api.workflow(given, ConfigSettings(configfiles=[Path("mine.yaml")]), snakefile=Path("Snakefile"))
    dag = workflow.dag(DAGSettings())
    dag.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
    there = {name: given.value for name, given in workflow._workflow.global_resources.items() if "requests" in name}
    jobs = [
        [" ".join([job.rule.name, *filter(None, [job.wildcards.get("model")])]), name, part]
        for job in workflow._workflow.dag.jobs for name, part in job.resources.items() if "requests" in name and part
    ]
    json.dump([there, jobs], Path("shares.json").open("w"))
"""


def shares(project, **settings):
    """What each model bears, and every distinct share: (rule, resource) → part."""
    project.command(1)  # writes the configuration
    subprocess.run([sys.executable, "-c", SHARES, json.dumps(settings)], cwd=project.folder, check=True)
    there, jobs = json.loads((project.folder / "shares.json").read_text())
    parts = {(rule, name): part for rule, name, part in jobs}
    assert all(parts[rule, name] == part for rule, name, part in jobs), "jobs of one rule have equal shares"
    return there, parts


@pytest.fixture
def limited(fresh):
    """A project with four shards that ask `worker`, eight requests at a time; `queries` alone will run."""
    write_dialogues(fresh.folder / "mine/dialogues.jsonl", range(48))
    fresh.config["dialogues"]["mine"]["shards"] = 4
    fresh.config["models"]["worker"]["limits"] = {"concurrency": 8}
    return fresh


def test_jobs_of_a_rule_share_what_a_model_bears(limited):
    models = limited.config["models"]
    models["weak"]["limits"] = {"concurrency": 2}
    models["judge"]["limits"] = {"concurrency": 30, "requests_per_minute": 12}
    there, parts = shares(limited, cores=4)
    assert there == {"requests_judge": 12, "requests_strong": 8, "requests_weak": 2, "requests_worker": 8}
    for rule in ("queries", "condense", "generate", "check", "verify"):
        assert parts[rule, "requests_worker"] == 2
    # More jobs than requests: each takes one, and Snakemake holds the others back.
    difficulty = {name: part for (rule, name), part in parts.items() if rule == "difficulty"}
    assert difficulty == {"requests_weak": 1, "requests_strong": 2, "requests_judge": 3}
    # Each job asks its own model alone, all repeats.
    assert {key: part for key, part in parts.items() if key[0].startswith("answer")} == {
        ("answer weak", "requests_weak"): 2,
        ("answer strong", "requests_strong"): 8,
    }
    assert parts["judge weak", "requests_judge"] == parts["judge strong", "requests_judge"] == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "part"), [({"cores": 1}, 8), ({"cores": 3}, 2), ({"cores": 64}, 2), ({"nodes": 2}, 4)]
)
def test_a_share_depends_on_how_many_jobs_can_run_at_the_same_time(limited, settings, part):
    assert shares(limited, **settings)[1]["queries", "requests_worker"] == part


@pytest.mark.slow
def test_the_command_line_lowers_what_a_model_bears_and_never_raises_it(limited):
    there, parts = shares(limited, cores=4, resources={"requests_worker": 4, "requests_judge": 1000})
    assert (there["requests_worker"], there["requests_judge"]) == (4, 8)
    assert parts["queries", "requests_worker"] == 1


@pytest.mark.slow
def test_labels_that_look_alike_have_limits_of_their_own(limited):
    models = limited.config["models"]
    for label, concurrency in {"a-b": 3, "a.b": 5, "a_b": 7}.items():
        models[label] = limited.endpoint.model(limits={"concurrency": concurrency})
    limited.config["steps"]["difficulty"]["models"] = ["a-b", "a.b", "a_b"]
    there, parts = shares(limited, cores=1)
    bears = sorted(part for (rule, name), part in parts.items() if rule == "difficulty" and name != "requests_judge")
    assert bears == [3, 5, 7]
    assert there.items() >= {name: part for (rule, name), part in parts.items() if rule == "difficulty"}.items()


def test_all_jobs_together_keep_to_the_concurrency_and_use_it(limited):
    limited.endpoint.reply = lambda body: Reply(reply(body), delay_s=1.0)
    run = limited.run("--until", "queries", cores=4)
    assert run.code == 0, run.output
    assert limited.endpoint.count == 48
    assert 2 < limited.endpoint.peak <= 8


@pytest.mark.slow
def test_more_jobs_than_requests_wait_for_each_other(limited):
    limited.config["models"]["worker"]["limits"] = {"concurrency": 2}
    limited.endpoint.reply = lambda body: Reply(reply(body), delay_s=0.1)
    run = limited.run("--until", "queries", cores=4)
    assert run.code == 0, run.output
    assert limited.endpoint.peak <= 2


@pytest.mark.slow
def test_all_jobs_together_keep_to_the_requests_per_minute(limited):
    per_minute, jobs, late_s = 600, 4, 1.0
    limited.config["models"]["worker"]["limits"] = {"concurrency": 40, "requests_per_minute": per_minute}
    times = []

    def noted(body):
        times.append(time.monotonic())
        return reply(body)

    limited.endpoint.reply = noted
    run = limited.run("--until", "queries", cores=jobs)
    assert run.code == 0, run.output
    assert len(times) == 48
    # A busy machine may deliver some late.
    for (first, start), (last, end) in combinations(enumerate(times), 2):
        assert last - first <= (end - start + late_s) * per_minute / 60


@pytest.mark.slow
def test_a_job_on_another_machine_has_the_share_that_the_main_process_counts_with(limited):
    limited.endpoint.reply = lambda body: Reply(reply(body), delay_s=0.5)
    limited.config["dialogues"]["mine"]["shards"] = 2
    arguments = ("--executor", "nodes", "--jobs", "2", "--seconds-between-status-checks", "1", "--until", "queries")
    run = limited.run(*arguments, environment={"PYTHONPATH": str(NODES)})
    assert run.code == 0, run.output
    assert limited.endpoint.count == 48
    assert 4 < limited.endpoint.peak <= 8


@pytest.mark.slow
def test_other_limits_make_nothing_run_again(project):
    project.config["models"]["worker"]["limits"] = {"concurrency": 3, "requests_per_minute": 100}
    run = project.run(cores=1)
    assert (run.code, run.rules) == (0, Counter())
    assert project.endpoint.count == 0


@pytest.mark.slow
def test_jobs_that_ask_many_models_don_t_block_each_other(project):
    """Each difficulty job takes the whole of five models, and all evaluation jobs want the same judge."""
    models = project.config["models"]
    names = ["weak", "strong", *(f"more{number}" for number in range(3))]
    for name in (*names, "judge"):
        models[name] = project.endpoint.model(model=name, limits={"concurrency": 1})
    project.config["steps"]["difficulty"]["models"] = names
    run = project.run(cores=4)
    assert run.code == 0, run.output
    assert run.rules["difficulty"] == 2
    # What the other two said is in the cache.
    assert {body["model"] for body in project.endpoint.requests} == {*names[2:], "judge"}
