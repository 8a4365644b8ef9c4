"""Conversations in rounds: what a bill counts of them, and what the cache's commands take them to read."""

import dataclasses
import json
from pathlib import Path

import pytest

from devqa import tables
from devqa.bill.dialogues import Dialogues
from devqa.bill.flow import flow
from devqa.bill.meter import GOES_ON, Altered, Missing, Reading, measured
from devqa.bill.plan import Planned
from devqa.bill.rates import Rates
from devqa.bill.spent import Earlier
from devqa.llm.cache import responses
from devqa.recipe import asked_models, recipe
from devqa.stock.wanted import wanted
from devqa.web.store import Store
from unit.test_bill_meter import ROOT, asked, config  # noqa: F401 -- a fixture

ROUNDS = 3
QUESTIONS = 6
PAGE = "Zebra stripes are set with the option stripes. Its default is seven. " * 8
OPTIONS = {"difficulties": ["easy", "hard"], "rounds": ROUNDS, "results": 3, "page_tokens": 200, "calls": 2}


@pytest.fixture
def job(config, tmp_path):  # noqa: F811
    """The answers of one model to six questions, none of which was ever asked."""
    rows = [
        {"id": str(number), "question": f"What of zebra {number}?", "answer": "x", "difficulty": "easy"}
        for number in range(QUESTIONS)
    ]
    tables.write(rows, "benchmark", tmp_path / "benchmark.parquet")
    page = {"url": "http://e/a", "title": "Zebras", "language": "en", "text": PAGE, "words": "zebra stripe"}
    content = {"content": PAGE.encode(), "content_type": "text/plain", "status": "ok", "reason": ""}
    tables.write([{**page, **content}], "corpus", tmp_path / "corpus.parquet")
    told = asked(config, "one")
    return Planned(
        rule="answer",
        wildcards={"setting": "agentic", "model": "one"},
        input={"benchmark": str(tmp_path / "benchmark.parquet"), "corpus": str(tmp_path / "corpus.parquet")},
        output={"answers": [str(tmp_path / "results/answers.parquet")]},
        recipe=recipe(ROOT, "answer.py", OPTIONS, {"agentic": told}, ["answer/agentic"]),
        threads=1,
        resources={},
        runs=True,
        basis="exact",
        unsettled=False,
    )


def give(config, keys, calls=(), text=""):  # noqa: F811
    """Put answers to `keys` into the cache: calls of tools, or a text."""
    told = asked(config, "one")
    counts = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens"), 3)
    record = {"outcome": "ok", "reason": "", "text": text, "data": None, "raw": "", **counts, "counted": True}
    called = {"tool_calls": [[f"c{place}", *call] for place, call in enumerate(calls)]} if calls else {}
    with responses(config["cache_dir"]).shelf(told["endpoint"], told["model"]).writer("agentic") as writer:
        for key in keys:
            writer.write(key, {**record, **called})


SEARCH = [("search", '{"query": "zebra"}')]
OPEN = [("open", '{"url": "http://e/a"}')]


def figures(readings):
    return [(len(each.keys), len(each.missing), pytest.approx(each.further), each.most) for each in readings]


def test_of_conversations_that_nobody_has_begun_the_first_round_is_known(job, config):  # noqa: F811
    readings = measured(job, config)
    expected = [QUESTIONS * GOES_ON**number for number in range(1, ROUNDS + 1)]
    assert figures(readings) == [(6, 6, 0, 0), *[(0, 0, each, 6) for each in expected]]
    assert {each.role for each in readings} == {"agentic"}
    assert not any(each.complete for each in readings)
    # The tools are part of what is sent.
    described = len((ROOT / "prompts/answer/agentic/tools.yaml").read_bytes())
    assert all(each.sent_bytes > described for each in readings[0].missing.values())


def test_each_round_is_counted_on_the_answers_that_are_there(job, config):  # noqa: F811
    first, *_ = measured(job, config)
    give(config, first.keys[:4], SEARCH)
    _, second, *_ = measured(job, config)
    assert len(second.keys) == 4
    give(config, second.keys[:1], text="Seven.")
    give(config, second.keys[1:3], OPEN)
    readings = measured(job, config)
    # Two conversations have not begun, one waits for its second round, two for their third.
    assert figures(readings) == [
        (6, 2, 0, 0),
        (4, 1, 2, 2),
        (2, 2, (2 + 1) * 2 / 3, 3),
        (0, 0, ((2 + 1) * 2 / 3 + 2) * GOES_ON, 5),
    ]
    assert not any(each.complete for each in readings)


def finish(job, config):  # noqa: F811
    """Answer everything, whatever round it comes in; returns all keys."""
    for calls in (SEARCH, OPEN, OPEN, ()):
        for reading in measured(job, config):
            give(config, reading.missing, calls, "" if calls else "Seven.")
    return [key for reading in measured(job, config) for key in reading.keys]


