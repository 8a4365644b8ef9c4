"""From dialogues to references at the size of a study: time, memory, and what a second run sends.

    .venv/bin/python benchmarks/references.py [--dialogues 300 3000] [--results 10] [--shards 6] [--delay 0.02]

For each number of dialogues, runs the workflow in a temporary folder up to the references: search, fetch, clean,
near-identical pages taken out. A server on loopback (`benchmarks/web.py`) stands for the model, the search engine and
the web. Then `results/` is deleted and all is made again from what was kept. Writes two Markdown tables: the runs, and
their rules, in which memory must not grow with the number of dialogues in a shard.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml
from evaluation import ROOT, by_rule, line
from web import Web


def prepare(folder: Path, web: Web, dialogues: int, options: argparse.Namespace) -> None:
    """Write the conversations and the configuration."""
    with (folder / "dialogues.jsonl").open("w", encoding="utf-8") as file:
        for number in range(dialogues):
            turn = {"role": "user", "content": f"Dialogue {number}: how is this done?"}
            file.write(json.dumps({"conversation_hash": f"{number:032x}", "conversation": [turn]}) + "\n")
    steps = {name: {"model": "m"} for name in ("queries", "condense", "generate", "check", "verify")}
    settings: dict[str, Any] = {
        "dialogues": {"made-up": {"path": "dialogues.jsonl", "shards": options.shards}},
        "models": {"m": {"base_url": f"{web.url}/v1", "limits": {"concurrency": 64}}},
        "search": {"engine": "searxng", "url": web.url, "results": options.results, "concurrency": 16},
        "fetch": {"private_hosts": web.hosts, "host_requests_per_second": 1000, "concurrency": 32},
        "steps": {
            **steps,
            "check": {"model": "m", "date": "2026-11-01"},
            "difficulty": {"models": ["m"], "judge": "m"},
        },
        "evaluation": {"models": ["m"], "judge": {"model": "m"}},
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")


def run(folder: Path, cores: int) -> float:
    """Run the workflow up to the references; seconds."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    began = time.perf_counter()
    ran = subprocess.run(  # noqa: S603
        [*command, "--configfile", str(folder / "mine.yaml"), "--cores", str(cores), "--until", "clean"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        sys.exit(f"{ran.stdout}\n{ran.stderr}")
    return time.perf_counter() - began


def outcomes(folder: Path) -> tuple[int, int, int]:
    """Pages found, references, and pages left out because a better one has the same text."""
    rows = [row for file in folder.glob("results/references/*/*.parquet") for row in _accounts(file)]
    alike = sum("the same text" in row["reason"] for row in rows)
    return len(rows), sum(row["status"] == "ok" for row in rows), alike


def _accounts(file: Path) -> list[dict[str, str]]:
    return pq.read_table(file, columns=["status", "reason"]).to_pylist()


def measure(folder: Path, dialogues: int, options: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Run twice for one number of dialogues, write its line of the first table, and return lines of the second."""
    with Web(options.delay) as web:
        prepare(folder, web, dialogues, options)
        first = run(folder, options.cores)
        found, rules = outcomes(folder), by_rule(folder)
        searches, pages = web.searches, web.pages
        shutil.rmtree(folder / "results")
        again = run(folder, options.cores)
        if outcomes(folder) != found:
            sys.exit("the second run made other references than the first")
        line(
            dialogues,
            *found,
            searches,
            pages,
            f"{first:.0f}",
            web.searches - searches,
            web.pages - pages,
            f"{again:.0f}",
        )
    return [(rule, dialogues // options.shards, *figures) for rule, *figures in rules]


def main() -> None:
    """Read the options, measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, nargs="+", default=[300, 3_000])
    parser.add_argument("--results", type=int, default=10)
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds before each answer of the server")
    options = parser.parse_args()
    line(
        "dialogues",
        "pages",
        "references",
        "alike",
        "searches",
        "fetched",
        "s",
        "searches again",
        "fetched again",
        "s again",
    )
    line(*["---"] * 10)
    rules = []
    for dialogues in options.dialogues:
        with tempfile.TemporaryDirectory() as folder:
            rules += measure(Path(folder), dialogues, options)
    sys.stdout.write("\n")
    line("rule", "dialogues of a job", "jobs", "s of a job", "CPU s of a job", "MB")
    line(*["---"] * 6)
    for rule, size, jobs, seconds, busy, most in sorted(rules):
        line(rule, size, jobs, f"{seconds:.1f}", f"{busy:.1f}", f"{most:,.0f}")


if __name__ == "__main__":
    main()
