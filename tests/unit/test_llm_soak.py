"""Thousands of requests to an endpoint that does everything wrong that an endpoint can do, at random."""

import hashlib
import random
import re
from collections import Counter

import pytest

import faults
from devqa.llm.chat import Request
from patience import at_most
from scripted import ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting")

FAILING = 0.2
# All but what stops a job, and what takes a place for as long as a request may take is rare.
KINDS = faults.PASSING | faults.ROW | faults.ANSWERS | faults.REASKED
RARE = ("no answer in time", "an answer that only drips", "429 with `Retry-After`", "429 without `Retry-After`")
WEIGHTS = [0.05 if name in RARE else 1.0 for name in KINDS]


def requests(count):
    """Every other one asks for JSON."""
    for number in range(count):
        yield Request(({"role": "user", "content": f"<{number}>"},), faults.GRADE if number % 2 else None)


class Endpoint:
    """Spoils attempts at random, the same ones in every run, and counts by request what it has answered well."""

    def __init__(self):
        self.attempts = Counter()
        self.well = Counter()
        self.met = Counter()
        self.failing = FAILING

    def __call__(self, body):
        number = int(re.match(r"<(\d+)>", body["messages"][0]["content"]).group(1))
        self.attempts[number] += 1
        chance = random.Random(hashlib.sha256(f"{number} {self.attempts[number]}".encode()).digest())
        if chance.random() < self.failing:
            (name,) = chance.choices(list(KINDS), WEIGHTS)
            fault = KINDS[name]
            if fault.schema <= number % 2:
                self.met[name] += 1
                self.well[number] += fault.outcome == "ok" and is_good(fault.reply, number)
                return fault.reply
        self.well[number] += 1
        return {"grade": "A"} if number % 2 else "fine"


def is_good(reply, number):
    """Is it an answer to the request `number`, which asks for JSON or for text?"""
    return number % 2 == 0 or "grade" in str(reply.text)


def soak(folder, count, concurrency, timeout_s):
    asked = list(requests(count))
    endpoint = Endpoint()
    limits = {"concurrency": concurrency, "retries": 4, "timeout_s": timeout_s, "down_after_s": 60}
    # So long that all places are taken at the rate that one process can serve.
    with ScriptedEndpoint(endpoint, delay_s=concurrency / 1000) as server:
        with server.chat(folder, limits=limits) as chat:
            answers = chat.ask(asked)
        assert len(answers) == count
        assert server.peak == concurrency
        outcomes = Counter(answer.outcome for answer in answers)
        good = {number for number, answer in enumerate(answers) if answer.outcome == "ok"}
        assert all(bool(answer.reason) == (answer.outcome != "ok") for answer in answers)
        # What was answered well was answered once, and is what there is.
        assert good == {number for number, times in endpoint.well.items() if times}
        assert set(endpoint.well.values()) <= {0, 1}

        endpoint.failing = 0.0
        server.clear()
        before = endpoint.attempts.copy()
        with server.chat(folder, limits=limits) as chat:
            again = chat.ask(asked)
        assert {answer.outcome for answer in again} == {"ok"}
        assert {number for number, answer in enumerate(again) if answer.cached} == good
        # Exactly what has no good answer was sent, each once.
        assert endpoint.attempts - before == dict.fromkeys(set(range(count)) - good, 1)
        assert server.peak <= concurrency
    return outcomes, endpoint.met


def test_a_thousand_requests_to_a_bad_endpoint(tmp_path):
    with at_most(60):
        outcomes, _ = soak(tmp_path, 1000, 32, timeout_s=4)
    assert set(outcomes) == {"ok", "refused", "truncated", "empty", "error"}


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [8, 64, 256])
def test_twenty_thousand_requests_to_a_bad_endpoint(concurrency, tmp_path):
    with at_most(600):
        outcomes, met = soak(tmp_path, 20_000, concurrency, timeout_s=10)
    assert set(outcomes) == {"ok", "refused", "truncated", "empty", "error"}
    assert met.keys() == KINDS.keys()
