"""How a process is told to stop. Each is a process of its own, because signals are for whole processes."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from patience import at_most
from processes import is_alive, until

_BEGIN = """
import asyncio, os, signal, sys, threading, time
from devqa import stopping

def last_words(stopped):
    print("last words after", stopped.signal.name, flush=True)
    return 128 + stopped.signal

stopping.listen(last_words)
"""


@contextmanager
def process(code):
    """A process that listens and runs `code`; it has said its first line."""
    command = [sys.executable, "-c", _BEGIN + code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        try:
            run.first = run.stdout.readline().strip()
            yield run
        finally:
            run.kill()


def end(run):
    # Not `communicate`: it passes over what `readline` has read ahead.
    with at_most(60):
        out, errors = run.stdout.read(), run.stderr.read()
        run.wait()
    return run.returncode, out.split("\n")[:-1], errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_raises_in_the_main_thread(number):
    code = """
try:
    print("ready", flush=True)
    time.sleep(60)
except stopping.Stopped as stopped:
    print("stopped by", stopped.signal.name)
"""
    with process(code) as run:
        run.send_signal(number)
        assert end(run) == (0, [f"stopped by {number.name}"], "")


_GENTLY = """
async def work():
    loop, told = asyncio.get_running_loop(), asyncio.Queue()
    with stopping.gently(lambda hurry: loop.call_soon_threadsafe(told.put_nowait, hurry)):
        print("ready", flush=True)
        print(await told.get(), flush=True)
        print(await told.get(), flush=True)

asyncio.run(work())
try:
    stopping.check()
except stopping.Stopped as stopped:
    print("stopped by", stopped.signal.name)
"""


def test_gently_a_callback_is_called_instead_and_again_only_at_ctrl_c():
    with process(_GENTLY) as run:
        run.send_signal(signal.SIGTERM)
        assert run.stdout.readline() == "False\n"
        run.send_signal(signal.SIGTERM)
        assert run.stdout.readline() == "False\n"
        assert end(run) == (0, ["stopped by SIGTERM"], "")
    with process(_GENTLY) as run:
        run.send_signal(signal.SIGINT)
        assert run.stdout.readline() == "False\n"
        run.send_signal(signal.SIGINT)
        assert run.stdout.readline() == "True\n"
        assert end(run) == (0, ["stopped by SIGINT"], "")


_WAITS = """
stopping._LONGEST_S = {longest}
worker = threading.Thread(target=time.sleep, args=[60])
worker.start()
try:
    print("ready", flush=True)
    time.sleep(60)
finally:
    print("waits", flush=True)
    worker.join()
"""


def test_who_waits_for_threads_is_ended_all_the_same():
    with process(_WAITS.format(longest=0.3)) as run:
        run.send_signal(signal.SIGTERM)
        assert end(run) == (143, ["waits", "last words after SIGTERM"], "")


def test_a_second_ctrl_c_waits_for_nothing():
    with process(_WAITS.format(longest=60)) as run:
        run.send_signal(signal.SIGINT)
        assert run.stdout.readline() == "waits\n"
        run.send_signal(signal.SIGINT)
        assert end(run) == (130, ["last words after SIGINT"], "")


def test_what_is_ignored_stays_so():
    code = "print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    command = [sys.executable, "-c", ignoring + _BEGIN + code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout == "True\n"


def test_the_main_process_of_a_run_passes_over_the_second_ctrl_c():
    code = """
signal.signal(signal.SIGINT, signal.default_int_handler)
stopping.once()
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("first", flush=True)
os.kill(os.getpid(), signal.SIGINT)
print("second", flush=True)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("third", flush=True)
"""
    with process(code) as run:
        run.send_signal(signal.SIGINT)
        assert end(run) == (0, ["first", "second", "third"], "")


_CLEANING = """
import pathlib
from devqa.web.cleaning import clean

def endless(task):
    time.sleep(60)

clean._clean_task = endless
items = [(b"<p>text", "text/html", "http://a.example")] * 2
threading.Thread(target=lambda: list(clean.clean_each(items, {"timeout_s": 600}, 2)), daemon=True).start()
children = []
while len(children) < 2:
    time.sleep(0.05)
    # Those of each thread.
    files = pathlib.Path("/proc/self/task").glob("*/children")
    children = [child for file in files for child in file.read_text().split()]
print(*children, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such signal")
def test_processes_that_clean_pages_end_with_a_job_that_is_killed():
    with process(_CLEANING) as run:
        children = [int(child) for child in run.first.split()]
        assert all(map(is_alive, children))
        run.kill()
        until(lambda: not any(map(is_alive, children)), 30)
