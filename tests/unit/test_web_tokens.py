"""Estimating and cutting by tokens."""

import re

from hypothesis import given
from hypothesis import strategies as st

from devqa.tokens import at_line_end, cut, estimate


def test_estimates_are_on_the_safe_side_of_what_tokenizers_count():
    # Characters per token of current tokenizers: English 4.5, Russian 3.8, Chinese 1.4, code 3.
    assert estimate("") == 0
    assert 45 <= estimate("word " * 40 + "x") * 0.9 <= 60
    assert 140 / 3.8 <= estimate("слово " * 20 + "при" * 6 + "ве") <= 60
    assert estimate("数据库索引结构" * 20) == 100
    assert estimate("x[i] = {'a': f(b)};\n" * 30) >= 600 / 3


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_longer_text_never_has_fewer_tokens(one, two):
    assert max(estimate(one), estimate(two)) <= estimate(one + two) <= estimate(one) + estimate(two)


def alone(character: str) -> int:
    """84ths of a token that one character stands for."""
    if re.match(r"[A-Za-z\s]", character):
        return 24
    if re.match(r"[\u0400-\u04ff]", character):
        return 28
    if re.match(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]", character):
        return 60
    return 56 if "!" <= character <= "~" else 84


@given(st.text(max_size=100) | st.text(alphabet="aZ0~!\t\x1c\x7f\x85\u00a0\u3000дя数é🙂\ud800", max_size=100))
def test_every_character_counts_by_its_script(text):
    assert estimate(text) == -(-sum(map(alone, text)) // 84)


@given(st.text(alphabet="ab\n 数д{🙂", max_size=200), st.integers(0, 60))
def test_a_cut_is_a_prefix_that_fits_and_as_long_as_can_be(text, tokens):
    piece = cut(text, tokens)
    assert text.startswith(piece)
    assert estimate(piece) <= tokens
    if estimate(text) <= tokens:
        assert piece == text
    elif not piece.endswith("\n"):
        assert estimate(text[: len(piece) + 1]) > tokens


def test_a_cut_ends_after_a_line_only_where_one_is_near():
    assert at_line_end("aaaaaaaa\nbbbb", 10) == "aaaaaaaa\n"
    assert at_line_end("a\nbbbbbbbbbbbb", 10) == "a\nbbbbbbbb"
