"""Models in batch mode: the same tables as online, and no row executed twice, whatever is killed and when."""

import copy
import csv
import os
import shutil
import signal
import subprocess
import threading
import time

import orjson
import pytest

from replies import reply, step_of
from scripted import Reply
from scripted_batch import ScriptedBatches
from workflow.conftest import Project, configuration, copy_of_the_project, write_dialogues

BATCH = {"mode": "batch", "batch": {"poll_s": 0.2, "requests": 5}}
PRICE = {"input": 100.0, "output": 400.0}


@pytest.fixture(scope="module")
def endpoint():
    with ScriptedBatches(reply) as server:
        yield server


def made(folder, endpoint, mode):
    """A project of six dialogues in which a step and the evaluated models are asked in `mode`, after a whole run."""
    folder = copy_of_the_project(folder)
    write_dialogues(folder / "mine/dialogues.jsonl", range(6))
    config = configuration(endpoint, dialogues={"mine": {"path": "mine", "shards": 1}})
    config["evaluation"]["repeats"] = 1
    config["models"]["checker"] = endpoint.model(model="checker")
    config["steps"]["check"]["model"] = "checker"
    for label in ("checker", "weak", "strong"):
        config["models"][label] |= {"price": PRICE, **mode}
    project = Project(folder, endpoint, config)
    endpoint.clear()
    run = project.run()
    assert run.code == 0, run.output
    return project


@pytest.fixture(scope="module")
def online(endpoint, tmp_path_factory):
    return made(tmp_path_factory.mktemp("online") / "project", endpoint, {"mode": "online"})


@pytest.fixture(scope="module")
def finished(endpoint, tmp_path_factory):
    return made(tmp_path_factory.mktemp("batch") / "project", endpoint, BATCH)


@pytest.fixture
def edited(finished, endpoint, tmp_path):
    """A copy of the finished project in which the checker has to be asked again about everything."""
    shutil.copytree(finished.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.before = endpoint.after = lambda deed: None
    endpoint.running.set()
    project = Project(tmp_path / "project", endpoint, copy.deepcopy(finished.config))
    with (project.folder / "prompts/check/user.j2").open("a", encoding="utf-8") as prompt:
        prompt.write("\nThink twice.")
    return project


def tables(project):
    results = project.folder / "results"
    return {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob("*.parquet"))}


def ledger(project):
    with (project.folder / "results/funnel.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{**row, "usd": ""} for row in rows], sum(float(row["usd"] or 0) for row in rows)


def tickets(project):
    return list(project.folder.glob(".cache/devqa/responses/*/batches/*.json"))


@pytest.mark.slow
def test_tables_are_the_same_as_online_for_half_the_price(online, finished, endpoint):
    assert tables(finished) == tables(online)
    rows, usd = ledger(finished)
    online_rows, online_usd = ledger(online)
    assert rows == online_rows
    assert 0 < usd == pytest.approx(online_usd / 2, rel=1e-3)
    assert {step_of(orjson.loads(body)) for _, body in endpoint.executed} == {"check", "answer"}
    assert set(endpoint.executed.values()) == {1}
    assert not tickets(finished)


@pytest.mark.slow
def test_a_batch_is_reported_in_the_log(finished):
    log = "".join(path.read_text() for path in finished.folder.glob("logs/**/*.log"))
    assert "check with checker: batch batch_" in log
    assert "submitted: 5 requests" in log


MOMENTS = {
    "before the batch is created": ("before", "create"),
    "before the batch's id is known": ("after", "create"),
    "while the batch is under way": ("before", "retrieve"),
}


def hanging(endpoint, moment, deed):
    """Make every `deed` of the run hang, before or after it is done; set when one does."""
    hangs = threading.Event()

    def hook(asked):
        if asked != deed:
            return None
        hangs.set()
        return Reply(fault="hang")

    setattr(endpoint, moment, hook)
    return hangs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "victim"), [*((case, "everything") for case in MOMENTS), (list(MOMENTS)[-1], "the jobs")]
)
def test_after_a_kill_the_same_command_goes_on_and_no_row_is_executed_twice(edited, endpoint, case, victim):
    moment, deed = MOMENTS[case]
    hangs = hanging(endpoint, moment, deed)
    process = edited.process() | {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for key in ("capture_output", "timeout", "text"):
        process.pop(key)
    with subprocess.Popen(edited.command(2, "--until", "check"), start_new_session=True, **process) as running:
        assert hangs.wait(60)
        if victim == "everything":
            os.killpg(running.pid, signal.SIGKILL)
        else:
            while running.poll() is None:
                for pid in {orjson.loads(path.read_bytes())["pid"] for path in tickets(edited)}:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:  # killed already
                        continue
                time.sleep(0.1)
    assert tickets(edited)
    endpoint.before = endpoint.after = lambda deed: None
    edited.run("--unlock")
    run = edited.run("--until", "check")
    assert run.code == 0, run.output
    assert {row["status"] for row in edited.table("checked")} == {"ok"}
    assert {step_of(orjson.loads(body)) for _, body in endpoint.executed} == {"check"}
    assert len(endpoint.executed) == len(edited.table("checked"))
    assert set(endpoint.executed.values()) == {1}
    assert not tickets(edited)
