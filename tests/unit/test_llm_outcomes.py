"""Responses that are not what the API reference says: an outcome, never a crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.llm import outcomes
from devqa.llm.cache import decode, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
MESSAGE = (
    st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON, "tool_calls": JSON, "role": JSON}) | JSON
)
CHOICE = st.fixed_dictionaries({}, optional={"message": MESSAGE, "finish_reason": JSON}) | JSON
USAGE = st.fixed_dictionaries({}, optional={"prompt_tokens": JSON, "completion_tokens_details": JSON}) | JSON
COMPLETION = st.fixed_dictionaries(
    {}, optional={"choices": st.lists(CHOICE, max_size=2) | JSON, "usage": USAGE, "model": JSON, "error": JSON}
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


@given(COMPLETION, st.sampled_from([None, SCHEMA]))
def test_any_json_object_has_an_outcome_and_goes_into_the_cache_and_back(completion, schema):
    record = outcomes.read(completion, schema)
    assert record["outcome"] in ("ok", "refused", "truncated", "empty", "error")
    assert (record["reason"] == "") == (record["outcome"] == "ok")
    assert all(type(record[key]) is int and record[key] >= 0 for key in ("input_tokens", "output_tokens"))
    assert decode(encode("0" * 64, record)) == record


@pytest.mark.parametrize("usage", ["n/a", [1], None, {"prompt_tokens": "12"}, {"prompt_tokens": 2**70}])
def test_a_usage_that_makes_no_sense_counts_as_none(usage):
    record = outcomes.read({"choices": [{"message": {"content": "hello"}}], "usage": usage}, None)
    assert (record["outcome"], record["input_tokens"]) == ("ok", 0)


def test_a_huge_answer_that_can_t_be_used_is_not_kept_whole():
    record = outcomes.read({"choices": [{"message": {"content": "x" * 300_000}, "finish_reason": "length"}]}, None)
    assert record["outcome"] == "truncated"
    assert len(record["raw"]) == 100_000


@pytest.mark.parametrize("number", ["123456789012345678901234567890", "-1e400", "1" * 5000])
def test_a_number_beyond_all_bounds_stops_nothing(number):
    record = outcomes.read({"choices": [{"message": {"content": f'{{"a": {number}}}'}}]}, SCHEMA)
    assert decode(encode("0" * 64, record)) == record
