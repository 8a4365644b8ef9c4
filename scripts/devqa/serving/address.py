"""Where a run's jobs find the server of a model: a small file in the cache folder, which all machines see."""

import json
import logging
import os
import time
from contextlib import suppress
from pathlib import Path

from devqa.errors import UserError
from devqa.files import replacing

_log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.2


def address_file(cache: str | os.PathLike, run: str, label: str) -> Path:
    """The file of model `label` in the run of that name, below the cache folder."""
    return Path(cache) / "services" / run / f"{label}.json"


def announce(file: Path, base_url: str) -> None:
    """Tell the jobs that the server answers at `base_url`."""
    _write(file, {"base_url": base_url})


def give_up(file: Path, reason: str) -> None:
    """Tell the jobs that there is no server. `reason` begins with the key to mend, below `models.<label>`."""
    _write(file, {"error": reason})


def has_failed(file: Path) -> bool:
    """Have the jobs been told that there is no server?"""
    return file.exists() and "error" in _read(file)


def withdraw(file: Path) -> None:
    """Forget the server, and the run's folder with its last one."""
    file.unlink(missing_ok=True)
    with suppress(OSError):
        file.parent.rmdir()


def wait_for(file: Path, patience_s: float) -> str:
    """The base URL of a server, as soon as it is announced.

    Raises:
        UserError: the server could not be started, or is not announced within `patience_s`. The message begins with
            the key to mend, below `models.<label>`.
    """
    until = time.monotonic() + patience_s
    if not file.exists():
        _log.info("waiting for the server of %s", file.stem)
    while not file.exists():
        if time.monotonic() >= until:
            raise UserError(f"serve.ready_s: no server has answered within {patience_s:g} s")
        time.sleep(_LOOK_EVERY_S)
    found = _read(file)
    if "error" in found:
        raise UserError(found["error"])
    return found["base_url"]


def _read(file: Path) -> dict[str, str]:
    return json.loads(file.read_text(encoding="utf-8"))


def _write(file: Path, content: dict[str, str]) -> None:
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(content), encoding="utf-8")
