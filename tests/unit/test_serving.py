"""A supervised server: announced when it answers, stopped with all that it started, and what is said when it fails."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from devqa.config.models import Model, asked_with
from devqa.errors import UserError
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request
from devqa.serving.address import address_file, announce, give_up, has_failed, wait_for, withdraw
from devqa.serving.servers import Server
from processes import is_alive, until
from scripted import ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[2]
SERVED = shlex.join(["{python}", str(ROOT / "tests/served.py"), "--port", "{port}", "--record", "."])
# Answers only those who know the key, and dies of the first one who does not.
LOCKED = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        assert self.path == "/v1/models"
        self.send_response(200 if self.headers["Authorization"] == "Bearer sk-secret" else 401)
        self.end_headers()

HTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
"""


class Supervisor:
    """scripts/serve.py at work in a folder of its own."""

    def __init__(self, folder: Path, command: str, *arguments: str, host: str | None = "127.0.0.1", **environment: str):
        self.folder = folder
        self.address = folder / "services/run/model.json"
        words = [sys.executable, str(ROOT / "scripts/serve.py"), "--command", command]
        words += ["--host", host] if host else []
        words += ["--address", str(self.address), "--log", str(folder / "server.log"), "--ready-s", "60", *arguments]
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.PIPE, env={**os.environ, **environment}, start_new_session=True
        )

    def told(self) -> dict[str, str]:
        """What the address file says, as soon as it is there."""
        until(self.address.exists)
        return json.loads(self.address.read_text())


@pytest.fixture
def supervised(tmp_path):
    started = []

    def start(*arguments, **environment):
        started.append(Supervisor(tmp_path, *arguments, **environment))
        return started[-1]

    yield start
    for supervisor in started:
        supervisor.process.stdin.close()
        supervisor.process.wait(30)


@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
def test_a_server_and_all_that_it_started_are_stopped(supervised, tmp_path, how):
    # The worker takes no notice of SIGTERM.
    script = f"(trap '' TERM; exec sleep 1000) & echo $! > worker; exec {SERVED}"
    supervisor = supervised(shlex.join(["sh", "-c", script]))
    assert supervisor.told()["base_url"].startswith("http://127.0.0.1:")
    (server,) = [int(file.name) for file in tmp_path.iterdir() if file.name.isdigit()]
    worker = int((tmp_path / "worker").read_text())
    assert is_alive(server)
    assert is_alive(worker)
    if how == "SIGTERM":
        supervisor.process.send_signal(signal.SIGTERM)
    else:
        supervisor.process.stdin.close()
    assert supervisor.process.wait(30) == 0
    assert not is_alive(server)
    until(lambda: not is_alive(worker))
    assert not supervisor.address.parent.exists()


def test_a_server_that_ends_is_reported_with_its_last_words(supervised):
    supervisor = supervised("sh -c 'echo one; echo no such model >&2; exit 7' {port}")
    error = supervisor.told()["error"]
    assert error.startswith("serve.command: it ended with code 7")
    assert error.endswith("one\nno such model")
    assert supervisor.process.wait(30) == 1


def test_a_server_that_ends_after_it_was_announced_is_reported(supervised, tmp_path):
    supervisor = supervised(SERVED)
    assert "base_url" in supervisor.told()
    (server,) = [int(file.name) for file in tmp_path.iterdir() if file.name.isdigit()]
    os.kill(server, signal.SIGKILL)
    assert supervisor.process.wait(30) == 1
    assert "it ended with code -9" in supervisor.told()["error"]


def test_a_command_that_is_not_there_is_reported(supervised):
    supervisor = supervised("no-such-server --port {port}")
    assert supervisor.told()["error"].startswith("serve.command: no-such-server can't be run (No such file")
    assert supervisor.process.wait(30) == 1


def test_a_server_that_never_answers_is_given_up(supervised):
    supervisor = supervised("sleep 1000", "--ready-s", "0.5")
    assert "serve.ready_s: http://127.0.0.1:" in supervisor.told()["error"]
    assert supervisor.process.wait(30) == 1


def test_a_server_is_asked_with_its_key(supervised, tmp_path):
    command = shlex.join(["{python}", "-c", LOCKED, "{port}"])
    supervisor = supervised(command, "--api-key-env", "SERVER_KEY", SERVER_KEY="sk-secret")
    assert "base_url" in supervisor.told()
    supervisor.process.stdin.close()
    supervisor.process.wait(30)
    assert "sk-secret" not in (tmp_path / "server.log").read_text()


