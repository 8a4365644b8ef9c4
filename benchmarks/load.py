"""What every client sends, and how it is timed. Standard library only: the peers' interpreter imports it too."""

import argparse
import asyncio
import json
import math
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}, "reason": {"type": "string", "maxLength": 2000}},
    "required": ["grade", "reason"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}

_FEW = 4

# Prepares `count` requests to the base URL, `in_flight` at a time; what it returns sends them, and is what is timed.
Client = Callable[[str, int, int], Callable[[], None]]


def messages(number: int) -> list[dict[str, str]]:
    """A prompt of about 1 kB that no other request has."""
    return [{"role": "user", "content": f"{number} " + "Is this answer correct? " * 40}]


async def bounded(one: Callable[[int], Coroutine[Any, Any, None]], in_flight: int, count: int) -> None:
    """Run `one` for each number below `count`, `in_flight` at a time."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


def measured(client: Client, url: str, in_flight: int, seconds: float) -> dict[str, float]:
    """Send for about `seconds`: `rate` in requests/s, `cpu_ms` of this process per request, `count` of requests.

    A few requests are sent first, to load what is imported late; with the same setting, because inspect-ai keeps what
    it was first given. Then one round (as many requests as are in flight), which says how many rounds the time is good
    for. At least two are timed, beginning with no open connection.
    """
    client(url, in_flight, _FEW)()
    round_s, _ = _timed(client(url, in_flight, in_flight))
    rounds = max(2, math.ceil(seconds / round_s))
    count = rounds * in_flight
    wall, cpu = _timed(client(url, in_flight, count))
    return {"rate": count / wall, "cpu_ms": cpu * 1000 / count, "count": count}


def main(clients: Mapping[str, Client]) -> None:
    """Measure the client that the command line names and print the figures as one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=sorted(clients))
    parser.add_argument("url")
    parser.add_argument("in_flight", type=int)
    parser.add_argument("seconds", type=float)
    options = parser.parse_args()
    figures = measured(clients[options.client], options.url, options.in_flight, options.seconds)
    sys.stdout.write(json.dumps(figures) + "\n")


def _timed(run: Callable[[], None]) -> tuple[float, float]:
    """Seconds by the wall clock and by this process's CPU clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu
