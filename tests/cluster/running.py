"""Runs of the workflow on the test's cluster, as a person on its login node would give them."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from workflow.conftest import Project, Run

# A look at the jobs after one second, and not only after twenty, is all that differs from what a person says.
COMMAND = (
    *(sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", "--configfile", "mine.yaml"),
    *("--slurm-init-seconds-before-status-checks", "1"),
)


class ClusterRun:
    """A run that goes on beside the test; Ctrl-C, which takes its jobs back, ends it if it takes too long.

    Args:
        project: what runs; `mine.yaml` is written from its configuration.
        arguments: further ones for Snakemake.
        environment: variables beside those of the test's process.
    """

    def __init__(self, project: Project, *arguments: str, environment: dict[str, str] | None = None):
        (project.folder / "mine.yaml").write_text(yaml.safe_dump(project.config), encoding="utf-8")
        self.screen = project.folder / "screen.txt"
        self._arguments = arguments
        with self.screen.open("w") as screen:
            self.process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=project.folder,
                stdout=screen,
                stderr=subprocess.STDOUT,
                env={**_without_slurm(), **(environment or {})},
            )

    def wait(self, within_s: float = 1200) -> Run:
        """What it did, when it has ended."""
        try:
            code = self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            code = -signal.SIGINT
        return Run(subprocess.CompletedProcess(self._arguments, code, self.output(), ""))

    @property
    def name(self) -> str:
        """What SLURM calls all jobs of this run, once it has begun."""
        return re.search(r"SLURM run ID: (\S+)", self.output())[1]

    def output(self) -> str:
        """What is on its screen by now."""
        return self.screen.read_text(encoding="utf-8", errors="replace")


def results(folder: Path) -> dict[str, bytes]:
    """Everything below results/, by path."""
    files = (path for path in (folder / "results").rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}


def _without_slurm() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
