"""The workflow on a scheduler that knows nothing of it: jobs start elsewhere, in an environment of their own, and share
the working directory and the cache alone."""

import copy
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import pytest

from processes import until
from replies import reply
from scheduler import Scheduler
from scripted import Reply
from workflow.conftest import ROOT, Project, Run, write_dialogues
from workflow.test_secrets import KEY, holding, needles

VARIABLE = "OPENAI_API_KEY"
SUBMIT = ("--executor", "cluster-generic", "--jobs", "4", "--seconds-between-status-checks", "1")
COMMANDS = ("--cluster-generic-status-cmd", "status", "--cluster-generic-cancel-cmd", "cancel")
QUERIES = ("--until", "queries")


@pytest.fixture
def scheduler(tmp_path):
    there = Scheduler(tmp_path / "scheduler")
    yield there
    there.end()


@pytest.fixture
def keyed(fresh):
    """A project whose endpoint wants a key, in a folder with a space, with twelve dialogues and the cache beside it."""
    write_dialogues(fresh.folder / "mine/dialogues.jsonl", range(12))
    folder = fresh.folder.rename(fresh.folder.parent / "my project")
    config = fresh.config | {"cache_dir": "../the cache/devqa"}
    for model in config["models"].values():
        model["api_key_env"] = VARIABLE
    fresh.endpoint.api_key = KEY
    yield Project(folder, fresh.endpoint, config)
    fresh.endpoint.api_key = None


def documented(mark):
    """The one block of docs/executors.md that holds `mark`."""
    blocks = re.findall(r"^```\w+\n(.*?)^```", (ROOT / "docs/executors.md").read_text(encoding="utf-8"), re.M | re.S)
    (block,) = (block for block in blocks if mark in block)
    return block.rstrip()


def by_the_book(project, scheduler, block, *arguments, **environment):
    """What a block of the documentation does in the project's folder, in a shell, with a key in the environment."""
    project.command(1)  # writes the configuration
    venv = project.folder / ".venv"
    if not venv.exists():
        venv.symlink_to(Path(sys.executable).parents[1])
    settings = project.process(scheduler.environment(**environment))
    # The real waiting time between two looks at the jobs would be long here.
    arguments = (*arguments, "--seconds-between-status-checks", "1")
    return Run(subprocess.run(["sh", "-c", f'{block} "$@"', "sh", *arguments], **settings, check=False))


def submit(project, scheduler, *arguments, names=(), **environment):
    """A run on the scheduler; `names` are the variables that its submit command passes on."""
    command = " ".join(["submit", *(f"-v {name}" for name in names)])
    options = (*SUBMIT, "--cluster-generic-submit-cmd", command, *COMMANDS, *arguments)
    return project.run(*options, environment=scheduler.environment(**environment))


def files(folder):
    """All that the run has made for people and programs, by its path; no hidden bookkeeping."""
    paths = (path for path in (folder / "results").glob("[!.]*"))
    found = [path for top in paths for path in (top, *top.rglob("*")) if path.is_file()]
    assert len(found) > 30
    return {path.relative_to(folder): path.read_bytes() for path in found}


@pytest.mark.slow
def test_a_scheduler_makes_what_one_machine_makes_with_as_many_requests(keyed, scheduler, tmp_path):
    keyed.config["evaluation"] |= {"models": ["weak"], "repeats": 1}
    local = Project(tmp_path / "local/project", keyed.endpoint, copy.deepcopy(keyed.config))
    shutil.copytree(keyed.folder, local.folder)
    run = local.run(environment={VARIABLE: KEY})
    assert run.code == 0, run.output
    asked = local.asked()
    assert asked.total() > 50
    keyed.endpoint.clear()

    command = documented("--cluster-generic-submit-cmd")
    submitted = by_the_book(keyed, scheduler, command, **{VARIABLE: KEY})
    assert submitted.code == 0, submitted.output
    assert keyed.asked() == asked
    assert submitted.rules == run.rules
    assert len(scheduler.submitted()) == run.rules.total()
    assert files(keyed.folder) == files(local.folder)
    # The key was needed, and came by way of the scheduler alone.
    assert keyed.endpoint.unauthorised == 0
    assert not holding(keyed.folder, KEY)
    assert not [job for job in scheduler.submitted() for needle in needles(KEY) if needle in whole(job)]

    # From the cluster to the laptop and back, there is nothing to do.
    keyed.endpoint.clear()
    assert keyed.run(environment={VARIABLE: KEY}).rules.total() == 0
    again = by_the_book(keyed, scheduler, command, **{VARIABLE: KEY})
    assert (again.code, again.rules.total(), keyed.endpoint.count) == (0, 0, 0)


def whole(job):
    """All that the scheduler keeps of a job: its script and what it printed."""
    return b"".join(path.read_bytes() for path in job.iterdir())


@pytest.mark.slow
def test_limits_hold_over_all_jobs_of_a_scheduler(fresh, scheduler):
    write_dialogues(fresh.folder / "mine/dialogues.jsonl", range(48))
    fresh.config["dialogues"]["mine"]["shards"] = 3
    per_minute, late_s, times = 600, 1.0, []
    fresh.config["models"]["worker"]["limits"] = {"concurrency": 6, "requests_per_minute": per_minute}

    def noted(body):
        times.append(time.monotonic())
        return Reply(reply(body), delay_s=0.5)

    fresh.endpoint.reply = noted
    run = submit(fresh, scheduler, *QUERIES)
    assert run.code == 0, run.output
    assert fresh.endpoint.count == 48
    # More than a job takes that does not know its share, and not more than all may take.
    assert 3 < fresh.endpoint.peak <= 6
    for (first, start), (last, end) in combinations(enumerate(times), 2):
        assert last - first <= (end - start + late_s) * per_minute / 60


