"""A large repository through the steps that ask no model: list its pull requests, find all definitions and the context.

    .venv/bin/python benchmarks/pull_requests.py [--files 100000] [--commits 20000] [--pulls 500] [--workers 2]
                                                 [--folder kept]

Makes a repository with git fast-import (made-up files in six languages, as many folders as it needs; commits that edit,
rename and move functions and files, evenly with pull requests among them), then writes a Markdown table: for each step
its seconds, the peak memory of its own process and of the largest of its workers, how many files it has parsed, how
many different ones these were, and how many of these the step before had parsed already. At the end what became of the
hunks. Linux only (`/proc`).
"""

import argparse
import hashlib
import json
import multiprocessing
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from memory import MB, memory

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

FUNCTIONS = 8
# How a function is written, and the extension: name, a number that is its file's own, and a number that edits change.
LANGUAGES = {
    "py": "def {name}(value, factor={version}):\n    it{seed} = value * factor + {seed}\n    return it{seed} - value\n",
    "js": "function {name}(value) {{\n  const it{seed} = value * {version} + {seed};\n  return it{seed} - value;\n}}\n",
    "java": (
        "class {name}Holder {{\n  int {name}(int value) {{\n    int it{seed} = value * {version} + {seed};\n"
        "    return it{seed} - value;\n  }}\n}}\n"
    ),
    "go": "func {name}(value int) int {{\n\tit{seed} := value*{version} + {seed}\n\treturn it{seed} - value\n}}\n",
    "rs": "fn {name}(value: i64) -> i64 {{\n    let it{seed} = value * {version} + {seed};\n    it{seed} - value\n}}\n",
    "c": "int {name}(int value) {{\n  int it{seed} = value * {version} + {seed};\n  return it{seed} - value;\n}}\n",
}


class File:
    """A made-up file: each of its functions has a name, a number that is its own, and a version."""

    def __init__(self, number: int):
        self.path = f"part{number % 97}/module{number // 97 % 89}/file{number}.{[*LANGUAGES][number % len(LANGUAGES)]}"
        self.functions = [[f"compute{number}x{each}", number * FUNCTIONS + each, 1] for each in range(FUNCTIONS)]

    def content(self) -> bytes:
        """The file as it is now."""
        template = LANGUAGES[self.path.rsplit(".", 1)[1]]
        return "\n".join(
            template.format(name=name, seed=seed, version=version) for name, seed, version in self.functions
        ).encode()


