"""The size of the paper's study as one DAG: dry-run, the whole run, a run with nothing to do, a run after an edit.

    .venv/bin/python benchmarks/study.py [--dialogues 300] [--models 21] [--shards 30] [--cores 2] [--folder kept]
                                         [--only dry-run]

Made-up dialogues about the example's pages, 4 filter models, and models × 3 repeats × 3 settings, against a scripted
endpoint that answers after 20 ms. Writes a Markdown table: seconds, CPU seconds and the largest process of each
invocation, its jobs and requests, and the share of its wall time in which no request was under way.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from replies import reply, step_of  # noqa: E402
from scripted import ScriptedEndpoint  # noqa: E402
from workflow.conftest import FINISHED, copy_of_the_project, write_dialogues  # noqa: E402

FILTERS = [f"filter-{number}" for number in range(4)]
STEPS = ("queries", "condense", "generate", "check", "verify")
# A line that one message in a hundred gets: marks in made-up questions are hexadecimal and evenly spread.
EDIT = "{% if question.endswith(('00?', '11?', '22?')) %}Take care.\n{% endif %}"


def configuration(endpoint: ScriptedEndpoint, options: argparse.Namespace) -> dict[str, Any]:
    """A user's configuration of the study."""
    evaluated = [f"model-{number:02}" for number in range(options.models)]
    names = ("worker", "judge", *FILTERS, *evaluated)
    limits = {"concurrency": options.concurrency}
    return {
        "dialogues": {"study": {"path": "study/dialogues.jsonl", "shards": options.shards}},
        "models": {name: endpoint.model(model=name, limits=limits) for name in names},
        "steps": {
            **{name: {"model": "worker"} for name in STEPS},
            "check": {"model": "worker", "date": "2026-11-01"},
            "difficulty": {"models": FILTERS, "judge": "judge"},
        },
        "evaluation": {
            "models": evaluated,
            "settings": ["plain", "rag", "confidence"],
            "repeats": 3,
            "difficulties": ["easy", "hard"],
            "judge": {"model": "judge"},
        },
    }


def answering() -> Any:
    """Replies of which no two samples of an answer are the same, so that the judge has something to do for each."""
    number = itertools.count()

    def answer(body: dict[str, Any]) -> Any:
        said = reply(body)
        return f"Sample {next(number)}: {said}" if step_of(body) in ("answer", "rag", "confidence") else said

    return answer


class Study:
    """The project's copy in `folder`, and its invocations."""

    def __init__(self, folder: Path, endpoint: ScriptedEndpoint, options: argparse.Namespace):
        self.folder = folder
        self.endpoint = endpoint
        self.options = options
        (folder / "mine.yaml").write_text(yaml.safe_dump(configuration(endpoint, options)), encoding="utf-8")

    def invoke(self, what: str, *arguments: str) -> None:
        """One `snakemake` command: a line of the table."""
        self.endpoint.clear()
        command = [sys.executable, "-m", "snakemake", "--cores", str(self.options.cores), "--configfile", "mine.yaml"]
        log = self.folder / f"{what}.log"
        began = time.perf_counter()
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(  # noqa: S603
                [*command, *arguments], cwd=self.folder, stdout=file, stderr=file, env=environment()
            )
            # Unlike getrusage, for this process and its children alone.
            _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - began
        if status:
            sys.exit(f"{what} failed: see {log}")
        jobs = len(FINISHED.findall(log.read_text(encoding="utf-8")))
        without = 1 - self.endpoint.busy_s / took
        line(
            what,
            f"{took:.1f}",
            f"{used.ru_utime + used.ru_stime:.0f}",
            f"{used.ru_maxrss / 1e3:,.0f}",
            jobs,
            self.endpoint.count,
            f"{self.endpoint.busy_s:.1f}",
            f"{without:.0%}",
        )


def environment() -> dict[str, str]:
    """As a user has it: without this variable, which images of CI set, a job need not compile what it imports."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def line(*cells: object) -> None:
    """One row of a Markdown table."""
    sys.stdout.write("| " + " | ".join(map(str, cells)) + " |\n")
    sys.stdout.flush()


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Prepare, and invoke what was asked for."""
    copy_of_the_project(folder)
    write_dialogues(folder / "study/dialogues.jsonl", range(options.dialogues))
    heads = ("invocation", "s", "CPU s", "MB of the largest process", "jobs", "requests", "s with requests", "without")
    with ScriptedEndpoint(answering(), delay_s=options.delay, kept=False) as endpoint:
        study = Study(folder, endpoint, options)
        line(*heads)
        line(*["---"] * len(heads))
        study.invoke("dry-run", "--dry-run", "--quiet", "all")
        if options.only == "dry-run":
            return
        study.invoke("the whole study")
        study.invoke("nothing to do")
        template = folder / "prompts/check/user.j2"
        template.write_text(EDIT + template.read_text(encoding="utf-8"), encoding="utf-8")
        study.invoke("an edit that changes 1 %")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=300)
    parser.add_argument("--models", type=int, default=21)
    parser.add_argument("--shards", type=int, default=30)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds until a request is answered")
    parser.add_argument(
        "--concurrency", type=int, default=8, help="requests under way per model (default: as the workflow's)"
    )
    parser.add_argument("--folder", type=Path, help="a new folder that is kept")
    parser.add_argument("--only", choices=["dry-run"])
    given = parser.parse_args()
    if given.folder:
        measure(given.folder, given)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measure(Path(temporary) / "project", given)