def test_a_job_whose_answers_are_all_there_is_read_to_its_end(job, config):  # noqa: F811
    keys = finish(job, config)
    readings = measured(job, config)
    assert figures(readings) == [(6, 0, 0, 0)] * 4
    assert all(each.complete for each in readings)
    assert len(set(keys)) == 6 * (ROUNDS + 1)
    read = wanted(responses(config["cache_dir"]), [(dataclasses.replace(job, runs=False), readings)])
    (known,) = read.keys.values()
    assert known == set(keys)
    assert read.unsure == {}


def test_a_bill_writes_and_sends_nothing(job, config, tmp_path):  # noqa: F811
    first, *_ = measured(job, config)
    give(config, first.keys, SEARCH)
    before = sorted(tmp_path.rglob("*"))
    measured(job, config)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_a_bill_would_have_to_send_for_is_not_known(job, config):  # noqa: F811
    config["search"] = {**config["search"], "engine": "searxng", "url": "http://127.0.0.1:9", "corpus": None}
    job = dataclasses.replace(job, input={"benchmark": job.input["benchmark"], "corpus": []})
    first, *_ = measured(job, config)
    give(config, first.keys[:2], SEARCH)
    give(config, first.keys[2:], text="Seven.")
    readings = measured(job, config)
    assert figures(readings) == [
        (6, 0, 0, 0),
        (0, 0, 2, 2),
        (0, 0, 2 * GOES_ON, 2),
        (0, 0, 2 * GOES_ON**2, 2),
    ]
    # Whatever the cache holds of this step may be theirs: nothing of it is pruned.
    read = wanted(responses(config["cache_dir"]), [(job, readings)])
    assert [step for _, step in read.unsure] == ["agentic"]
    # What the store has kept needs no sending.
    found = {"results": [{"url": f"http://e/{name}", "title": "Zebras", "content": "stripes"} for name in "abc"]}
    asked_for = 'search:["searxng","http://127.0.0.1:9",{"language":"all","pageno":1,"q":"zebra"}]'
    Store(Path(config["cache_dir"]) / "web").put(asked_for, json.dumps(found).encode())
    assert [len(each.keys) for each in measured(job, config)] == [6, 2, 0, 0]


CONFIG = {
    "dialogues": {"mine": {"shards": 1}},
    "search": {"results": 10},
    "steps": {"generate": {"pairs": 3}, "difficulty": {"models": ["weak"]}},
    "evaluation": {"agentic": {"rounds": ROUNDS}},
}
TURNS = 1 + GOES_ON + GOES_ON**2 + GOES_ON**3


def planned(rule, role, basis, **more):
    models = {role: {"label": "one", "endpoint": "e", "model": "one"}}
    run = {"model": "one", "setting": "agentic"}
    output = {"answers" if rule == "answer" else "grades": ["1"]}
    return Planned(
        rule, run, {}, output, json.dumps({"models": models}), 1, {}, True, basis, more.get("unsettled", False)
    )


def read(keys, missing, further=0.0, most=0, name=""):
    known = tuple(f"{name}{number}" for number in range(keys))
    told = {key: Missing(10, 3, 70, False) for key in known[keys - missing :]}
    there = frozenset(known) - told.keys()
    return Reading("answer", "agentic", "one", "e", "one", known, there, told, further, most, not most, Altered(0, 0))


def lines_of(*jobs, rows=None):
    rates = Rates({"answer": 2}, frozenset())
    found = flow(jobs, Dialogues(30, 0, 0, True), rates, Earlier(), CONFIG, rows)
    return {line.rule: line for line in found}


JUDGE = (planned("judge", "judge", "missing"), [])


@pytest.mark.parametrize("rows", [None, 70])
def test_conversations_of_which_nothing_is_there_have_all_their_rounds(rows):
    assert asked_models(JUDGE[0].recipe)
    lines = lines_of((planned("answer", "agentic", "missing"), []), JUDGE, rows=rows)
    expected, most = (70, 70) if rows else (60, 90)
    assert lines["answer"].further == pytest.approx(expected * TURNS)
    assert lines["answer"].most == most * (ROUNDS + 1)
    # A judge is asked once about each.
    assert lines["judge"].further == pytest.approx(expected)
    assert lines["judge"].most == most


def test_a_judge_is_asked_once_about_each_conversation_that_lacks_an_answer():
    readings = [read(9, 2, name="a"), read(7, 3, 2.0, 2, "b"), read(4, 0, 3.0, 5, "c"), read(0, 0, 3.0, 5, "d")]
    lines = lines_of((planned("answer", "agentic", "exact"), readings), JUDGE, rows=9)
    assert (len(lines["answer"].sure), lines["answer"].further, lines["answer"].most) == (5, 8, 12)
    assert (lines["judge"].further, lines["judge"].most) == (5 + 4, 9 + 4)


def test_after_another_corpus_every_conversation_may_take_all_its_rounds():
    readings = [read(9, 0, name=name) for name in "abc"]
    lines = lines_of((planned("answer", "agentic", "present", unsettled=True), readings), rows=9)
    assert (lines["answer"].cached, lines["answer"].further, lines["answer"].most) == (0, 27, 9 * (ROUNDS + 1))
