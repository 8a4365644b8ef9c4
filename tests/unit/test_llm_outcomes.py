"""How a call ended: the outcome of every response, whatever it looks like."""

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


def read(content, schema=None, finish="stop", **message):
    return outcomes.read({"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}, schema)


@pytest.mark.parametrize(
    ("record", "outcome", "text", "raw"),
    [
        (read("  fine "), "ok", "fine", ""),
        (read("<think>hm</think>fine"), "ok", "fine", ""),
        (read("fine", reasoning_content="hm"), "ok", "fine", ""),
        (read("half a \ud83d pair"), "ok", "half a \ufffd pair", ""),
        (read([{"type": "thinking", "text": "hm"}, {"type": "text", "text": "a"}]), "ok", "a", ""),
        (read("fine", finish="tool_calls", tool_calls=[{}]), "ok", "fine", ""),
        (read(None), "empty", "", ""),
        (read(""), "empty", "", ""),
        (read(" \n"), "empty", "", " \n"),
        (read("<think>hm</think>"), "empty", "", "<think>hm</think>"),
        (read(None, reasoning_content="hm"), "empty", "", ""),
        (read("fine, but", finish="length"), "truncated", "fine, but", "fine, but"),
        (read("<think>hm", finish="length"), "truncated", "", "<think>hm"),
        (read("fi", finish="content_filter"), "refused", "fi", "fi"),
        (read(None, finish="content_filter"), "refused", "", ""),
        (read(None, refusal="I can't help"), "refused", "I can't help", "I can't help"),
        (read(None, finish="tool_calls", tool_calls=[{}]), "error", "", ""),
        (outcomes.read({"choices": []}, None), "error", "", ""),
        (outcomes.read({"choices": [None]}, None), "error", "", ""),
        (outcomes.read({"choices": [{}]}, None), "empty", "", ""),
    ],
)
def test_outcomes(record, outcome, text, raw):
    assert (record["outcome"], record["text"], record["raw"]) == (outcome, text, raw)
    assert bool(record["reason"]) == (outcome != "ok")


def test_a_model_that_only_thought_needs_more_tokens():
    assert "raise sampling.max_tokens" in read(None, reasoning_content="hm")["reason"]
    assert "raise" not in read(None)["reason"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"a": 1}', "ok"),
        ('<think>{"a": 2}</think>{"a": 1}', "ok"),
        ('```json\n{"a": 1}\n```', "ok"),
        ('Sure! {"a": 1,}', "ok"),
        ('{"a": "Z"}', "error"),
        ("A", "error"),
    ],
)
def test_structured_answers_are_parsed_and_validated(text, outcome):
    record = read(text, SCHEMA)
    assert (record["outcome"], record["data"]) == (outcome, {"a": 1} if outcome == "ok" else None)
    assert record["raw"] == ("" if outcome == "ok" else text)


def test_a_truncated_answer_stays_truncated_though_it_could_be_mended():
    record = read('{"a": 1', SCHEMA, finish="length")
    assert (record["outcome"], record["data"], record["raw"]) == ("truncated", None, '{"a": 1')


@pytest.mark.parametrize(
    ("completion", "says"),
    [
        ({"choices": []}, "the response holds no choices"),
        ({}, "the response holds no choices"),
        ({"error": {"message": "upstream is down", "code": 502}}, "upstream is down"),
        ({"error": "upstream is down", "choices": None}, "upstream is down"),
        ({"choices": [{"error": {"message": "upstream is down"}, "message": {"content": "half"}}]}, "upstream is down"),
        ({"choices": [{"message": {"content": "x"}}]}, ""),
        ({"choices": [{}], "error": None}, ""),
    ],
)
def test_what_is_no_completion_at_all_is_told(completion, says):
    assert says in outcomes.broken(completion)
    assert bool(outcomes.broken(completion)) == bool(says)


def test_tokens_are_the_endpoints_count():
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    record = outcomes.read({"choices": [{"message": {"content": "x"}}], "usage": usage}, None)
    assert [record[f"{kind}_tokens"] for kind in ("input", "output", "cached", "reasoning")] == [11, 7, 4, 5]
    assert record["counted"]
    assert not read("x")["counted"]


def test_a_request_that_got_no_answer_has_cost_nothing():
    record = outcomes.failed("no", "refused", passing=True)
    assert (record["outcome"], record["reason"], record["passing"], record["counted"]) == ("refused", "no", True, True)
    answer = outcomes.answer(record, cached=False)
    assert (answer.outcome, answer.input_tokens, answer.counted) == ("refused", 0, True)


def test_records_of_before_can_be_read():
    old = {"outcome": "ok", "text": "x", "data": None, "reason": "", "raw": "", "input_tokens": 0, "output_tokens": 0}
    answer = outcomes.answer(old, cached=True)
    assert (answer.cached, answer.counted, answer.cached_tokens) == (True, False, 0)


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