@pytest.fixture
def single(keyed):
    """A project with one job that asks one thing after the other."""
    keyed.config["dialogues"]["mine"]["shards"] = 1
    keyed.config["models"]["worker"]["limits"] = {"concurrency": 1}
    return keyed


def stuck_at(number, endpoint, then=lambda: None):
    """A reply function by which the request of this `number` gets no answer; `then` is called when it comes."""

    def replied(body):
        if endpoint.count == number:
            then()
            return Reply(fault="hang")
        return reply(body)

    return replied


def asked_again(endpoint):
    """How many of the twelve questions were asked a second time."""
    asked = [str(body) for body in endpoint.requests]
    assert len(set(asked)) == 12
    return len(asked) - 12


@pytest.mark.slow
def test_a_job_that_is_killed_is_submitted_again_and_asks_only_the_rest(single, scheduler):
    single.endpoint.reply = stuck_at(5, single.endpoint, then=lambda: scheduler.kill(scheduler.submitted()[-1]))
    run = submit(single, scheduler, *QUERIES, "--retries", "1", names=[VARIABLE], **{VARIABLE: KEY})
    assert run.code == 0, run.output
    assert len(scheduler.submitted()) == 3
    assert asked_again(single.endpoint) == 1


@pytest.mark.slow
def test_ctrl_c_cancels_the_jobs_and_the_same_command_goes_on(single, scheduler):
    single.endpoint.reply = stuck_at(5, single.endpoint)
    options = (*SUBMIT, "--cluster-generic-submit-cmd", f"submit -v {VARIABLE}", *COMMANDS, *QUERIES)
    settings = {"cwd": single.folder, "env": {**os.environ, **scheduler.environment(**{VARIABLE: KEY})}}
    with (single.folder / "said").open("w") as said:
        running = subprocess.Popen(single.command(2, *options), stdout=said, stderr=said, **settings)
        try:
            until(lambda: single.endpoint.count == 5 or running.poll() is not None)
            running.send_signal(signal.SIGINT)
            assert running.wait(120) != 0
        finally:
            running.kill()
    job = scheduler.submitted()[-1]
    assert scheduler.cancelled() == [job.name]
    until(lambda: not scheduler.is_alive(job))
    assert single.endpoint.count == 5
    run = submit(single, scheduler, *QUERIES, names=[VARIABLE], **{VARIABLE: KEY})
    assert run.code == 0, run.output
    assert asked_again(single.endpoint) == 1


@pytest.mark.slow
def test_a_key_that_does_not_reach_the_job_is_named_and_a_job_script_can_read_it(single, scheduler, tmp_path):
    run = submit(single, scheduler, *QUERIES, **{VARIABLE: KEY})
    assert run.code != 0
    said = f"models.worker.api_key_env: the environment variable {VARIABLE} is not set: export it"
    assert said in run.output
    assert single.endpoint.count == 0
    # The job script of the documentation reads the keys on the node.
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.devqa-keys").write_text(f"export {VARIABLE}='{KEY}'\n")
    (tmp_path / "home/jobscript.sh").write_text(documented("{exec_job}"))
    home = {"HOME": str(tmp_path / "home"), VARIABLE: KEY}
    command = f"{documented('--cluster-generic-submit-cmd')} --jobscript ~/jobscript.sh"
    command = command.replace(f" -v {VARIABLE}", "")
    run = by_the_book(single, scheduler, command, *QUERIES, **home)
    assert run.code == 0, run.output
    assert asked_again(single.endpoint) == 0
    assert single.endpoint.unauthorised == 0
    assert not [job for job in scheduler.submitted() for needle in needles(KEY) if needle in whole(job)]


@pytest.mark.slow
def test_a_key_that_is_declared_to_snakemake_stands_in_job_scripts(single, scheduler):
    """What the documentation warns of. Should it fail one day, the warning can go."""
    run = submit(single, scheduler, "--until", "ingest_mine", "--envvars", VARIABLE, **{VARIABLE: KEY})
    assert run.code == 0, run.output
    assert KEY in (scheduler.submitted()[0] / "script").read_text()


@pytest.mark.slow
def test_another_working_directory_holds_all_that_a_run_on_a_scheduler_leaves(single, scheduler, tmp_path):
    """The workflow in one folder, the data in another; started from a third."""
    workflow, study, start = (tmp_path / name for name in ("devqa", "study", "start"))
    single.folder.rename(workflow)
    for folder in (study, start):
        folder.mkdir()
    shutil.move(workflow / "mine", study / "mine")
    shutil.copytree(workflow / "examples", study / "examples")
    single.config["cache_dir"] = "cache"
    here = Project(start, single.endpoint, single.config)
    before = times(workflow)
    options = (*SUBMIT, "--cluster-generic-submit-cmd", f"submit -v {VARIABLE}", *COMMANDS, *QUERIES)
    run = by_the_book(here, scheduler, documented("--directory"), *options, **{VARIABLE: KEY})
    assert run.code == 0, run.output
    assert asked_again(single.endpoint) == 0
    assert (study / "results/queries/mine/0-of-1.parquet").exists()
    assert any((study / "cache").rglob("*.*"))
    assert {path.name for path in start.iterdir()} == {"mine.yaml", ".venv"}
    assert times(workflow) == before


def times(folder):
    """When each file was written, but for what Python compiles."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return {path: path.stat().st_mtime_ns for path in files}
