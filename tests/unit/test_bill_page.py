"""The bill as people see it."""

import dataclasses

import pytest

from devqa.bill.dialogues import Dialogues
from devqa.bill.estimate import Cost
from devqa.bill.page import page

DIALOGUES = Dialogues(3_000, 0, 0, True)
PRICED = {"mode": "online", "runtime": "openai", "price": {"batch": 0.5}}
EVALUATION = {
    "benchmark": None,
    "domains": None,
    "models": ["gpt"],
    "settings": ["plain"],
    "model_settings": {},
    "agentic": {"rounds": 5, "calls": 4},
    "judge": {"model": "gpt"},
    "panel": [],
}
FREE = {"engine": "searxng", "price_per_request": 0}
CONFIG = {
    "budget_usd": None,
    "offline": False,
    "search": FREE,
    "evaluation": EVALUATION,
    "models": {
        "gpt": PRICED,
        "cheap": {**PRICED, "mode": "batch"},
        "own": {**PRICED, "runtime": "llama.cpp"},
        "a-model-with-a-very-long-name": PRICED,
    },
}
CHECK = Cost(
    step="check",
    model="gpt",
    cached=1_000.0,
    sent=8_000.0,
    most=8_000.0,
    input_tokens=5_400_000.0,
    output_tokens=1_234_567.0,
    low=2.5,
    usual=31.75,
    high=1_234.5,
    bases=frozenset({"exact"}),
    free=False,
)
JUDGE = dataclasses.replace(
    CHECK, step="difficulty judge", sent=12_345.4, most=20_000.0, low=0.0, bases=frozenset({"exact", "paper"})
)


def said(*costs: Cost, config=CONFIG, dialogues=DIALOGUES) -> str:
    text = page(costs, dialogues, config)
    assert all(len(line) <= 120 for line in text.splitlines())
    return text


def test_the_table_has_a_line_for_each_step_and_model_and_one_for_all():
    lines = said(CHECK, JUDGE).splitlines()
    assert [" ".join(line.split()) for line in lines[2:8]] == [
        "step model requests cached to send input output USD low to high basis",
        "-" * 119,
        "check gpt 9,000 1,000 8,000 5.4 M 1.23 M 31.75 2.50 to 1,234 exact",
        "difficulty judge gpt 13,345 1,000 12,345 5.4 M 1.23 M 31.75 0 to 1,234 paper",
        "-" * 119,
        "all 22,345 2,000 20,345 10.8 M 2.47 M 63.50 2.50 to 2,469 paper",
    ]
    assert len({line.rindex(" ") for line in (lines[4], lines[5], lines[7])}) == 1


def test_what_the_figures_rest_on_is_said():
    text = said(CHECK, JUDGE)
    assert "exact: " in text
    assert "paper: the step's tables are not there yet: reckoned from 3,000 dialogues" in text
    assert "At most 28,000 requests" in text
    assert "The low end has only what is certain to be sent." in text
    assert "present: " not in text
    assert "At most" not in said(CHECK)
    assert "The low end" not in said(CHECK)


def test_models_without_a_price_and_in_batch_mode_are_named():
    free = {"low": 0.0, "usual": 0.0, "high": 0.0, "free": True}
    text = said(
        dataclasses.replace(CHECK, **free),
        dataclasses.replace(CHECK, model="cheap"),
        dataclasses.replace(CHECK, model="own", **free),
        dataclasses.replace(CHECK, model="a-model-with-a-very-long-name"),
    )
    assert "models.gpt.price is not set" in text
    assert "models.cheap: at 0.5 of the price, because mode is batch." in text
    assert "models.own.price" not in text
    assert "-           no price   exact" in text
    assert "a-model-with-a-ve… " in text


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (2_000, "all of it lies below"),
        (100, "the run may stop there"),
        (30, "the run will probably stop there"),
        (1, "even the low end lies above"),
    ],
)
def test_the_budget_is_held_against_the_range(budget, says):
    assert says in said(CHECK, config={**CONFIG, "budget_usd": budget})
    nothing = dataclasses.replace(CHECK, sent=0.0, most=0.0, low=0.0, usual=0.0, high=0.0)
    assert "budget_usd" not in said(nothing, config={**CONFIG, "budget_usd": budget})


