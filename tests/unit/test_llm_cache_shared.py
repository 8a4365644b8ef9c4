"""Two jobs of different runs share one cache: it is never damaged, and no answer is lost."""

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from devqa.llm.cache import Cache
from devqa.llm.chat import Request
from devqa.stock.verify import verified
from scripted import ScriptedEndpoint

_JOB = """
import json, sys
from devqa.config.models import Model, asked_with
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat, Request
url, cache, start, stop = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
model = Model(base_url=url, limits={"concurrency": 32})
with Chat(asked_with("scripted", model), model.model_dump(), Cache(cache), "shared") as chat:
    answers = chat.ask([Request(({"role": "user", "content": f"question {n}"},)) for n in range(start, stop)])
print(json.dumps([[answer.outcome, answer.text] for answer in answers]))
"""
FIRST, SECOND, ALL = range(1000), range(500, 1500), range(1500)


def start(url: str, cache: Path, numbers: range) -> subprocess.Popen[str]:
    """A job in a process of its own that asks the questions `numbers`."""
    arguments = [sys.executable, "-c", _JOB, url, str(cache), str(numbers.start), str(numbers.stop)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> list[list[str]]:
    """The outcome and text of each answer that a job got."""
    said, complaints = process.communicate(timeout=120)
    assert process.returncode == 0, complaints
    return json.loads(said)


@pytest.mark.parametrize("together", [True, False], ids=["at the same time", "one after the other"])
def test_two_processes_with_overlapping_requests_share_one_cache(tmp_path, together):
    drawn = itertools.count()
    with ScriptedEndpoint(lambda body: f"draw {next(drawn)} of {body['messages'][0]['content']}") as endpoint:
        responses = tmp_path / "cache/responses"
        if together:
            jobs = [start(endpoint.base_url, responses, numbers) for numbers in (FIRST, SECOND)]
            first, second = map(finished, jobs)
        else:
            first, second = (finished(start(endpoint.base_url, responses, numbers)) for numbers in (FIRST, SECOND))
        sent = Counter(body["messages"][0]["content"] for body in endpoint.requests)
        endpoint.clear()
        with endpoint.chat(responses) as chat:
            later = chat.ask([Request(({"role": "user", "content": f"question {n}"},)) for n in ALL])
        assert endpoint.count == 0
    got = dict(zip(FIRST, first, strict=True))
    # What both asked has one answer, though it may have been drawn twice: the one that is served for ever.
    assert {n: got.get(n, answer) for n, answer in zip(SECOND, second, strict=True)} == dict(
        zip(SECOND, second, strict=True)
    )
    got |= zip(SECOND, second, strict=True)
    assert [[answer.outcome, answer.text] for answer in later] == [got[n] for n in ALL]
    assert all(got[n][1].endswith(f" of question {n}") for n in ALL)
    assert sent.keys() == {f"question {n}" for n in ALL}
    in_both = {f"question {n}" for n in FIRST if n in SECOND}
    assert all(count == 1 or (together and count == 2 and name in in_both) for name, count in sent.items())
    result = verified({"cache_dir": str(tmp_path / "cache")})
    assert not result.damages
    assert result.records == sum(sent.values())
    assert len(Cache(responses).shelves()) == 1
