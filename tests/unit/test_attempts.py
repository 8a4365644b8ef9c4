"""Attempts of one job: the newest is at work, older ones make way."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from devqa import attempts
from devqa.files import of_job

RULE, WILDCARDS = "queries", {"source": "mine", "shard": "0-of-2"}


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attempts, "_LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(attempts, "_PATIENCE_S", 0.3)


def file():
    return of_job(attempts.FOLDER, RULE, WILDCARDS)


def written(**changes):
    """The mark of an attempt on another machine."""
    mark = {"name": "other-1-abc", "host": "other", "pid": 1, "since": 5} | changes
    file().parent.mkdir(parents=True, exist_ok=True)
    file().write_text(json.dumps(mark))
    return mark


def test_an_attempt_marks_its_job_while_it_is_at_work():
    assert not attempts.was_killed(RULE, WILDCARDS)
    with attempts.at_work(RULE, WILDCARDS):
        assert json.loads(file().read_text())["pid"] == os.getpid()
        assert not attempts.was_replaced(RULE, WILDCARDS)
        assert not attempts.was_killed(RULE, {**WILDCARDS, "shard": "1-of-2"})
    assert not list(file().parent.iterdir())


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_mark_goes_whatever_ends_the_attempt_in_good_order(fault):
    with pytest.raises(fault), attempts.at_work(RULE, WILDCARDS):
        raise fault
    assert not attempts.was_killed(RULE, WILDCARDS)


def test_a_killed_one_leaves_its_mark_and_the_next_does_not_wait_for_it(caplog):
    code = (
        "import os, signal\nfrom devqa import attempts\n"
        f"with attempts.at_work({RULE!r}, {WILDCARDS!r}):\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert attempts.was_killed(RULE, WILDCARDS)
    with attempts.at_work(RULE, WILDCARDS):
        assert not caplog.text
    assert not attempts.was_killed(RULE, WILDCARDS)


def test_an_older_attempt_on_this_machine_is_told_to_stop_and_waited_for(caplog):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as older:
        try:
            written(host=socket.gethostname(), pid=older.pid, since=attempts._since(older.pid))
            with attempts.at_work(RULE, WILDCARDS):
                assert older.wait(60) == -signal.SIGTERM
        finally:
            older.kill()
    assert "another attempt of this job is at work" in caplog.text


def test_another_process_with_the_same_number_is_left_alone():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        written(host=socket.gethostname(), pid=other.pid, since=attempts._since(other.pid) - 1)
        with attempts.at_work(RULE, WILDCARDS):
            assert other.poll() is None
        other.kill()


def test_an_attempt_on_another_machine_is_waited_for_only_if_it_was_at_work_just_now(caplog):
    written()
    with attempts.at_work(RULE, WILDCARDS):
        assert "process 1 on other" in caplog.text
    caplog.clear()
    written()
    os.utime(file(), (1_000, 1_000))
    with attempts.at_work(RULE, WILDCARDS):
        assert not caplog.text


def test_a_newer_attempt_has_this_one_told_to_stop_and_keeps_its_mark(monkeypatch):
    told = threading.Event()
    monkeypatch.setattr(attempts.os, "kill", lambda pid, number: told.set())
    with attempts.at_work(RULE, WILDCARDS):
        newer = written()
        assert told.wait(60)
        assert attempts.was_replaced(RULE, WILDCARDS)
    assert json.loads(file().read_text()) == newer


@pytest.mark.parametrize("content", ["", "nonsense", "[]", "{}"])
def test_a_mark_that_says_nothing_is_none(content):
    written()
    file().write_text(content)
    with attempts.at_work(RULE, WILDCARDS):
        pass
    assert not file().exists()
