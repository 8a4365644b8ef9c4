"""Which attempt of a job is at work: the newest. An older one that still runs makes way for it.

Snakemake and clusters leave attempts behind: who kills Snakemake alone leaves its jobs running, and a node that was
given up may work on. Two attempts of one job would send, and pay for, the same requests.

    .snakemake/devqa/jobs/<rule>/<wildcards>

The file names the attempt that has begun last. It goes when that ends in good order; so where it is left, the job was
killed.
"""

import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from devqa.files import content, of_job, replacing, unique_name

FOLDER = Path(".snakemake/devqa/jobs")

_log = logging.getLogger(__name__)

# An attempt at work says so, and looks whether there is a newer one.
_LOOK_EVERY_S = 5.0
# One that has not said so for as long is dead. Clients of a shared file system see times of others late.
_DEAD_AFTER_S = 20.0
# What an older attempt gets to make way; longer than it gives what it has under way.
_PATIENCE_S = 10.0

Attempt = dict[str, str | int | None]


@contextmanager
def at_work(rule: str, wildcards: Mapping[str, str]) -> Iterator[None]:
    """Within the block this is the attempt of the job of `rule` with `wildcards`.

    An attempt that is at work before it is told to stop, and waited for a little. One that comes meanwhile has this
    process told to stop (SIGTERM).

    Raises:
        UserError: the file can't be written.
    """
    file = of_job(FOLDER, rule, wildcards)
    before, own = _read(file), _own()
    age_s = _age_s(file)
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(own), encoding="utf-8")
    if before:
        _wait_for(before, age_s)
    ended = threading.Event()
    threading.Thread(target=_watch, args=(file, own, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        if _read(file) == own:
            with suppress(OSError):
                file.unlink()


def was_replaced(rule: str, wildcards: Mapping[str, str]) -> bool:
    """Has another attempt taken the place of this process's?"""
    newest = _read(of_job(FOLDER, rule, wildcards))
    return newest is not None and not _is_this_process(newest)


def was_killed(rule: str, wildcards: Mapping[str, str]) -> bool:
    """Did the job's last attempt end without a chance to say why? To be asked when it is known that it has ended."""
    return _read(of_job(FOLDER, rule, wildcards)) is not None


def more_memory(rule: str) -> str:
    """What helps a job of `rule` for which there was not enough memory."""
    more = f"give it more (on a cluster --set-resources {rule}:mem_mb=…)"
    fewer = "run fewer jobs at the same time (--cores)"
    if rule.startswith("pr_"):
        return f"{more}, or {fewer}"
    return f"{more}, {fewer}, or cut its source into more shards (dialogues.<source>.shards)"


def _wait_for(before: Attempt, age_s: float) -> None:
    """Have an older attempt make way, if it is at work."""
    if before["host"] == socket.gethostname():
        if not _is_alive(before):
            return
        # Where it is another user's, it finds out by itself.
        with suppress(OSError):
            os.kill(before["pid"], signal.SIGTERM)
    elif age_s > _DEAD_AFTER_S:
        return
    _log.warning("another attempt of this job is at work (process %(pid)s on %(host)s): it is told to stop", before)
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and (before["host"] != socket.gethostname() or _is_alive(before)):
        time.sleep(0.1)


def _watch(file: Path, own: Attempt, ended: threading.Event) -> None:
    while not ended.wait(_LOOK_EVERY_S):
        newest = _read(file)
        if newest is not None and newest != own:
            os.kill(os.getpid(), signal.SIGTERM)
            return
        with suppress(OSError):
            os.utime(file)


def _own() -> Attempt:
    pid = os.getpid()
    return {"name": unique_name(), "host": socket.gethostname(), "pid": pid, "since": _since(pid)}


def _is_this_process(attempt: Attempt) -> bool:
    return attempt["host"] == socket.gethostname() and attempt["pid"] == os.getpid()


def _is_alive(attempt: Attempt) -> bool:
    """Is the process of this machine there? Numbers are given anew; when it began tells it from others."""
    return attempt["since"] is not None and _since(attempt["pid"]) == attempt["since"]


def _since(pid: int) -> int | None:
    """When a process has begun, in ticks since the machine's start; None where there is none, or no Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    # What has ended and was not collected yet does nothing any more.
    return None if fields[0] == "Z" else int(fields[19])


def _age_s(file: Path) -> float:
    """Seconds since an attempt has last said that it is at work, by the clock of the file's server."""
    try:
        written = file.stat().st_mtime
    except OSError:
        return float("inf")
    probe = file.with_name(f".{file.name}.{unique_name()}")
    try:
        probe.touch()
        return probe.stat().st_mtime - written
    except OSError:
        return float("inf")
    finally:
        probe.unlink(missing_ok=True)


def _read(file: Path) -> Attempt | None:
    try:
        found = json.loads(content(file))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() >= {"name", "host", "pid", "since"} else None
