"""The servers of a run, as its main process sees them."""

import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devqa.errors import UserError
from devqa.serving.address import give_up, has_failed, withdraw

_SUPERVISOR = Path(__file__).resolve().parents[2] / "serve.py"
# Longer than a supervisor gives its server.
_PATIENCE_S = 30.0


class Server:
    """The server of one model; it lives at most as long as this process.

    Args:
        label: the model's name in the configuration.
        model: its configuration, as plain values; `serve` says what to start.
        address: the file that will tell the jobs where the server is.
        log: gets the server's output.

    Raises:
        UserError: the launcher can't be run.
    """

    def __init__(self, label: str, model: dict[str, Any], address: Path, log: Path):
        self._address = address.absolute()
        self._stopping = False
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        # The supervisor adds to the same file.
        with log.open("ab") as output:
            try:
                # A session of its own: Ctrl-C is for Snakemake, which then ends this in good order.
                self._process = subprocess.Popen(  # noqa: S603 -- the configuration's own launcher
                    _command(model, self._address, log.absolute()),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise UserError(f"models.{label}.serve.launcher can't be run: {error}") from None
        threading.Thread(target=self._watch, args=[log], daemon=True).start()

    def release(self) -> None:
        """Let it end: its supervisor lives as long as this pipe."""
        self._stopping = True
        self._process.stdin.close()

    def wait(self) -> None:
        """Return when it has ended."""
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        withdraw(self._address)

    def _watch(self, log: Path) -> None:
        """Where the launcher fails, or takes the supervisor away before the run ends, nobody else says so."""
        code = self._process.wait()
        if not self._stopping and not has_failed(self._address):
            give_up(self._address, f"serve.launcher: it ended with code {code} before the run did (see {log})")


def stop(servers: Sequence[Server]) -> None:
    """Stop all of them, at the same time."""
    for server in servers:
        server.release()
    for server in servers:
        server.wait()


def _command(model: dict[str, Any], address: Path, log: Path) -> list[str]:
    serve = model["serve"]
    words = [*shlex.split(serve["launcher"]), sys.executable, str(_SUPERVISOR)]
    words += ["--command", serve["command"], "--ready-s", str(serve["ready_s"])]
    words += ["--address", str(address), "--log", str(log)]
    if not serve["launcher"]:
        words += ["--host", "127.0.0.1"]
    if model["api_key_env"]:
        words += ["--api-key-env", model["api_key_env"]]
    return words
