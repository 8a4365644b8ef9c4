"""Programs of somebody else's, run within bounds."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devqa.pull_requests.agents import process
from devqa.pull_requests.agents.process import End
from patience import until
from processes import is_alive

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def test_what_takes_too_long_is_ended_with_all_that_it_started(bench):
    command = bench.command(
        """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        log(child.pid)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("thinking", flush=True)
        time.sleep(600)
        """,
        timeout_s=1.0,
    )
    (row,) = bench.rows(command)
    assert (row["status"], row["exit_code"], row["answer"]) == ("failed", None, None)
    assert "it was ended after 1 s (timeout_s)" in row["reason"]
    assert row["seconds"] >= 1.0
    until(lambda: not is_alive(int(bench.logged[0])), 10)


def test_what_a_program_leaves_behind_is_ended_too(bench):
    command = bench.command(
        """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        log(child.pid)
        print("Seven.")
        """
    )
    (row,) = bench.rows(command)
    assert row["answer"] == "Seven."
    until(lambda: not is_alive(int(bench.logged[0])), 10)


def test_what_is_printed_is_bounded(bench, monkeypatch):
    monkeypatch.setattr(process, "_MOST_OUTPUT", 1_000_000)
    command = bench.command("sys.stdout.write('x' * 5_000_000)\nsys.stderr.write('y' * 5_000_000)")
    (row,) = bench.rows(command)
    assert (row["status"], row["exit_code"]) == ("failed", 0)
    assert "it printed more than 1 MB" in row["reason"]
    assert len(row["raw"]) <= 10_000


def test_a_program_that_is_asked_to_stop_is_stopped(tmp_path):
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    ran = process.run([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, 60.0, stop)
    assert (ran.exit_code, ran.end, ran.trouble) == (None, End.STOPPED, "the job was told to stop")


def test_what_can_t_be_run_says_why(tmp_path):
    (tmp_path / "agent").write_bytes(b"\x00\x01")
    (tmp_path / "agent").chmod(0o755)
    ran = process.run([str(tmp_path / "agent")], tmp_path, 60.0, threading.Event())
    assert ran.end == End.BADLY
    assert "it can't be run" in ran.trouble


@pytest.mark.parametrize(
    ("body", "end", "code"),
    [
        ("print(7)", End.WELL, 0),
        ("sys.exit(3)", End.BADLY, 3),
        ("print(7); sys.exit(3)", End.BADLY, 3),
        ("print(' ')", End.BADLY, 0),
        ("os.kill(os.getpid(), signal.SIGTERM)", End.BADLY, None),
        ("time.sleep(600)", End.TIMEOUT, None),
        # Programs that want to tidy up are told to end, and may end as if nothing had happened.
        ("signal.signal(15, lambda *_: sys.exit(143)); print(7, flush=True); time.sleep(600)", End.TIMEOUT, 143),
        ("signal.signal(15, lambda *_: sys.exit(0)); print(7, flush=True); time.sleep(600)", End.TIMEOUT, 0),
    ],
)
def test_how_a_run_has_ended_is_no_matter_of_its_exit_code(tmp_path, body, end, code):
    words = [sys.executable, "-c", f"import os, signal, sys, time; {body}"]
    ran = process.run(words, tmp_path, 2.0, threading.Event())
    assert (ran.end, ran.exit_code) == (end, code)
    assert bool(ran.trouble) == (end != End.WELL)


def test_a_program_that_is_told_to_stop_before_the_job_is_has_not_failed(tmp_path):
    """As schedulers do it, who tell all processes at once."""
    stop = threading.Event()
    stop.set()
    ran = process.run([sys.executable, "-c", "import sys; sys.exit(143)"], tmp_path, 60.0, stop)
    assert ran.end == End.STOPPED


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=8)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=TEXTS.filter(lambda text: len(text.strip()) >= 8), more=TEXTS)
def test_no_secret_of_the_environment_is_in_what_a_program_has_printed(tmp_path, secret, more):
    """Nor in what its JSON says; also where one secret begins as another does."""
    said = [secret, json.dumps([secret]), json.dumps([secret], ensure_ascii=False), secret + more]
    environment = {"AGENT_API_KEY": secret, "OTHER_TOKEN": f"{secret}{more}"}
    with mock.patch.dict(os.environ, environment):
        for place, text in enumerate(said):
            (tmp_path / "said").write_bytes(text.encode())
            ran = process.run(["/bin/cat", "said"], tmp_path, 60.0, threading.Event())
            assert secret.strip() not in ran.stdout
            if place in (1, 2):
                assert secret.strip() not in json.loads(ran.stdout)[0]


TOLD_TO_STOP = """
import sys
from pathlib import Path
sys.path[:0] = [{scripts!r}, {tests!r}]
from devqa import stopping
from commanded import Bench, Command

folder = Path({folder!r})
bench = Bench.__new__(Bench)
bench.folder, bench.log = folder, folder / "log"
bench.origin = {origin!r}
stopping.listen(lambda stopped: 99)
try:
    bench.rows(Command("mine", {command!r}, 600.0), questions=3)
except stopping.Stopped:
    sys.exit(77)
"""


def test_sigterm_ends_the_agent_and_keeps_what_was_answered(bench, tmp_path):
    command = bench.command(
        """
        log(os.getpid())
        if "discount 0" not in sys.argv[1]:
            time.sleep(600)
        print("Seven.")
        """
    )
    tests = str(Path(__file__).resolve().parents[1])
    code = TOLD_TO_STOP.format(
        scripts=str(SCRIPTS), tests=tests, folder=str(bench.folder), origin=bench.origin, command=command.command
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    job = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        until(lambda: len(bench.logged) == 2)
        job.send_signal(signal.SIGTERM)
        assert job.wait(30) == 77
    finally:
        job.kill()
        job.wait()
    assert not any(is_alive(int(line)) for line in bench.logged)
    assert [record["stdout"] for record in bench.kept] == ["Seven.\n"]
