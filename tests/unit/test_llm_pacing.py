"""Rates: what exceeds a minute's share waits."""

import asyncio

import pytest

from devqa.llm.pacing import Pace

BODY = {"max_tokens": 40}


async def passed(pace: Pace, requests: int, body: dict = BODY, content: bytes = b"x") -> int:
    """How many of `requests` may go out without a long wait."""
    tasks = [asyncio.create_task(pace.wait(body, content)) for _ in range(requests)]
    done, waiting = await asyncio.wait(tasks, timeout=0.2)
    for task in waiting:
        task.cancel()
    return len(done)


@pytest.mark.parametrize(
    ("requests", "tokens", "allowed"), [(None, None, 9), (3, None, 3), (None, 100, 2), (3, 100, 2), (1, 1000, 1)]
)
def test_a_minute_s_share_goes_out_at_once_and_the_rest_waits(requests, tokens, allowed):
    assert asyncio.run(passed(Pace(requests, tokens), 9)) == allowed


def test_a_request_that_is_larger_than_a_minute_s_tokens_goes_out_alone():
    assert asyncio.run(passed(Pace(None, 100), 3, content=b"word " * 1000)) == 1


def test_the_prompt_counts_too():
    assert asyncio.run(passed(Pace(None, 1000), 9, body={"max_completion_tokens": 50}, content=b"word " * 200)) < 4
