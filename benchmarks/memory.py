"""Resident memory of a process in which one open `Chat` asks very many requests, as a job does: slice by slice.

    .venv/bin/python benchmarks/memory.py [--requests 100000] [--slice 5000] [--once 20000]

Writes two Markdown tables. The first: memory after each 10,000 requests, which must stay flat; counted when the
slice's answers have been let go. The second: one call of `--once` requests, and what it takes at its peak beyond the
requests that go in and the answers that come out. Linux only (`/proc/self/status`).
"""

import argparse
import gc
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from client import line, serving
from load import SCHEMA, messages

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

if TYPE_CHECKING:
    from devqa.llm.chat import Answer, Chat, Request

STEP = 10_000
MB = 1e6


@contextmanager
def chat(url: str, in_flight: int) -> "Iterator[Chat]":
    """Our client with an empty cache."""
    from devqa.config.models import Model, asked_with
    from devqa.llm.cache import Cache
    from devqa.llm.chat import Chat

    model = Model(base_url=url, model="m", structured="json_schema", limits={"concurrency": in_flight})
    with (
        tempfile.TemporaryDirectory() as folder,
        Chat(asked_with("benchmark", model), model.model_dump(), Cache(folder), "benchmark") as opened,
    ):
        yield opened


def requests(begin: int, end: int) -> "list[Request]":
    """Requests that no other numbers have."""
    from devqa.llm.chat import Request

    return [Request(tuple(messages(number)), SCHEMA) for number in range(begin, end)]


def memory(name: str) -> int:
    """Bytes of this process: `VmRSS`, resident now, or `VmHWM`, resident at most (proc_pid_status(5))."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(entry.split()[1]) * 1024 for entry in status.splitlines() if entry.startswith(f"{name}:"))


def forget_peak() -> None:
    """Set `VmHWM` to what is resident now (proc_pid_clear_refs(5))."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def size(value: object, seen: set[int]) -> int:
    """Bytes of `value` and all that it refers to, what is in `seen` left out."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    parts: list[object] = []
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif hasattr(value, "__dict__"):
        parts = [vars(value)]
    return sys.getsizeof(value) + sum(size(part, seen) for part in parts)


def good(answers: "list[Answer]") -> "list[Answer]":
    """The same answers.

    Raises:
        RuntimeError: one is none.
    """
    if any(answer.outcome != "ok" for answer in answers):
        raise RuntimeError("not all requests were answered")
    return answers


def slices(url: str, in_flight: int, total: int, length: int) -> Iterator[tuple[int, int]]:
    """Ask `total` requests, `length` at a time; yields requests so far and resident bytes, after each 10,000."""
    with chat(url, in_flight) as opened:
        for begin in range(0, total, length):
            end = min(begin + length, total)
            good(opened.ask(requests(begin, end)))
            if end % STEP < length or end == total:
                gc.collect()
                yield end, memory("VmRSS")


def one_call(url: str, in_flight: int, count: int) -> tuple[int, int]:
    """Bytes of the answers of one call of `count` requests, and bytes at its peak beyond requests and answers."""
    with chat(url, in_flight) as opened:
        good(opened.ask(requests(0, in_flight)))
        asked = requests(in_flight, in_flight + count)
        gc.collect()
        forget_peak()
        before = memory("VmRSS")
        answers = good(opened.ask(asked))
        peak = memory("VmHWM")
    held = size(answers, set())
    return held, peak - before - held


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--slice", type=int, default=5_000, help="requests in one call")
    parser.add_argument("--once", type=int, default=20_000, help="requests of the one large call")
    parser.add_argument("--in-flight", type=int, default=128)
    options = parser.parse_args()
    with serving(0.0) as url:
        # In a process of its own, because memory that one has used is not always given back: it would hide growth.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
            held, beyond = other.submit(one_call, url, options.in_flight, options.once).result()
        sys.stdout.write(line(["requests", "resident MB"]) + line(["---"] * 2))
        for done, resident in slices(url, options.in_flight, options.requests, options.slice):
            sys.stdout.write(line([f"{done:,}", f"{resident / MB:,.1f}"]))
            sys.stdout.flush()
    heads = ["requests in one call", "bytes of an answer", "bytes per request beyond the answers, at the peak"]
    sys.stdout.write("\n" + line(heads) + line(["---"] * 3))
    sys.stdout.write(line([f"{options.once:,}", f"{held / options.once:,.0f}", f"{beyond / options.once:,.0f}"]))


if __name__ == "__main__":
    main()
