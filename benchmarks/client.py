"""Requests a second of our client, the plain SDK and bare aiohttp, against one scripted server in a process of its own.

    PYTHONPATH=scripts:tests .venv/bin/python benchmarks/client.py [--delay 0.05] [--in-flight 32 128 512]

Ours runs with everything on: cache, schema validation, progress. Ratios within one run count more than figures:
the server has one core and the client the other.
"""

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B"]}, "reason": {"type": "string", "maxLength": 2000}},
    "required": ["grade", "reason"],
    "additionalProperties": False,
}
ANSWER = {"grade": "A", "reason": "because " * 150}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}


def messages(number: int) -> list[dict[str, str]]:
    """A prompt of about 1 kB that no other request has."""
    return [{"role": "user", "content": f"{number} " + "Is this answer correct? " * 40}]


def serve(delay_s: float, connection: Connection) -> None:
    """Run the server until the other end of `connection` closes."""
    from scripted import ScriptedEndpoint

    with ScriptedEndpoint(lambda body: ANSWER, delay_s=delay_s) as server:
        connection.send(server.base_url)
        connection.poll(None)


def ours(url: str, in_flight: int, count: int) -> None:
    """`devqa.llm.chat` with an empty cache."""
    from devqa.config.models import Model, asked_with
    from devqa.llm.cache import Cache
    from devqa.llm.chat import Chat, Request

    model = Model(base_url=url, limits={"concurrency": in_flight})
    requests = [Request(tuple(messages(number)), SCHEMA) for number in range(count)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Chat(asked_with("scripted", model), model.model_dump(), Cache(folder), "benchmark") as chat,
    ):
        if any(answer.data != ANSWER for answer in chat.ask(requests)):
            raise RuntimeError("not all requests were answered")


def plain_sdk(url: str, in_flight: int, count: int) -> None:
    """`AsyncOpenAI().chat.completions.create`, as its README shows it."""
    import openai

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:

            async def one(number: int) -> None:
                await client.chat.completions.create(
                    model="m",
                    messages=messages(number),
                    response_format=FORMAT,  # type: ignore[arg-type]
                )

            await bounded(one, in_flight, count)

    asyncio.run(run())


def bare_aiohttp(url: str, in_flight: int, count: int) -> None:
    """A POST and the parsed body, nothing else."""
    import aiohttp

    async def run() -> None:
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def one(number: int) -> None:
                body = {"model": "m", "messages": messages(number), "response_format": FORMAT}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.json()

            await bounded(one, in_flight, count)

    asyncio.run(run())


async def bounded(one: Callable[[int], Coroutine[Any, Any, None]], in_flight: int, count: int) -> None:
    """Run `one` for each number, `in_flight` at a time."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


def measured(client: Callable[[str, int, int], None], url: str, in_flight: int, count: int) -> tuple[float, float]:
    """Requests a second, and CPU milliseconds of this process per request."""
    cpu, began = time.process_time(), time.perf_counter()
    client(url, in_flight, count)
    return count / (time.perf_counter() - began), (time.process_time() - cpu) * 1000 / count


def main() -> None:
    """Measure each client at each number in flight and write a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds until the server answers")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--rounds", type=int, default=15, help="requests = in flight x rounds")
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(options.delay, there), daemon=True)
    server.start()
    url = here.recv()
    ours(url, 8, 8)
    sys.stdout.write(
        "| in flight | ideal | bare aiohttp | ours | plain SDK | ours / aiohttp | ours / SDK |\n" + "| --- " * 7 + "|\n"
    )
    for in_flight in options.in_flight:
        count = in_flight * options.rounds
        (bare, bare_cpu), (own, own_cpu), (sdk, sdk_cpu) = (
            measured(client, url, in_flight, count) for client in (bare_aiohttp, ours, plain_sdk)
        )
        sys.stdout.write(
            f"| {in_flight} | {in_flight / options.delay:,.0f} | {bare:,.0f} ({bare_cpu:.2f} ms) | {own:,.0f} "
            f"({own_cpu:.2f} ms) | {sdk:,.0f} ({sdk_cpu:.2f} ms) | {own / bare:.2f} | {own / sdk:.1f} |\n"
        )
    here.close()
    server.terminate()


if __name__ == "__main__":
    main()
