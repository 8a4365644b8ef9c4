"""Agents that tests write, and a bench on which questions about a repository are put to them."""

import sys
import textwrap

from devqa.llm.cache import Cache
from devqa.pull_requests.agents.commands import Command, answered
from exported import LABEL, commit_of, question, store
from standins import assert_sound, prompt

FILES = {b"a.py": b"zebra = 7\n", b"src": {b"b.py": b"b = 1\n"}}


class Bench:
    """Puts questions about a repository to an agent that a test writes, with a cache that outlives each run."""

    def __init__(self, folder):
        self.folder = folder
        self.origin = store(folder / "repository", FILES)
        self.log = folder / "log"
        (folder / "bin").mkdir()

    def agent(self, body):
        """An executable that runs the Python code `body`; in it `log(line)` leaves a line for the test."""
        path = self.folder / "bin" / "agent"
        head = f"#!{sys.executable}\nimport json, os, pathlib, signal, subprocess, sys, time\n"
        head += f"def log(line):\n    with open({str(self.log)!r}, 'a') as file: file.write(f'{{line}}\\n')\n"
        path.write_text(head + textwrap.dedent(body))
        path.chmod(0o755)
        return str(path)

    @property
    def logged(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def kept(self):
        """The records of all runs."""
        return [record for shelf in Cache(self.folder / "cache/commands").shelves() for _, record in shelf.records()]

    def command(self, body="print('Seven.')", arguments="{question}", **more):
        return Command("mine", f"{self.agent(body)} {arguments}", **{"timeout_s": 60.0, **more})

    def rows(self, command, questions=1, repeats=(1,), forced_at=None, **more):
        """The rows; `again` is whether the next start runs some of them again."""
        asked = [question(number, self.origin, commit_of(self.origin), **more) for number in range(questions)]
        rows, self.again = answered(
            asked,
            command,
            prompt("pull_requests/command"),
            repeats,
            origins={LABEL: self.origin},
            cache=self.folder / "cache",
            offline=True,
            forced_at=forced_at,
        )
        assert_sound(rows, "predictions")
        assert [(row["repeat"], row["id"]) for row in rows] == [
            (repeat, row["id"]) for repeat in repeats for row in asked
        ]
        return rows