def make(folder: Path, files: int, commits: int, pulls: int) -> None:
    """Make the repository, bare."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True)  # noqa: S603, S607
    command = ["git", "-C", folder, "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as importer:  # noqa: S603
        history(importer.stdin, [File(number) for number in range(files)], commits, pulls)
        importer.stdin.close()
    if importer.returncode:
        raise RuntimeError("git fast-import has failed")


def history(stream: IO[bytes], files: list[File], commits: int, pulls: int) -> None:
    """Write all commits; every so many of them is a pull request's."""
    drawn = random.Random(0)  # noqa: S311
    commit(stream, 0, "first")
    for file in files:
        put(stream, file)
    for number in range(1, commits):
        is_pull = number % max(1, commits // pulls) == 0
        commit(stream, number, f"Change {number} (#{number})" if is_pull else f"Change {number}")
        # Some files are changed again and again, as in real ones.
        chosen = files[int(len(files) * drawn.random() ** 4)]
        change(stream, drawn, chosen, files, 0.0 if is_pull else drawn.random())
        put(stream, chosen)


def change(stream: IO[bytes], drawn: random.Random, chosen: File, files: list[File], kind: float) -> None:
    """Change a file, and write what else has to be changed with it."""
    function = drawn.choice(chosen.functions) if chosen.functions else None
    if kind > 0.97:
        before = chosen.path
        folder, _, name = before.rpartition("/")
        chosen.path = f"{folder}x/{name}"
        stream.write(f"R {before} {chosen.path}\n".encode())
    elif kind > 0.94 and function:
        function[0] += "y"
    elif kind > 0.92 and len(chosen.functions) > 1:
        suffix = chosen.path.rsplit(".", 1)[1]
        others = [file for file in files[: 50 * len(LANGUAGES)] if file.path.endswith(suffix) and file is not chosen]
        if others:
            other = drawn.choice(others)
            chosen.functions.remove(function)
            other.functions.append(function)
            put(stream, other)
    elif kind > 0.91 and len(chosen.functions) > 1:
        chosen.functions.remove(function)
    elif function:
        function[2] += 1


def commit(stream: IO[bytes], number: int, message: str) -> None:
    """Begin a commit."""
    who = f"Somebody <somebody@example.org> {1_500_000_000 + 60 * number} +0000"
    stream.write(f"commit refs/heads/main\ncommitter {who}\ndata {len(message)}\n{message}\n".encode())


def put(stream: IO[bytes], file: File) -> None:
    """Write a file as it is now."""
    content = file.content()
    stream.write(f"M 100644 inline {file.path}\ndata {len(content)}\n".encode() + content + b"\n")


def opened(folder: Path):
    """The repository, with what the steps call it."""
    from devqa.pull_requests.repositories.repository import open_repository

    return open_repository(origin(folder), "", folder, True)


def origin(folder: Path) -> dict[str, Any]:
    """The repository as it is configured."""
    return {"label": "made", "path": str(folder / "made.git"), "url": "", "name": "made/up"}


def list_pulls(folder: Path, pulls: int) -> set[bytes]:
    """The job that lists pull requests."""
    from devqa import tables
    from devqa.config.pull_requests import Select
    from devqa.pull_requests.listing.listed import listed
    from devqa.pull_requests.listing.sources import pulls as found

    options = {**origin(folder), "pulls": "history", "history": ["squash"], "api": "", "latest": pulls}
    identity = {"repository": "made", "name": "made/up", "url": "", "branch": "main"}
    with opened(folder) as repository:
        identity["commit"] = repository.commit
        those = found(repository, identity, options, [], None, folder, True)
        rows = listed(repository, those, "made", Select().model_dump())
    tables.write(rows, "pulls", folder / "pulls.parquet")
    return set()


def find_blocks(folder: Path, workers: int) -> "tuple[int, set[bytes]]":
    """The job that finds all definitions."""
    from devqa import tables
    from devqa.config.pull_requests import LANGUAGES as ALL
    from devqa.pull_requests.code.blocks import blocks, measured

    with opened(folder) as repository, parsers(measured, workers) as pool:
        tables.write(blocks(repository, ALL, [], pool), "blocks", folder / "blocks.parquet", 10_000)
    return pool.parsed, pool.different


def find_context(folder: Path) -> "tuple[int, set[bytes]]":
    """The job that finds what pull requests changed."""
    from devqa import tables
    from devqa.config.pull_requests import LANGUAGES as ALL
    from devqa.config.pull_requests import Context
    from devqa.pull_requests.context.assembling import Contexts
    from devqa.pull_requests.context.pinned import Pinned
    from devqa.pull_requests.context.timeline import Timeline
    from devqa.pull_requests.context.tracking import Tracker
    from devqa.pull_requests.context.versions import Versions, found

    pulls = tables.read_ok(folder / "pulls.parquet", "pulls")
    heads = [pull["head"] for pull in pulls]
    with opened(folder) as repository, parsers(found, 1) as pool, closing(Timeline(repository, heads)) as timeline:
        pinned = Pinned(folder / "blocks.parquet")
        versions = Versions(repository, pinned, pool)
        options = {"languages": ALL, **Context().model_dump()}
        contexts = Contexts(repository, timeline, versions, Tracker(timeline, versions, pinned, ALL), options)
        tables.write(contexts.rows(pulls), "context", folder / "context.parquet", 100)
    return pool.parsed, pool.different


def parsers(function: Callable, workers: int):
    """Processes that parse, of which it is kept what they got."""
    from devqa.pull_requests.code.parsing import Parsers

    class Watched(Parsers):
        different: set[bytes] = set()

        def each(self, sources: Iterator) -> Iterator:
            def watched():
                for key, source in sources:
                    if source.grammar:
                        self.different.add(hashlib.sha1(source.content, usedforsecurity=False).digest())
                    yield key, source

            return super().each(watched())

    return Watched(function, workers)


def job(function: Callable, arguments: tuple) -> tuple[float, float, float, Any]:
    """Run one job in this process, which ends with it: seconds, peaks of itself and its largest child, result."""
    began = time.perf_counter()
    result = function(*arguments)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return time.perf_counter() - began, memory("VmHWM"), children, result


def alone(function: Callable, *arguments: object) -> tuple[float, float, float, Any]:
    """Run a job in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(job, function, arguments).result()


def line(*cells: object) -> None:
    """One row of a Markdown table."""
    sys.stdout.write("| " + " | ".join(map(str, cells)) + " |\n")
    sys.stdout.flush()


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Make the repository, unless it is there, and run the steps."""
    from devqa import tables

    if not (folder / "made.git").exists():
        made = alone(make, folder / "made.git", given.files, given.commits, given.pulls)
        sys.stdout.write(f"{given.files:,} files and {given.commits:,} commits, made in {made[0]:.0f} s\n\n")
    line("step", "s", "per s", "MB", "MB of the largest worker", "files parsed", "different", "parsed before")
    line(*["---"] * 8)
    seconds, own, _, _ = alone(list_pulls, folder, given.pulls)
    rows = tables.read(folder / "pulls.parquet", "pulls")
    line("list", f"{seconds:.1f}", f"{len(rows) / seconds:,.0f} pulls", f"{own / MB:,.0f}", "–", "–", "–", "–")
    seconds, own, child, (parsed, before) = alone(find_blocks, folder, given.workers)
    rate, peaks = f"{parsed / seconds:,.0f} files", (f"{own / MB:,.0f}", f"{child / MB:,.0f}")
    line("blocks", f"{seconds:.1f}", rate, *peaks, f"{parsed:,}", f"{len(before):,}", "–")
    seconds, own, child, (parsed, different) = alone(find_context, folder)
    rate, peaks = f"{len(rows) / seconds:,.0f} pulls", (f"{own / MB:,.0f}", f"{child / MB:,.0f}")
    line("context", f"{seconds:.1f}", rate, *peaks, f"{parsed:,}", f"{len(different):,}", len(different & before))
    hunks = Counter(
        hunk["outcome"].partition(":")[0]
        for row in tables.read(folder / "context.parquet", "context")
        for hunk in row["hunks"]
    )
    sys.stdout.write(f"\nHunks: {json.dumps(dict(sorted(hunks.items())))}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--pulls", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2, help="processes that parse")
    parser.add_argument("--folder", type=Path, help="is kept; a repository that is in it is taken again")
    arguments = parser.parse_args()
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        measure(arguments.folder, arguments)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measure(Path(temporary), arguments)
