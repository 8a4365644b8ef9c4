"""What the cache tells of earlier answers, and how long requests are of which it tells nothing."""

import json
from pathlib import Path

import pytest

from devqa.bill.sizes import size, usual_answer
from devqa.bill.spent import ENOUGH, earlier
from devqa.llm.cache import Cache

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
ASKED = {"label": "m", "endpoint": "e", "model": "m", "context": 8_192, "sampling": {"max_tokens": 1_000}}
CONFIG = {
    "steps": {"verify": {"passages": 5, "passage_tokens": 300}, "difficulty": {"sampling": {"max_tokens": 1_000}}},
    "evaluation": {"sampling": {"max_tokens": 2_000}, "rag": {"passages": 5, "passage_tokens": 300}},
}


def records(cache: Cache, model: str, step: str, count: int, **more) -> None:
    with cache.shelf("e", model).writer(step) as writer:
        for number in range(count):
            record = {
                "outcome": "ok",
                "input_tokens": 100 + number,
                "output_tokens": 10 + number,
                "sent_bytes": 400,
                **more,
            }
            writer.write(f"{hash((model, step, number, str(more))) % 16**12:064x}", record)


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "responses")


def test_an_empty_cache_tells_nothing(cache):
    told = earlier(cache)
    assert told.of(ASKED, "check") is None
    assert told.of_any("check") is None
    assert told.kept(ASKED, "check") == 0


def test_answers_of_the_same_model_and_step_tell_their_tokens(cache):
    records(cache, "m", "check", 21)
    spent = earlier(cache).of(ASKED, "check")
    assert (spent.output.low, spent.output.mean, spent.output.high) == (10, 20, 30)
    assert (spent.rate.low, spent.rate.mean, spent.rate.high) == pytest.approx((100 / 400, 110 / 400, 120 / 400))
    assert earlier(cache).of(ASKED, "verify") is None
    assert earlier(cache).kept(ASKED, "check") == 21


def test_too_few_answers_tell_nothing_of_others(cache):
    records(cache, "m", "check", ENOUGH - 1)
    records(cache, "another", "check", ENOUGH)
    told = earlier(cache)
    assert told.of(ASKED, "check") is None
    assert told.of_any("check").output.count == 2 * ENOUGH - 1


def test_answers_that_were_not_counted_or_asked_for_twice_are_no_measure(cache):
    records(cache, "m", "check", 30)
    records(cache, "m", "check", 9, counted=False, output_tokens=0)
    records(cache, "m", "check", 4, input_tokens=0)
    records(cache, "m", "check", 6, repaired=True, output_tokens=9_999)
    records(cache, "m", "check", 2, outcome="truncated")
    told = earlier(cache)
    assert told.of(ASKED, "check").output.count == 32
    assert told.of(ASKED, "check").output.high < 100
    assert told.of(ASKED, "check").repaired == 6
    assert told.kept(ASKED, "check") == 49


def test_records_of_older_versions_do_no_harm(cache):
    records(cache, "m", "check", 30, sent_bytes=None)
    with cache.shelf("e", "m").writer("check") as writer:
        writer.write("0" * 64, {"outcome": "ok"})
    assert earlier(cache).of(ASKED, "check") is None
    assert earlier(cache).kept(ASKED, "check") == 30


RECIPES = {
    "queries": (["queries"], {"dialogue_tokens": 3_000}),
    "condense": (["condense"], {"document_tokens": 2_000}),
    "generate": (["generate"], {"pairs": 3, "reference_tokens": 16_000, "demonstrations": 10}),
    "check": (["check"], {"date": "2026-11-01"}),
    "verify": (["verify/answer", "verify/compare"], {}),
    "answer": (["answer/plain"], {"difficulties": ["easy"]}),
    "rag": (["answer/rag"], {"difficulties": ["easy"]}),
    "confidence": (["answer/confidence"], {"difficulties": ["easy"]}),
    "agentic": (["answer/agentic"], {"rounds": 5, "page_tokens": 1_500}),
    "domains": (["domains"], {"names": {"languages": "syntax", "shell": ""}}),
    "judge": (["answer/plain", "judge"], {}),
}


@pytest.mark.parametrize("role", RECIPES)
def test_every_part_has_a_size_within_the_model_s_context(role):
    names, options = RECIPES[role]
    files = {name: {str(file.relative_to(PROMPTS)): "" for file in (PROMPTS / name).iterdir()} for name in names}
    said = size(role, ASKED, json.dumps({"prompts": files, "options": options}), CONFIG, PROMPTS)
    assert 0 < said.input <= said.input_most <= ASKED["context"]
    assert 0 < said.output <= said.output_most == 1_000
    assert said.structured == (role in ("queries", "generate", "check", "verify", "domains"))


def test_what_a_setting_shows_counts():
    def input_of(role, config=CONFIG):
        names, options = RECIPES[role]
        files = {name: {str(file.relative_to(PROMPTS)): "" for file in (PROMPTS / name).iterdir()} for name in names}
        return size(role, ASKED, json.dumps({"prompts": files, "options": options}), config, PROMPTS)

    assert input_of("rag").input_most >= input_of("answer").input_most + 5 * 300
    many = {**CONFIG, "evaluation": {**CONFIG["evaluation"], "rag": {"passages": 100, "passage_tokens": 900}}}
    # No more is shown than fits beside the answer.
    assert input_of("rag", many).input_most <= ASKED["context"]
    assert input_of("rag", many).input > input_of("rag").input > input_of("confidence").input > input_of("answer").input


def test_a_model_that_thinks_takes_much_of_what_it_may():
    assert usual_answer("judge", ASKED) == 5
    thinking = {**ASKED, "sampling": {"max_tokens": 1_000, "reasoning_effort": "high"}}
    assert usual_answer("judge", thinking) == 500
    assert usual_answer("judge", {**ASKED, "sampling": {"max_tokens": 3}}) == 3
    assert usual_answer("condense", {**ASKED, "sampling": {}}) == 600
