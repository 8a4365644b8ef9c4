"""Reading verdicts: what is one, what is none, and what must never be taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation.grading import GRADES, parse_verdict

READ = {
    "CORRECT": [
        "A",
        "a",
        "CORRECT",
        "Correct",
        "correct.",
        "(A)",
        "**A**",
        "A.",
        "`A`",
        '"A"',
        "[A]",
        "A\n",
        "\\boxed{A}",
        "$\\boxed{\\text{A}}$",
        "The answer is: CORRECT",
        "The answer is correct",
        "Grade: A",
        "Grade: A (CORRECT)",
        "A: CORRECT",
        "A CORRECT",
        "Grade:\nA",
        "**Grade:** A",
        "A\n\nThe predicted answer names the gold answer, B does not.",
        '{"grade": "A"}',
        '```json\n{"grade": "CORRECT", "reason": "B is no option"}\n```',
        "<grade>A</grade>",
        "The predicted answer is correct because it matches.",
        "<think>INCORRECT?</think>CORRECT",
        "B or C?</think>\nA",
        '{"reason": "uses {x}; not INCORRECT", "grade": "A"}',
        "Verdict - CORRECT",
        "I'd grade this as A.",
    ],
    "INCORRECT": [
        "B",
        "b",
        "INCORRECT",
        "incorrect",
        "**B**",
        "<think>A…</think>B",
        "Grade: B",
        "<think>A</think>\n\n**B**",
        "The predicted answer is INCORRECT.",
        "Incorrect. The correct answer is 80.",
        "### Verdict\n\n**INCORRECT**",
        "Not correct.",
        "The answer is not correct.",
        "A judge would say this is incorrect",
        '{"verdict": "INCORRECT"}',
        "{'grade': 'B'}",
        "Reasoning about C++ and A.\n\nB",
        "B. The prediction says Java.",
        "The grade is B.",
        "B: INCORRECT",
    ],
    "NOT_ATTEMPTED": [
        "C",
        "NOT_ATTEMPTED",
        "Not attempted.",
        "Not Attempted",
        "not-attempted",
        "NOT ATTEMPTED",
        "**NOT_ATTEMPTED**",
        '{"grade": "C"}',
        '{"grade": "NOT_ATTEMPTED"}',
        "Grade: C",
        "\\boxed{C}",
        "Verdict: Not attempted",
        "(C) NOT_ATTEMPTED",
    ],
}
UNREAD = [
    "",
    " \n",
    "…",
    "I'm sorry, I can't help with that.",
    "I’m sorry, but I cannot grade this as CORRECT.",
    "I am unable to determine whether this is correct.",
    "It is either CORRECT or INCORRECT",
    "A B",
    "A or B",
    "A, B",
    "A/B/C",
    "A\nB",
    "Grade: A or B",
    "Grade: A, B, or C",
    "Grade: CORRECT/INCORRECT/NOT_ATTEMPTED",
    "B: CORRECT",
    "B CORRECT",
    "A judge would say that",
    "A correct reply would name Redis.",
    "A CORRECT answer would name Redis.",
    "Grade: a judge decides",
    "The correct answer is Paris.",
    "The correct answer is C, the prediction is Java.",
    "Any incorrect password is refused.",
    "C++",
    "C#",
    "Grade: C++",
    "C:\\Users",
    "A+",
    "Vitamin C",
    "uncorrect",
    "correctly",
    "CORRECTED",
    "Grade: CORRECTED",
    "It is not fully correct.",
    "It isn't correct.",
    "partially CORRECT",
    "It is not incorrect.",
    "Neither CORRECT nor INCORRECT",
    "IN CORRECT",
    "Grade: \u0131ncorrect",
    "I can't tell whether it is or is not correct.",
    "Correct or incorrect?",
    "The grade is CORRECT, not INCORRECT",
    "<think>A",
    "B<think>A",
    "<think>A</think>",
    '{"grade": "C',
    '{"grade": null}',
    '{"grade": 1}',
    '{"grade": "D"}',
    '{"grade": "A", "grade": "B"}',
    '{"reason": "fine"}',
    'Just return the letters "A", "B", or "C".',
    "D",
    "42",
]


@pytest.mark.parametrize(("text", "grade"), [(text, grade) for grade, texts in READ.items() for text in texts])
def test_what_is_read(text, grade):
    verdict = parse_verdict(text)
    assert (verdict.grade, verdict.reason) == (grade, "")


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_no_verdict_has_a_reason(text):
    verdict = parse_verdict(text)
    assert verdict.grade is None
    assert verdict.reason


def test_the_reasons_tell_the_cases_apart():
    cases = {
        "": "empty",
        "<think>A": "cut off",
        "I'm sorry, I can't.": "refused",
        "A\nB": "ambiguous",
        "42": "no verdict",
    }
    assert all(word in parse_verdict(text).reason for text, word in cases.items())


@given(
    st.text()
    | st.lists(st.sampled_from([*"ABC abc\n{}[]\"':.*_`\\<>", "correct", "IN", "not ", "grade", "think>"])).map("".join)
)
def test_any_text_is_a_verdict_or_a_reason(text):
    verdict = parse_verdict(text)
    assert (verdict.grade in GRADES) != bool(verdict.reason)


FORMS = {
    "CORRECT": ["A", "CORRECT"],
    "INCORRECT": ["B", "INCORRECT"],
    "NOT_ATTEMPTED": ["C", "NOT_ATTEMPTED", "not attempted"],
}
SAID = st.sampled_from([(form, grade) for grade, forms in FORMS.items() for form in forms])
CASES = st.sampled_from([str, str.lower, str.upper, str.title])
WRAPS = st.sampled_from(
    [
        "{}",
        "**{}**",
        "*{}*",
        "`{}`",
        "__{}__",
        "({})",
        "[{}]",
        '"{}"',
        "# {}",
        "> {}",
        "- {}",
        "```\n{}\n```",
        "\\boxed{{{}}}",
    ]
)
LEADS = st.sampled_from(
    ["", "Grade: ", "**Verdict:** ", "The answer is: ", "Final answer: ", "<think>A or B, C</think>"]
)


@given(
    SAID,
    CASES,
    WRAPS,
    st.text(" \t\n", max_size=3),
    st.text(" \t\n", max_size=3),
    st.sampled_from(["", ".", "!", "。", ";"]),
)
def test_decoration_changes_no_verdict(said, case, wrap, before, after, end):
    form, grade = said
    assert parse_verdict(before + wrap.format(case(form)) + end + after).grade == grade


@given(LEADS, SAID, CASES, st.sampled_from(["", ".", "\n\nThat is all."]))
def test_labels_and_reasoning_change_no_verdict(lead, said, case, end):
    form, grade = said
    assert parse_verdict(lead + case(form) + end).grade == grade


@given(
    st.sampled_from(["incorrect", "not correct", "INCORRECT", "Not correct", "not fully correct", "never CORRECT"]),
    LEADS,
    st.sampled_from(["The answer is {}.", "{}", "It is {}, sadly.", "**{}**"]),
)
def test_incorrect_is_never_correct(word, lead, sentence):
    assert parse_verdict(lead + sentence.format(word)).grade != "CORRECT"


@given(SAID, SAID, st.sampled_from([" or ", "\n", "/", ", ", " and "]))
def test_two_verdicts_are_none(one, other, between):
    if one[1] != other[1]:
        assert parse_verdict(one[0] + between + other[0]).grade is None


@pytest.mark.parametrize(
    "piece",
    ["{", '{"a":', "not ", "grade ", "A ", "<think>", "</think>", "I'm sorry ", "\\boxed{", " ", "(", "answer is "],
)
def test_long_hostile_texts_are_bounded(piece):
    """Patterns that search a text quadratically would take hours without a bound on its length."""
    assert parse_verdict(piece * (20_000 // len(piece))).grade is None
    assert parse_verdict(piece * 200_000).grade is None
