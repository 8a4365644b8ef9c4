"""Comparing texts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.text import literal, plain


def occurs(span, text):
    return bool(plain(span)) and plain(span) in plain(text)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ("The default is 1m.", "Limits. THE  DEFAULT\nis 1m. Then more."),
        ("Use foo, then bar.", "Use `foo`, then **bar**."),
        ("Use `foo`, then **bar**.", "Use foo, then bar."),
        ("name type", "| name | type |\n|---|---|"),
        ("Heading text", "## Heading\n> text"),
        ("caf\u00e9", "cafe\u0301"),
        ("file 12", "\ufb01le １２"),
        ("zero width", "ze\u200bro wi\u00addth\ufeff"),
        ('it\'s "quoted" - so', "it’s “quoted” – so"),
        ("联合索引 (B+)", "联合索引 （B+）"),
        ("ОТМЕНА", "отмена коммита"),
    ],
)
def test_a_span_is_found_whatever_its_form(span, text):
    assert occurs(span, text)


@pytest.mark.parametrize(
    ("span", "text"),
    [("", "text"), (" \n", "text"), ("**", "a ** b"), ("\u200b", "\u200b"), ("foo", ""), ("1 m", "1m")],
)
def test_nothing_occurs_nowhere_and_other_words_do_not(span, text):
    assert not occurs(span, text)


@given(st.text(), st.data())
def test_any_run_of_words_of_a_text_occurs_in_it(text, data):
    words = text.split()
    start = data.draw(st.integers(0, len(words)))
    span = " ".join(words[start : data.draw(st.integers(start, len(words)))])
    assert occurs(span, text) or not plain(span)


@given(st.text())
def test_the_unicode_form_makes_no_difference(text):
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert plain(unicodedata.normalize(form, text)) == plain(text)
        assert literal(unicodedata.normalize(form, text)) == literal(text)


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C#"), ("-r", "-R"), ("*", "|"), ("#", ">"), ("**kwargs", "*kwargs"), ("__init__", "init")]
)
def test_signs_and_case_tell_short_answers_apart(one, other):
    assert literal(one) != literal(other)


@pytest.mark.parametrize(("one", "other"), [("`1m`", " 1m\n"), ("git  add", "git add"), ("``a``", "a"), ("１", "1")])
def test_white_space_and_code_marks_do_not(one, other):
    assert literal(one) == literal(other)


@given(st.text())
def test_only_white_space_is_nothing(text):
    assert bool(literal(text)) == bool(unicodedata.normalize("NFKC", text).strip())