def test_steps_that_rest_are_named():
    difficulty = dataclasses.replace(JUDGE, step="difficulty")
    assert "Nothing to ask at: queries, condense, generate, verify, answer, judge." in said(CHECK, difficulty, JUDGE)


@pytest.mark.parametrize(
    ("changed", "resting"),
    [
        ({"domains": {"model": "gpt"}}, "queries, condense, generate, verify, difficulty, domains, judge"),
        ({"benchmark": {"path": "b.csv"}}, "judge"),
        ({"benchmark": {"path": "b.csv"}, "judge": None}, None),
        ({"benchmark": {"path": "b.csv"}, "judge": None, "panel": ["gpt"]}, "judge"),
    ],
)
def test_steps_that_the_configuration_does_not_have_are_not_named(changed, resting):
    rag = dataclasses.replace(CHECK, step="answer rag")
    text = said(CHECK, rag, config={**CONFIG, "evaluation": {**EVALUATION, **changed}})
    assert f"Nothing to ask at: {resting}." in text if resting else "Nothing to ask at" not in text


PAID = {"engine": "brave", "price_per_request": 0.005}
SEARCH = dataclasses.replace(CHECK, step="search", model="search:brave", input_tokens=0.0, output_tokens=0.0)


def test_searches_with_a_price_are_lines_like_all_others_and_count_in_the_total():
    lines = said(CHECK, SEARCH, config={**CONFIG, "search": PAID}).splitlines()
    assert " ".join(lines[5].split()) == "search search:brave 9,000 1,000 8,000 0 0 31.75 2.50 to 1,234 exact"
    assert " ".join(lines[7].split()).startswith("all 18,000 2,000 16,000 5.4 M 1.23 M 63.50 5.00 to 2,469")


@pytest.mark.parametrize(
    ("changed", "resting"),
    [
        ({"search": PAID}, "queries, search, condense, generate, evidence, verify, difficulty, answer, judge"),
        (
            {"search": PAID, "evaluation": {**EVALUATION, "model_settings": {"gpt": ["rag"]}}},
            "queries, search, condense, generate, evidence, verify, difficulty, retrieve, answer, judge",
        ),
        ({"search": PAID, "offline": True}, "queries, condense, generate, verify, difficulty, answer, judge"),
        (
            {"search": {**PAID, "engine": "local"}},
            "queries, condense, generate, verify, difficulty, answer, judge",
        ),
    ],
)
def test_searches_are_named_among_the_steps_that_rest_only_where_they_cost_something(changed, resting):
    assert f"Nothing to ask at: {resting}." in said(CHECK, config={**CONFIG, **changed})


def test_what_models_search_for_by_themselves_is_said_to_be_left_out():
    agentic = dataclasses.replace(CHECK, step="answer agentic")
    left_out = "(agentic) is not in the bill: at most 20 searches for each question."
    assert left_out in said(agentic, config={**CONFIG, "search": PAID})
    assert left_out not in said(agentic)
    assert left_out not in said(CHECK, config={**CONFIG, "search": PAID})
    asked_before = dataclasses.replace(agentic, sent=0.0, most=0.0)
    assert left_out not in said(asked_before, config={**CONFIG, "search": PAID})


def test_dialogues_that_were_only_counted_are_marked():
    assert "too many to be read" in said(CHECK, dialogues=Dialogues(3_000_000, 0, 3_000_000, False))
    assert "too many" not in said(CHECK)


def test_nothing_to_ask_is_one_line():
    assert said() == "Nothing would be asked: every table that a model has a part in is up to date."
