"""The confidence that a model states at the end of its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.steps.confidence import split


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("Confidence: 80", 80),
        ("Confidence: 0", 0),
        ("Confidence: 100", 100),
        ("confidence:7", 7),
        ("CONFIDENCE : 55", 55),
        ("  Confidence:\t80  ", 80),
        ("Confidence: 80%", 80),
        ("Confidence: 80 %", 80),
        ("**Confidence: 80**", 80),
        ("**Confidence:** 80", 80),
        ("**Confidence**: **80**%", 80),
        ("*Confidence: 80%*", 80),
        ("Confidence：80", 80),  # noqa: RUF001 -- the colon of Chinese texts
    ],
)
def test_the_form_that_was_asked_for_is_read(line, stated):
    assert split(f"It is 1m.\n{line}") == ("It is 1m.", stated)
    assert split(f"It is 1m.\n\n  \n{line}\r\n\n ") == ("It is 1m.", stated)
    assert split(line) == ("", stated)


@pytest.mark.parametrize(
    "line",
    [
        *("Confidence: 80-90", "Confidence: 80 to 90", "Confidence: 80, 90", "Confidence: 80/100"),
        *("Confidence: high", "Confidence: about 80", "Confidence: 80 percent", "Confidence: N", "Confidence:", "80"),
        *(
            "Confidence: 101",
            "Confidence: 1000",
            "Confidence: -5",
            "Confidence: +5",
            "Confidence: 0.9",
            "Confidence: 80.0",
        ),
        *(
            "Confidence: 80.",
            "Confidence: 80!",
            "Confidence: 080",
            "Confidence: 1e2",
            "Confidence: 8 0",
            "Confidence: 80%%",
        ),
        *(
            "My confidence: 80",
            "Confidence: 80 (fairly sure)",
            "Confidence 80",
            "Confidence = 80",
            "Confidence level: 80",
        ),
        *("# Confidence: 80", "`Confidence: 80`", "- Confidence: 80", "_Confidence: 80_", "Confidence: 80```"),
        *("Confidence: ٨٠", "Confidence: ８０", "Confidence: 80％", "Сonfidence: 80"),  # noqa: RUF001
        *("置信度: 80", "Уверенность: 80", "Confidence of 80: 80"),
        "It is 1m. Confidence: 80",
    ],
)
def test_whatever_else_is_there_makes_it_unreadable(line):
    text = f"It is 1m.\n{line}"
    assert split(f"{text}\n") == (text, None)


def test_only_the_last_line_counts():
    assert split("Confidence: 20\nIt is 1m.") == ("Confidence: 20\nIt is 1m.", None)
    assert split("Confidence: 20\nIt is 1m.\nConfidence: 30") == ("Confidence: 20\nIt is 1m.", 30)
    assert split("It is 1m.\nConfidence: 80\nThat is all.") == ("It is 1m.\nConfidence: 80\nThat is all.", None)
    assert split("") == split(" \n ") == ("", None)


@given(st.text(), st.integers(0, 100))
def test_an_answer_comes_out_as_it_went_in_whatever_it_says(answer, stated):
    assert split(f"{answer}\nConfidence: {stated}") == (answer.strip(), stated)


@given(st.text(alphabet="Confidence: 0123456789%*.-\n\r\t xyÄ：", max_size=40))  # noqa: RUF001
def test_what_can_be_read_is_a_number_from_0_to_100(text):
    answer, stated = split(text)
    assert stated is None or (0 <= stated <= 100 and stated == int(stated))
    assert answer in text
    assert (answer == text.strip()) == (stated is None)
