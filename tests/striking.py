"""Runs that are struck in the middle of their requests, and whether the next one goes on where they stopped.

strike = Strike(project, answers=12, under_way=4)
with strike.running() as running:
    running.send_signal(signal.SIGTERM)
strike.goes_on()
"""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from processes import until
from replies import reply
from scripted import Reply

QUERIES = ("--until", "queries")


class Strike:
    """A project whose endpoint answers so many requests, then lets those that are `under_way` wait.

    Args:
        project: from the fixture `fresh`.
        answers: requests that are answered before the run is struck.
        under_way: requests that are under way at that moment: the model's concurrency.
        late_s: what is under way is answered so many seconds later; None: never.

    Attributes:
        answered: the conversations that were answered.
    """

    def __init__(self, project: Any, answers: int = 8, under_way: int = 4, late_s: float | None = None):
        self.project = project
        self.answers = answers
        self.under_way = under_way
        self.late_s = late_s
        self.answered: list[str] = []
        self._waiting = 0
        self._due = threading.Event()
        project.config["models"]["worker"]["limits"] = {"concurrency": under_way}
        project.endpoint.reply = self._reply

    def _reply(self, body: dict[str, Any]) -> Any:
        if len(self.answered) < self.answers:
            self.answered.append(said(body))
            return reply(body)
        self._waiting += 1
        if self._waiting == self.under_way:
            self._due.set()
        if self.late_s is None:
            return Reply(fault="hang")
        self.answered.append(said(body))
        return Reply(reply(body), delay_s=self.late_s)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Snakemake in a process group of its own, when the moment has come; at the end of the block it has ended.

        Its output is in `output` then. What it leaves behind is killed.
        """
        process = self.project.process(None) | {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        for key in ("capture_output", "timeout"):
            process.pop(key)
        command = self.project.command(2, *(arguments or QUERIES))
        with subprocess.Popen(command, start_new_session=True, **process) as running:
            try:
                assert self._due.wait(120)
                # What was answered is on its way to the cache.
                until(lambda: kept(self.project) == self.answers)
                yield running
                self.output = running.communicate(timeout=120)[0]
                self.code = running.returncode
            finally:
                for left in (running.pid, *jobs(self.project)):
                    with suppress(ProcessLookupError):
                        os.kill(left, signal.SIGKILL)

    def sent(self) -> int:
        """How many requests came since the endpoint was cleared."""
        return self.project.endpoint.count

    def goes_on(self, undisturbed: dict[str, bytes], *before: str) -> None:
        """The same command ends well, asks for nothing that was answered, and makes the same tables.

        Args:
            undisturbed: what `tables` gives for a run that nothing has struck.
            before: the arguments of a command that has to come first.
        """
        self.project.endpoint.reply = reply
        self.project.endpoint.clear()
        if before:
            assert self.project.run(*before).code == 0
        run = self.project.run(*QUERIES)
        assert run.code == 0, run.output
        asked = [said(body) for body in self.project.endpoint.requests]
        assert not set(self.answered) & set(asked)
        assert len(asked) == len(set(asked))
        assert len(asked) + len(self.answered) == len(self.project.table("queries"))
        assert tables(self.project) == undisturbed


def said(body: dict[str, Any]) -> str:
    """What tells a request of a step from others."""
    return body["messages"][-1]["content"]


def kept(project: Any) -> int:
    """How many answers the cache holds."""
    segments = project.folder.glob(".cache/devqa/responses/*/*.seg")
    return sum(segment.read_bytes().count(b"\n") for segment in segments)


def tables(project: Any) -> dict[str, bytes]:
    """All tables that there are, by their names."""
    results = project.folder / "results"
    return {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob("*.parquet"))}


def jobs(project: Any) -> list[int]:
    """The processes that run scripts of the project's jobs."""
    scripts = f"{project.folder}/.snakemake/scripts/".encode()
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and scripts in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found
