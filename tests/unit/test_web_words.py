"""Words for BM25."""

from hypothesis import given
from hypothesis import strategies as st

from devqa.web.words import words


def test_names_from_code_are_kept_whole_and_in_parts():
    assert words("C++") == ["c++", "c"]
    assert words("std::vector<int>") == ["std::vector", "std", "vector", "int"]
    assert words("list.sort()") == ["list.sort", "list", "sort"]
    assert words("max_connections=100") == ["max_connections", "max", "connect", "100"]


def test_inflected_words_meet():
    assert words("running queries") == words("runs query")
    assert words("базами данных") == words("базы данных")
    assert words("Ещё") == words("еще")


def test_chinese_is_segmented_with_the_words_inside_words():
    assert {"联合", "索引"} <= set(words("MySQL联合索引失效"))
    assert words("MySQL联合索引")[0] == "mysql"


def test_full_width_letters_are_plain_ones():
    assert words("ＳＱＬ") == words("sql")


def test_minified_blobs_are_left_out():
    assert words("a" * 65) == []


@given(st.text())
def test_words_hold_no_white_space_and_are_the_same_every_time(text):
    found = words(text)
    assert all(word and not any(map(str.isspace, word)) for word in found)
    assert found == words(text)
