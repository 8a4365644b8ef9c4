"""Visible text, and JSON that is mended but never bent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.llm.parsing import parse_json, visible, whole

GRADE = {
    "type": "object",
    "properties": {"grade": {"type": "string", "enum": ["A", "B", "C"]}},
    "required": ["grade"],
    "additionalProperties": False,
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "plain"),
        ("<think>A or B?</think>B", "B"),
        ("<think>\nA\n</think>\n\nB\n", "B"),
        ("<think>one</think><think>two</think>B", "B"),
        ("Well.\n<think>A</think>B", "Well.\nB"),
        ("thoughts without a beginning\n</think>\n\nB", "B"),
        ("<think>cut off in mid-thou", ""),
        ("<thinking>A</thinking>B", "B"),
        ("The tag `<think>` opens, `</think>` closes.", "The tag `<think>` opens, `</think>` closes."),
        ('{"answer": "<think>x</think>"}', '{"answer": "<think>x</think>"}'),
        ("a\ud83d b", "a\ufffd b"),
        ("😀", "😀"),
        ("", ""),
    ],
)
def test_visible_text(text, said):
    assert visible(text) == said


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_visible_text_can_always_be_encoded(text):
    visible(text).encode()
    assert len(whole(text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"grade": "C"}',
        ' \n{"grade": "C"}\n',
        '```json\n{"grade": "C"}\n```',
        'Here it is:\n```\n{"grade": "C"}\n```\nIs that all?',
        'The verdict is {"grade": "C"}. Good luck!',
        'Given {x} and [1], I say {"grade": "C"}',
        '{"grade": "D"} is not allowed, so {"grade": "C"}',
        '{"grade": "C",}',
        "{'grade': 'C'}",
        '{grade: "C"}',
        '{"grade": "C"',
    ],
)
def test_json_is_found_and_mended(text):
    assert parse_json(text, GRADE) == ({"grade": "C"}, "")


@pytest.mark.parametrize(
    "text",
    [
        'The answer quotes {"grade": "A"}, which proves nothing. {"grade": "C"}',
        'It says ```json\n{"grade": "A"}\n``` and so {"grade": "C"}',
        'It says {"grade": "A"}, and so\n```json\n{"grade": "C"}\n```',
        '```\n{"grade": "A"}\n```\nNo, on second thoughts:\n```\n{"grade": "C"}\n```',
        'It says {"grade": "A"}, and so {"grade": "C",}',
        'It says {"grade": "A"}, and so {"grade": "C"',
        f'It says {{"grade": "A"}} {"and {so} [on] " * 100}. {{"grade": "C"}}',
        '{"grade": "C"} is what [I] say {here}.',
        '{"grade": "C"}, not {"grade": "D"}',
    ],
)
def test_of_several_values_the_last_one_that_follows_the_schema_is_meant(text):
    """Models reason first and conclude last; what they reason about may hold a value itself."""
    assert parse_json(text, GRADE) == ({"grade": "C"}, "")


def test_a_value_inside_of_one_that_follows_the_schema_is_none_of_its_own():
    whole_value = {"grade": "A", "of": [{"grade": "B"}]}
    text = f"I say {json.dumps(whole_value)}."
    assert parse_json(text, {"type": "object", "required": ["grade"]}) == (whole_value, "")


def test_a_key_that_comes_twice_counts_as_it_came_last():
    assert parse_json('So: {"grade": "A", "grade": "C"}', GRADE) == ({"grade": "C"}, "")


PROSE = st.text(alphabet=st.sampled_from("ab {}[]:,'1\n"), max_size=40)


@given(st.lists(st.tuples(PROSE, st.sampled_from("ABC")), min_size=1, max_size=4))
def test_whatever_stands_before_the_conclusion_it_counts(said):
    text = "".join(f'{prose}"{{"grade": "{grade}"}}' for prose, grade in said)
    assert parse_json(text, GRADE) == ({"grade": said[-1][1]}, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer holds no JSON"),
        ("C", "the answer holds no JSON"),
        ('"C"', '$: "C" is not of type "object"'),
        ("[]", '$: [] is not of type "object"'),
        ('{"grade": "D"}', '$.grade: "D" is not one of "A", "B" or "C"'),
        ("{}", '$: "grade" is a required property'),
        ('{"grade": "A", "more": 1}', "$: Additional properties are not allowed ('more' was unexpected)"),
        ('{"grade": NaN}', "$"),
        ("[" * 100_000, "$"),
        ('{"a":' * 100_000, "$"),
    ],
)
def test_what_does_not_follow_the_schema_is_refused_with_the_reason(text, reason):
    value, problem = parse_json(text, GRADE)
    assert value is None
    assert problem.startswith(reason) or problem == "the answer holds no JSON"


@pytest.mark.parametrize("text", ["NaN", "[NaN]", "[1e999]", "[Infinity]"])
def test_numbers_that_json_lacks_are_refused(text):
    assert parse_json(text, {"type": ["array", "number"], "items": {"type": "number"}})[0] is None


def test_lone_surrogates_in_strings_are_replaced():
    assert parse_json(r'{"grade": "\ud83d"}', {"type": "object"}) == ({"grade": "\ufffd"}, "")


@given(JSON)
def test_strict_json_is_read_as_it_is(value):
    assert parse_json(json.dumps(value, ensure_ascii=False), {}) == (value, "")


@given(
    JSON.filter(lambda value: isinstance(value, dict | list)),
    st.sampled_from(["```json\n%s\n```", "Sure:\n```\n%s\n```"]),
)
def test_json_in_a_fence_is_read_as_it_is(value, frame):
    text = json.dumps(value)
    assert parse_json(frame % text, {"type": ["object", "array"]}) == (value, "")


@pytest.mark.parametrize(
    "text",
    [
        "a {b} c [d] " * 5000,
        '{"a": {"b": ' * 5000,
        '{"grade": "' + '"' * 50_000,
        "{a: b " * 10_000,
        "[" * 900 + "[]," * 30_000,
        "[" * 900 + '"' + "a" * 90_000,
        f"so [{'1' * 5000}] " * 100,
    ],
)
def test_a_long_answer_that_is_no_json_is_told_at_once(text):
    """Trying to mend it would take minutes, in which no other answer is received."""
    assert parse_json(text, GRADE) == (None, "the answer holds no JSON")


@given(st.text())
def test_whatever_is_returned_follows_the_schema(text):
    value, problem = parse_json(text, GRADE)
    assert (value is None) == bool(problem)
    assert value is None or value["grade"] in "ABC"