def test_jobs_on_other_machines_are_told_this_machine_s_name(supervised):
    name = socket.gethostname()
    try:
        socket.gethostbyname(name)
    except OSError:
        pytest.skip(f"{name} has no address here")
    command = shlex.join(["{python}", "-c", LOCKED, "{port}"])
    supervisor = supervised(command, "--api-key-env", "SERVER_KEY", host=None, SERVER_KEY="sk-secret")
    assert supervisor.told()["base_url"].startswith(f"http://{name}:")


@pytest.mark.parametrize("launcher", ["", "srun --gres=gpu:1 --comment 'two words'"])
def test_a_launcher_stands_before_the_supervisor(launcher, tmp_path, monkeypatch):
    started = []

    class Started:
        def __init__(self, words, **options):
            started.append(words)

        def wait(self):
            return 0

    monkeypatch.setattr("devqa.serving.servers.subprocess.Popen", Started)
    address = tmp_path / "services/run/mine.json"
    serve = {"command": "vllm serve 'a b' --port {port}", "launcher": launcher}
    model = Model(runtime="served", identity="x", api_key_env="VLLM_API_KEY", serve=serve)
    Server("mine", model.model_dump(), address, tmp_path / "logs/mine.log")
    (words,) = started
    there = words.index(sys.executable)
    assert words[:there] == shlex.split(launcher)
    assert ("--host" in words) == (not launcher)
    options = dict(zip(words[there + 2 :: 2], words[there + 3 :: 2], strict=True))
    assert options["--command"] == "vllm serve 'a b' --port {port}"
    assert options["--api-key-env"] == "VLLM_API_KEY"
    # It has ended at once, and the run has not.
    until(lambda: has_failed(address))


def test_the_documentation_s_models_are_valid():
    text = (ROOT / "docs/serving.md").read_text(encoding="utf-8")
    (whole, *_) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (llama,) = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "llama_server" in block]
    for models in (yaml.safe_load(whole)["models"], yaml.safe_load(llama)):
        for model in models.values():
            assert Model(**model).runtime == "served"


def chat(folder, patience_s=5.0):
    model = Model(runtime="served", identity="ours", serve={"command": "serve {port}", "ready_s": patience_s})
    file = address_file(folder, "run", "mine")
    return file, Chat(asked_with("mine", model), {**model.model_dump(), "address_file": file}, Cache(folder), "test")


def test_a_job_asks_at_the_announced_address(tmp_path):
    request = Request(({"role": "user", "content": "hello"},))
    with ScriptedEndpoint() as endpoint:
        file, asking = chat(tmp_path)
        announce(file, endpoint.base_url)
        with asking:
            assert asking.ask([request])[0].text == "ok"
    withdraw(file)
    assert not file.parent.exists()
    # What is in the cache needs no server, whatever its address was.
    with chat(tmp_path, patience_s=0.1)[1] as again:
        assert again.ask([request])[0].cached


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("serve.command: it ended with code 1", "models.mine.serve.command: it ended with code 1"),
        (None, r"models\.mine\.serve\.ready_s: no server has answered within 0.1 s"),
    ],
)
def test_a_job_without_a_server_stops_with_one_message(tmp_path, reason, says):
    file, asking = chat(tmp_path, patience_s=0.1)
    if reason:
        give_up(file, reason)
    with asking, pytest.raises(UserError, match=says):
        asking.ask([Request(({"role": "user", "content": "hello"},))])


def test_an_address_is_waited_for(tmp_path):
    file = tmp_path / "run/model.json"
    with subprocess.Popen(
        ["sh", "-c", f'sleep 0.5; mkdir run; echo \'{{"base_url": "there"}}\' > t; mv t {file}'], cwd=tmp_path
    ):
        assert wait_for(file, 30) == "there"


@pytest.mark.parametrize(
    ("serve", "says"),
    [
        ({"command": "vllm serve qwen"}, "{port} is missing"),
        ({"command": "vllm 'serve {port}"}, "No closing quotation"),
        ({"command": "vllm {port}", "launcher": "srun 'x"}, "No closing quotation"),
    ],
)
def test_a_command_that_cannot_work_is_refused(serve, says):
    with pytest.raises(ValueError, match=says):
        Model(runtime="served", identity="x", serve=serve)
