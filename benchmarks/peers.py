"""Other evaluation tools on the same requests. Runs under the interpreter of `requirements.txt`, without DevQA.

    <python of the peers> benchmarks/peers.py {lm-eval,inspect-ai} URL IN_FLIGHT SECONDS

Only their request phase is timed: no tasks, no scoring, no log files. They ask for free text, so neither sends a schema
nor checks an answer against one. Both have their own cache off, which is their default.
"""

import asyncio
import logging
import os
from collections.abc import Callable

from load import bounded, main, messages

# Nothing may be looked up elsewhere: the only address asked is the server's.
os.environ["HF_HUB_OFFLINE"] = "1"


def lm_eval(url: str, in_flight: int, count: int) -> Callable[[], None]:
    """`generate_until` of the model `local-chat-completions` with `num_concurrent`: its way through aiohttp."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalChatCompletion

    model = LocalChatCompletion(model="m", base_url=f"{url}/chat/completions", num_concurrent=in_flight)
    settings = {"until": ["###"], "max_gen_toks": 400}
    requests = [
        Instance("generate_until", {}, (model.apply_chat_template(messages(number)), settings), number)
        for number in range(count)
    ]

    def run() -> None:
        if not all(model.generate_until(requests)):
            raise RuntimeError("not all requests were answered")

    return run


def inspect_ai(url: str, in_flight: int, count: int) -> Callable[[], None]:
    """`get_model("openai-api/…").generate` with `max_connections`, as many calls at a time.

    This is what a solver calls; a whole `eval` would add its samples' set-up and logs.
    """
    from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(max_connections=in_flight)

    async def send() -> None:
        async with get_model(
            "openai-api/benchmark/m", base_url=url, api_key="none", config=config, memoize=False
        ) as model:

            async def one(number: int) -> None:
                output = await model.generate([ChatMessageUser(content=messages(number)[0]["content"])])
                if not output.completion:
                    raise RuntimeError("not all requests were answered")

            await bounded(one, in_flight, count)

    return lambda: asyncio.run(send())


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main({"lm-eval": lm_eval, "inspect-ai": inspect_ai})
