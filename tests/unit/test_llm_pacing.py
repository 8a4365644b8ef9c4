"""Rates: what exceeds a minute's share waits, and the endpoint's own limits are found and kept to."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.llm.pacing import Gate, Spacing, duration_s, told_to_wait_s
from patience import at_most


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once: nothing is waited for in earnest."""

    _now = 0.0

    def time(self):
        return self._now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0]._when)
        super()._run_once()


def run(coroutine):
    with at_most(20), asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(coroutine)


def now():
    return asyncio.get_running_loop().time()


@given(st.integers(1, 600), st.lists(st.tuples(st.integers(1, 400), st.floats(0, 100)), min_size=1, max_size=40))
def test_never_more_than_a_minute_s_share_in_any_minute(per_minute, asked):
    async def times():
        spacing = Spacing(per_minute)
        went = []

        async def one(amount, after):
            await asyncio.sleep(after)
            await spacing.take(amount)
            went.append((now(), amount))

        await asyncio.gather(*(one(amount, after) for amount, after in asked))
        return sorted(went)

    went = run(times())
    for begin, first in went:
        # All that went in a minute, but for its first one, which was paid for before.
        inside = [amount for moment, amount in went if begin <= moment < begin + 60 - 1e-6]
        assert sum(inside) - inside[0] <= per_minute + 1e-6, (begin, first)


def test_they_go_evenly_and_in_the_order_in_which_they_asked():
    async def times():
        spacing = Spacing(60)
        went = []

        async def one(number):
            await spacing.take()
            went.append((number, now()))

        await asyncio.gather(*(one(number) for number in range(5)))
        return went

    assert run(times()) == [(number, number + 1.0) for number in range(5)]


def test_what_was_not_used_is_not_saved_up():
    async def times():
        spacing = Spacing(60)
        await asyncio.sleep(1000)
        await asyncio.gather(*(spacing.take() for _ in range(3)))
        return now()

    assert run(times()) == 1003


async def crowd(gate, requests, seconds=1.0):
    """Let `requests` through the gate, each for `seconds`; how many were in at most."""
    inside = most = 0

    async def one():
        nonlocal inside, most
        async with gate:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(seconds)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(requests)))
    return most


def test_the_gate_lets_as_many_through_as_it_may():
    async def both():
        return await crowd(Gate(7), 30), await crowd(Gate(7), 3)

    assert run(both()) == (7, 3)


def test_a_rate_limit_halves_the_bound_once_for_all_that_were_under_way():
    async def limited():
        gate = Gate(64)
        await asyncio.sleep(5)
        assert [gate.halve(began) for began in (1.0, 2.0, 3.0)] == [1, 0, 0]
        assert gate.limit == 32
        await asyncio.sleep(5)
        assert gate.halve(4.0) == 0
        assert gate.halve(6.0) == 2
        assert gate.limit == 16
        return await crowd(gate, 40)

    assert run(limited()) == 16


def test_the_bound_never_falls_below_one():
    async def limited():
        gate = Gate(3)
        for _ in range(10):
            await asyncio.sleep(1)
            gate.halve(now())
        return gate.limit, await crowd(gate, 5)

    assert run(limited()) == (1, 1)


def test_successes_bring_the_bound_back_and_not_beyond():
    async def recovered():
        gate = Gate(64)
        gate.halve(now())
        rounds = 0
        while gate.limit < 64:
            rounds += 1
            for _ in range(int(gate.limit)):
                gate.widen(now())
        for _ in range(100):
            gate.widen(now())
        return rounds, gate.limit

    rounds, limit = run(recovered())
    assert 10 <= rounds <= 20
    assert limit == 64


def test_a_wider_bound_is_used_at_once():
    async def widened():
        gate = Gate(2)
        gate.halve(now())
        waiting = asyncio.create_task(crowd(gate, 2, seconds=10))
        await asyncio.sleep(1)
        gate.widen(now())
        await waiting
        return now()

    assert run(widened()) == 11


