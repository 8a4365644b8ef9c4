"""The clients that run in the project's own environment: ours, bare aiohttp and the plain SDK.

    python benchmarks/clients.py {ours,aiohttp,sdk} URL IN_FLIGHT SECONDS

Each function prepares its requests and returns what sends them (`load.Client`).
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from load import FORMAT, SCHEMA, bounded, main, messages

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))


def ours(url: str, in_flight: int, count: int) -> Callable[[], None]:
    """`devqa.llm.chat` with an empty cache: answers are validated, written to the cache, and progress is counted.

    It has a key, which is looked for in each response. `structured` is set, as it is for the others: finding out what
    an endpoint can do takes one request alone, once per model and cache.
    """
    from devqa.config.models import Model, asked_with
    from devqa.llm.cache import Cache
    from devqa.llm.chat import Chat, Request

    os.environ["BENCHMARK_API_KEY"] = "sk-benchmark-0123456789"
    limits = {"concurrency": in_flight}
    model = Model(base_url=url, model="m", api_key_env="BENCHMARK_API_KEY", structured="json_schema", limits=limits)
    requests = [Request(tuple(messages(number)), SCHEMA) for number in range(count)]

    def run() -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            Chat(asked_with("benchmark", model), model.model_dump(), Cache(folder), "benchmark") as chat,
        ):
            if any(answer.outcome != "ok" or answer.data is None for answer in chat.ask(requests)):
                raise RuntimeError("not all requests were answered")

    return run


def bare_aiohttp(url: str, in_flight: int, count: int) -> Callable[[], None]:
    """A POST and the parsed body, nothing else: the yardstick."""
    import aiohttp

    async def send() -> None:
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def one(number: int) -> None:
                body = {"model": "m", "messages": messages(number), "response_format": FORMAT}
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.json()

            await bounded(one, in_flight, count)

    return lambda: asyncio.run(send())


def plain_sdk(url: str, in_flight: int, count: int) -> Callable[[], None]:
    """`AsyncOpenAI().chat.completions.create`, as the package's README shows it."""
    import openai

    async def send() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:

            async def one(number: int) -> None:
                await client.chat.completions.create(
                    model="m",
                    messages=messages(number),  # type: ignore[arg-type]
                    response_format=FORMAT,  # type: ignore[arg-type]
                )

            await bounded(one, in_flight, count)

    return lambda: asyncio.run(send())


if __name__ == "__main__":
    main({"ours": ours, "aiohttp": bare_aiohttp, "sdk": plain_sdk})
