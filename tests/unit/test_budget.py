"""Dividing a budget of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.steps.budget import fair_shares, fitted, shown
from devqa.tokens import estimate

NEEDS = st.lists(st.integers(0, 10_000), max_size=20)


@pytest.mark.parametrize(
    ("needs", "budget", "shares"),
    [
        ([], 10, []),
        ([5, 5], 10, [5, 5]),
        ([1, 100, 100], 21, [1, 10, 10]),
        ([100, 2, 100], 0, [0, 0, 0]),
        ([9, 9, 9], 10, [3, 3, 4]),
    ],
)
def test_small_needs_are_met_and_the_rest_is_divided(needs, budget, shares):
    assert fair_shares(needs, budget) == shares


@given(NEEDS, st.integers(0, 50_000))
def test_shares_stay_within_the_needs_and_the_budget_and_waste_nothing(needs, budget):
    shares = fair_shares(needs, budget)
    assert all(0 <= share <= need for share, need in zip(shares, needs, strict=True))
    assert sum(shares) == min(budget, sum(needs))


@given(NEEDS, st.integers(0, 50_000))
def test_nobody_who_is_cut_gets_less_than_another_but_for_a_rest_of_one(needs, budget):
    shares = fair_shares(needs, budget)
    cut = [share for share, need in zip(shares, needs, strict=True) if share < need]
    assert not cut or min(cut) + 1 >= max(shares)


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(0, 200))
def test_fitted_texts_are_prefixes_within_the_budget(texts, budget):
    found = fitted(texts, budget)
    assert all(text.startswith(short) for text, short in zip(texts, found, strict=True))
    assert sum(map(estimate, found)) <= budget or found == texts
    if sum(map(estimate, texts)) <= budget:
        assert found == texts


def turns(*contents):
    return [{"role": "user", "content": content} for content in contents]


def test_turns_that_are_empty_are_not_shown():
    assert shown(turns("  ", "a", ""), 100) == turns("a")
    assert shown([], 100) == []


def test_blank_lines_in_front_take_no_room():
    assert shown(turns("\n" * 1000 + "How do I rebase?"), 20) == turns("How do I rebase?")


@given(st.lists(st.text(max_size=60), min_size=1, max_size=30), st.integers(1, 50))
def test_something_is_shown_of_a_dialogue_that_says_something_in_letters(contents, budget):
    contents[0] = "some words " * 20
    found = shown(turns(*contents), budget)
    assert found
    assert sum(estimate(turn["content"]) for turn in found) <= budget
