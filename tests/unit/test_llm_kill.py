"""A run that is killed again and again pays for nothing twice but what was under way at the kills."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter, defaultdict

import pytest

from scripted import ScriptedEndpoint

CONCURRENCY = 16
_RUN = f"""
import sys
from devqa.config.models import Model, asked_with
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request
model = Model(base_url=sys.argv[1], limits={{"concurrency": {CONCURRENCY}}})
requests = [Request(({{"role": "user", "content": str(number)}},)) for number in range(int(sys.argv[3]))]
with Chat(asked_with("scripted", model), model.model_dump(), Cache(sys.argv[2]), "killed") as chat:
    assert all(answer.outcome == "ok" for answer in chat.ask(requests))
"""


class Endpoint:
    """Answers well, and notes in which life of the run it did."""

    def __init__(self):
        self.life = 0
        self.lives = defaultdict(list)
        self.asked = threading.Event()

    def __call__(self, body):
        self.lives[body["messages"][0]["content"]].append(self.life)
        self.asked.set()
        return "ok"


def start(server, cache, count):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", _RUN, server.base_url, str(cache), str(count)], env=environment)


def killed_and_finished(folder, count, kills, delay_s, longest_s):
    """Kill a run of `count` requests `kills` times and let it end; in which lives each request was answered."""
    moments = random.Random(20261130)
    endpoint = Endpoint()
    with ScriptedEndpoint(endpoint, delay_s=delay_s) as server:
        for _ in range(kills):
            endpoint.asked.clear()
            process = start(server, folder, count)
            # Sometimes before it has asked for anything, most often in the middle.
            if moments.random() < 0.9:
                assert endpoint.asked.wait(60)
            threading.Event().wait(moments.uniform(0, longest_s))
            process.send_signal(signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL, "it had ended before: nothing was tested"
            # What was under way is cancelled at the server, or is noted in the life in which it was sent.
            threading.Event().wait(4 * delay_s)
            endpoint.life += 1
        assert start(server, folder, count).wait(300) == 0
        assert len(endpoint.lives) == count
        server.clear()
        assert start(server, folder, count).wait(60) == 0
        assert server.count == 0
    return endpoint.lives


def lost(lives):
    """How many answers were lost in each life: those of requests that had to be asked again later."""
    return Counter(life for answered in lives.values() for life in answered[:-1])


def test_a_run_that_is_killed_loses_what_was_under_way_and_nothing_else(tmp_path):
    lives = killed_and_finished(tmp_path, count=600, kills=3, delay_s=0.05, longest_s=0.5)
    assert all(answers <= CONCURRENCY for answers in lost(lives).values())


@pytest.mark.slow
def test_twenty_kills_in_a_run_of_five_thousand_requests(tmp_path):
    lives = killed_and_finished(tmp_path, count=5000, kills=20, delay_s=0.05, longest_s=1.0)
    assert all(answers <= CONCURRENCY for answers in lost(lives).values())
    # Each life but those that were killed at the very beginning has brought the run on.
    assert len({life for answered in lives.values() for life in answered}) >= 15
