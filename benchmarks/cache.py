"""The response cache: a run that is answered from it, and look-ups in a large shelf.

    PYTHONPATH=scripts .venv/bin/python benchmarks/cache.py [--requests 20000] [--records 200000] [--segments 200]

The first table is `Chat.ask` from start to end: hashing 1 kB prompts with a schema, finding and reading answers of 300
tokens. The second compares look-ups with what they would cost without an index: reading all segments, each line parsed
as JSON, in the same run. Ratios within one run count more than figures.
"""

import argparse
import hashlib
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import orjson

from devqa.config.models import Model, asked_with
from devqa.llm.cache import Cache, Shelf
from devqa.llm.chat import Chat, Request
from devqa.llm.index import Index
from devqa.llm.requests import key

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}, "reason": {"type": "string", "maxLength": 2000}},
    "required": ["grade", "reason"],
    "additionalProperties": False,
}
ANSWER = {"grade": "A", "reason": "because " * 150}
RECORD = {
    "outcome": "ok",
    "reason": "",
    "text": orjson.dumps(ANSWER).decode(),
    "data": ANSWER,
    "raw": "",
    "input_tokens": 260,
    "output_tokens": 300,
    "reasoning_tokens": 0,
    "cached_tokens": 0,
    "model": "m",
}
LOOKED_UP = 300


def request(number: int) -> Request:
    """A prompt of about 1 kB that no other request has."""
    return Request(({"role": "user", "content": f"{number} " + "Is this answer correct? " * 40},), SCHEMA)


def name(number: int) -> str:
    """A key of a record."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def plain_scan(folder: Path) -> None:
    """What a cache without an index does for one look-up."""
    for segment in folder.glob("*.seg"):
        with segment.open("rb") as lines:
            for line in lines:
                orjson.loads(line[74:])


def index_bytes(folder: Path) -> int:
    """The memory that the index of all segments takes."""
    tracemalloc.start()
    index = Index(folder)
    index.refresh()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken


def fill(shelf: Shelf, keys: list[str], segments: int) -> None:
    """Write a record for each key, spread over so many segments."""
    for number in range(segments):
        with shelf.writer("benchmark") as writer:
            for each in keys[number::segments]:
                writer.write(each, RECORD)


def ask(count: int) -> None:
    """A job whose answers are all in the cache."""
    model = Model(base_url="http://127.0.0.1:9/v1")
    asked = asked_with("cached", model)
    with tempfile.TemporaryDirectory() as folder:
        requests = [request(number) for number in range(count)]
        shelf = Cache(folder).shelf(asked["endpoint"], asked["model"])
        fill(shelf, [key(asked, each) for each in requests], 8)
        plain = seconds(lambda: plain_scan(shelf.folder))
        with Chat(asked, model.model_dump(), Cache(folder), "benchmark") as chat:
            began = time.process_time()
            took = seconds(lambda: chat.ask(requests))
            cpu = time.process_time() - began
    sys.stdout.write(f"| {count:,} | {count / took:,.0f} | {cpu * 1e6 / count:,.0f} | {took / plain:.2f} |\n")


def look_up(count: int, segments: int) -> None:
    """A large shelf: the first look-up reads it, the others don't."""
    with tempfile.TemporaryDirectory() as folder:
        keys = [name(number) for number in range(count)]
        shelf = Cache(folder).shelf("http://127.0.0.1:9/v1", "m")
        fill(shelf, keys, segments)
        plain = seconds(lambda: plain_scan(shelf.folder))
        few = [keys[start :: count // LOOKED_UP] for start in range(101)]
        rows = {
            "the first look-up, 300 keys": seconds(lambda: shelf.lookup(few[0])),
            "each of 100 more, 300 keys": seconds(lambda: [shelf.lookup(some) for some in few[1:]]) / 100,
            f"300 keys of which none is there, {count:,} records": seconds(
                lambda: shelf.lookup([name(-number) for number in range(1, LOOKED_UP)])
            ),
        }
        rows["a tenth of all keys"] = seconds(lambda: shelf.lookup(keys[::10]))
        memory = index_bytes(shelf.folder)
    for label, took in rows.items():
        sys.stdout.write(f"| {label} | {took * 1000:,.1f} | {took / plain:.3f} |\n")
    sys.stdout.write(
        f"\nThe plain scan takes {plain * 1000:,.0f} ms. The index takes {memory / count:,.0f} bytes a record.\n"
    )


def main() -> None:
    """Measure both and write Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000, help="of a run answered wholly from the cache")
    parser.add_argument("--records", type=int, default=200_000, help="in the large shelf")
    parser.add_argument("--segments", type=int, default=200)
    options = parser.parse_args()
    sys.stdout.write("| all cached | requests/s | CPU µs a request | time / plain scan |\n" + "| --- " * 4 + "|\n")
    ask(options.requests)
    sys.stdout.write(
        f"\n{options.records:,} records in {options.segments} segments:\n\n| look-up | ms | time / plain scan |\n"
        + "| --- " * 3
        + "|\n"
    )
    look_up(options.records, options.segments)


if __name__ == "__main__":
    main()
