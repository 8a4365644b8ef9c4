"""Runs the server of a model, on whatever machine this is started, for as long as the run that needs it lives."""

import argparse
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import requests

from devqa.serving.address import announce, give_up, withdraw

_LOOK_EVERY_S = 0.2
_ANSWER_S = 5.0
# What a server has to end by itself after SIGTERM; then it is killed.
_GRACE_S = 10.0
_LAST_LINES = 8


def main(arguments: Sequence[str]) -> int:
    """Run the server that the command line describes until standard input is closed; returns the exit code.

    Standard input is a pipe whose other end Snakemake's main process holds: it closes whatever way that ends. SIGTERM
    stops the server too. The code is 1 when the server ended by itself or did not answer in time.
    """
    options = _options(arguments)
    port = free_port()
    base_url = f"http://{options.host or socket.gethostname()}:{port}/v1"
    words = [
        word.replace("{port}", str(port)).replace("{python}", sys.executable) for word in shlex.split(options.command)
    ]
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: signals.append(number))
    with options.log.open("ab") as output:
        try:
            # A process group of its own, so that what it starts can be stopped with it.
            server = subprocess.Popen(  # noqa: S603 -- the configuration's own command
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0
            )
        except OSError as error:
            give_up(options.address, f"serve.command: {words[0]} can't be run ({error.strerror})")
            return 1
        try:
            trouble = _watch(server, base_url, options, signals)
        finally:
            _stop(server)
    if trouble:
        give_up(options.address, trouble)
        return 1
    withdraw(options.address)
    return 0


def free_port() -> int:
    """A TCP port that nobody on this machine listens at."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--command", required=True, help="{port} stands for the port, {python} for this interpreter")
    parser.add_argument("--address", required=True, type=Path, help="the file that tells jobs where the server is")
    parser.add_argument("--log", required=True, type=Path, help="gets the server's output")
    parser.add_argument("--ready-s", required=True, type=float, help="seconds until the server has to answer")
    parser.add_argument("--host", help="how jobs reach this machine (default: its name)")
    parser.add_argument("--api-key-env", default="", help="the variable that holds the key that the server wants")
    return parser.parse_args(arguments)


def _watch(
    server: subprocess.Popen[bytes], base_url: str, options: argparse.Namespace, signals: list[int]
) -> str | None:
    """Announce the server when it answers; returns None when it is to be stopped, or what is wrong with it."""
    until = time.monotonic() + options.ready_s
    ready = False
    while not _told_to_stop(signals):
        if server.poll() is not None:
            last = _last_lines(options.log)
            return f"serve.command: it ended with code {server.returncode}. The end of {options.log}:\n{last}"
        if not ready and _answers(base_url, os.environ.get(options.api_key_env)):
            announce(options.address, base_url)
            ready = True
        if not ready and time.monotonic() >= until:
            return f"serve.ready_s: {base_url} has not answered within {options.ready_s:g} s (see {options.log})"
    return None


def _told_to_stop(signals: list[int]) -> bool:
    """Wait a moment; has the run ended, or a signal come?"""
    readable, _, _ = select.select([0], [], [], _LOOK_EVERY_S)
    return bool(signals) or (bool(readable) and not os.read(0, 4096))


def _answers(base_url: str, key: str | None) -> bool:
    with requests.Session() as session:
        # A proxy of the environment is for addresses outside.
        session.trust_env = False
        try:
            answer = session.get(
                f"{base_url}/models", headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=_ANSWER_S
            )
        except requests.RequestException:
            return False
        return answer.status_code == 200


def _stop(server: subprocess.Popen[bytes]) -> None:
    _signal_group(server, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(_GRACE_S)
    # Also what is left of the group when its first process has ended.
    _signal_group(server, signal.SIGKILL)
    server.wait()


def _signal_group(server: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(server.pid, number)


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:])
