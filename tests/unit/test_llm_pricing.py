"""What calls cost."""

import pytest

from devqa.llm.pricing import cost_usd


def test_cost_is_per_million_tokens_and_by_model():
    usage = [
        {"model": "a", "calls": 2, "input_tokens": 2_000_000, "output_tokens": 500_000},
        {"model": "b", "calls": 1, "input_tokens": 1_000_000, "output_tokens": 1},
        {"model": "free", "calls": 1, "input_tokens": 10, "output_tokens": 10},
    ]
    prices = {"a": {"input": 0.15, "output": 0.60}, "b": {"input": 1.0, "output": 1_000_000.0}}
    assert cost_usd(usage, prices) == pytest.approx(2 * 0.15 + 0.5 * 0.60 + 1.0 + 1.0)


def test_no_calls_cost_nothing():
    assert cost_usd([], {"a": {"input": 1.0, "output": 1.0}}) == 0
