"""What calls cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.models import Model
from devqa.llm.pricing import cost_usd, effective_price, is_free, money, record_usd, request_bound_usd
from devqa.tokens import estimate
from devqa.usage import COUNTS, usages

PRICE = {"input": 1.0, "output": 4.0, "cached_input": 0.25}
TOKENS = st.integers(0, 10**9)
USD = st.floats(0, 1000)
PRICES = st.fixed_dictionaries({"input": USD, "output": USD, "cached_input": st.none() | USD})


def spent(model="m", **counts):
    return {"model": model, **dict.fromkeys(COUNTS, 0), **counts}


def test_cost_is_per_million_tokens_and_by_model():
    usage = [
        spent("a", calls=2, input_tokens=2_000_000, output_tokens=500_000),
        spent("b", calls=1, input_tokens=1_000_000, output_tokens=1),
        spent("free", calls=1, input_tokens=10, output_tokens=10),
    ]
    prices = {"a": {"input": 0.15, "output": 0.60}, "b": {"input": 1.0, "output": 1_000_000.0}}
    assert cost_usd(usage, prices) == pytest.approx(2 * 0.15 + 0.5 * 0.60 + 1.0 + 1.0)


def test_no_calls_cost_nothing():
    assert cost_usd([], {"a": {"input": 1.0, "output": 1.0}}) == 0


def test_tokens_in_the_endpoint_s_cache_have_a_price_of_their_own():
    record = {"input_tokens": 1_000_000, "cached_tokens": 400_000, "output_tokens": 100_000, "reasoning_tokens": 60_000}
    assert record_usd(record, PRICE) == pytest.approx(0.6 + 0.1 + 0.4)
    assert record_usd(record, {**PRICE, "cached_input": None}) == pytest.approx(1.0 + 0.4)
    assert record_usd({**record, "cached_tokens": 9_000_000}, PRICE) == pytest.approx(0.25 + 0.4)


def test_searches_have_a_price_for_each_request():
    price = {"request": 0.005}
    assert record_usd(spent(calls=3), price) == pytest.approx(0.015)
    assert cost_usd([spent("search:brave", calls=3), spent(calls=5)], {"search:brave": price, "m": PRICE}) == (
        pytest.approx(0.015)
    )
    assert not is_free(price)
    assert is_free({"request": 0})


def test_a_record_of_an_earlier_version_has_a_cost():
    assert record_usd({"input_tokens": 1_000_000, "output_tokens": 0}, PRICE) == 1.0


@given(st.lists(st.tuples(TOKENS, TOKENS, TOKENS), max_size=10), PRICES)
def test_what_rows_cost_together_is_what_their_records_cost(records, price):
    """One formula, whether tokens are priced one by one or as sums."""
    rows = [
        spent(calls=1, input_tokens=max(tokens, cached), cached_tokens=cached, output_tokens=out)
        for tokens, cached, out in records
    ]
    alone = sum(record_usd(row, price) for row in rows)
    assert cost_usd(usages(rows), {"m": price}) == pytest.approx(alone)


@given(st.text(max_size=200), st.integers(0, 10**6), PRICES, st.floats(0, 1), st.floats(0, 1))
def test_no_answer_to_a_request_costs_more_than_its_bound(text, longest, price, cached, said):
    tokens = estimate(text)
    record = {"input_tokens": tokens, "cached_tokens": int(cached * tokens), "output_tokens": int(said * longest)}
    bound = request_bound_usd(text.encode("utf-8", "replace"), longest, price)
    assert record_usd(record, price) <= bound * (1 + 1e-12)


def test_a_request_to_a_free_model_is_free():
    assert request_bound_usd(b"text", 1000, {"input": 0.0, "output": 0.0, "cached_input": None}) == 0
    assert is_free({})
    assert not is_free({"output": 0.1})


def test_batches_cost_what_the_configuration_says():
    price = {"input": 2.0, "output": 8.0, "cached_input": None, "batch": 0.5}
    assert effective_price(price, "online") == {"input": 2.0, "output": 8.0, "cached_input": 2.0}
    assert effective_price({**price, "cached_input": 1.0}, "batch") == {
        "input": 1.0,
        "output": 4.0,
        "cached_input": 0.5,
    }


def test_a_model_s_price_is_that_of_its_mode():
    more = {"base_url": "http://127.0.0.1:9/v1", "price": {"input": 2.0, "output": 8.0, "batch": 0.25}}
    assert Model(**more).effective_price().model_dump(exclude={"batch"}) == {
        "input": 2.0,
        "output": 8.0,
        "cached_input": 2.0,
    }
    assert Model(mode="batch", **more).effective_price().output == 2.0


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "0.00"), (0.00123, "0.0012"), (0.5, "0.5000"), (1, "1.00"), (1234.567, "1,234.57")]
)
def test_amounts_as_people_read_them(usd, text):
    assert money(usd) == text