def test_whoever_is_cancelled_just_when_let_in_leaves_the_place_to_the_next():
    async def cancelled():
        gate = Gate(1)
        async with gate:
            second, third = (asyncio.create_task(crowd(gate, 1)) for _ in range(2))
            await asyncio.sleep(1)
        # The second was let in at this moment, but has not run yet.
        second.cancel()
        return await third, gate.active

    assert run(cancelled()) == (1, 0)


def test_only_a_success_of_what_went_out_later_ends_the_count_of_cuts():
    async def cuts():
        gate = Gate(64)
        first = gate.halve(now())
        await asyncio.sleep(1)
        gate.widen(-1.0)
        second = gate.halve(now())
        await asyncio.sleep(1)
        gate.widen(now())
        return first, second, gate.halve(now())

    assert run(cuts()) == (1, 2, 1)


def test_a_pause_holds_everything_new_and_the_longest_counts():
    async def paused():
        gate = Gate(4)
        gate.pause(10)
        gate.pause(3)
        began = asyncio.create_task(crowd(gate, 6, seconds=1))
        await asyncio.sleep(9.9)
        assert gate.active == 0
        gate.pause(5)
        await asyncio.sleep(4.9)
        assert gate.active == 0
        await began
        return now()

    assert run(paused()) == pytest.approx(14.9 + 2)


@given(st.integers(1, 8), st.integers())
def test_whoever_is_cancelled_leaves_no_slot_taken_and_nobody_stuck(most, seed):
    chance = random.Random(seed)

    async def storm():
        gate = Gate(most)
        inside = 0

        async def one():
            nonlocal inside
            async with gate:
                inside += 1
                assert inside <= most
                try:
                    await asyncio.sleep(chance.random())
                finally:
                    inside -= 1
                gate.widen(now())

        tasks = [asyncio.create_task(one()) for _ in range(40)]
        for _ in range(30):
            await asyncio.sleep(chance.random() / 4)
            match chance.randrange(4):
                case 0 | 1:
                    chance.choice(tasks).cancel()
                case 2:
                    gate.pause(chance.random())
                case 3:
                    gate.halve(now())
        await asyncio.wait(tasks)
        return gate.active, inside, len(gate._waiting), await crowd(gate, most, 0.1)

    assert run(storm())[:3] == (0, 0, 0)


def headers(kind="requests", limit="100", remaining="0", reset="10s"):
    return {
        f"x-ratelimit-{name}-{kind}": text
        for name, text in (("limit", limit), ("remaining", remaining), ("reset", reset))
    }


@pytest.mark.parametrize(
    ("given_headers", "tokens", "seconds"),
    [
        ({}, 1, 0.0),
        (headers(remaining="1"), 1, 0.0),
        (headers(), 1, 0.1),
        (headers("tokens", limit="1000", remaining="100"), 100, 0.0),
        (headers("tokens", limit="1000", remaining="100"), 190, 1.0),
        (headers("tokens", limit="1000", remaining="0"), 5000, 10.0),
        (headers() | headers("tokens", limit="1000"), 500, 5.0),
        (headers(limit="nonsense"), 1, 0.0),
        (headers(remaining="nan"), 1, 0.0),
        (headers(limit="inf"), 1, 0.0),
        (headers(limit="1", reset="24h"), 1, 300.0),
        (headers(limit="1", reset="1e999"), 1, 300.0),
        (headers(limit="1", reset="nan"), 1, 0.0),
        ({"x-ratelimit-remaining-requests": "0"}, 1, 0.0),
    ],
)
def test_the_headers_say_when_there_is_room_again(given_headers, tokens, seconds):
    assert told_to_wait_s(given_headers, tokens) == pytest.approx(seconds)


@given(
    st.dictionaries(st.sampled_from(list(headers() | headers("tokens"))), st.text(max_size=9) | st.floats().map(str))
)
def test_no_header_makes_it_wait_for_ever(given_headers):
    assert 0 <= told_to_wait_s(given_headers, 100) <= 300


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360),
        ("1.2s", 1.2),
        ("350ms", 0.35),
        ("1h1m1s", 3661),
        ("1d", 86400),
        ("20", 20),
        ("", 0),
        ("soon", 0),
        ("-3", 0),
    ],
)
def test_durations_in_their_shapes(text, seconds):
    assert duration_s(text) == pytest.approx(seconds)
