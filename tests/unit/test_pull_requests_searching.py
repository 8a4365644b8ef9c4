"""What plain search finds of a question."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.pull_requests.questions import searching
from devqa.pull_requests.questions.searching import Found, keywords, searched

FILES = [
    ("shop/basket.py", b"def best_discount(items):\n    return max(Discount.of(item) for item in items)\n"),
    ("shop/till.py", b"# Pays what the basket holds\ntotal = basket.total\n"),
    ("docs/rules.py", b"# the BASKET, the basket and best_discounts\n"),
]


def found(question, path="shop/basket.py", files=FILES, rare=1):
    (only,) = searched({"q": question}, {"q": {path}}, files, rare).values()
    return only


def test_keywords_are_what_somebody_might_search_for():
    assert keywords("How does the HttpClient use max_size, and why is 404 or an x in it?") == {"httpclient", "max_size"}
    assert keywords("Как бот выбирает utf8?") == {"как", "бот", "выбирает", "utf8"}
    assert keywords("Is it on?") == set()


def test_a_rare_word_in_a_file_of_the_question_finds_it():
    assert found("Which discount do items get?") == Found(["discount", "items"], 1)


@pytest.mark.parametrize(
    ("question", "path", "rare", "by"),
    [
        # Whole words, in any case; a name of code is one word.
        ("What is the best discount?", "shop/basket.py", 1, ["discount"]),
        ("What does best_discount do?", "shop/basket.py", 1, ["best_discount"]),
        ("What does BEST_DISCOUNT do?", "shop/basket.py", 1, ["best_discount"]),
        # In too many files, or in a file that the question does not rest on.
        ("What is in the basket?", "shop/till.py", 1, []),
        ("What is in the basket?", "shop/till.py", 2, ["basket"]),
        ("What is in the basket?", "shop/basket.py", 5, []),
        ("What is missing?", "shop/basket.py", 5, []),
        ("Why so?", "shop/basket.py", 5, []),
    ],
)
def test_what_finds_something(question, path, rare, by):
    assert found(question, path, rare=rare) == Found(by, 1 if by else 0)


def test_files_are_counted_once_and_read_once_for_all_questions():
    read = []

    def files():
        for path, content in FILES:
            read.append(path)
            yield path, content

    questions = {"a": "Which discount is in the basket of items?", "b": "What is the total?", "c": "Why?"}
    paths = {"a": {"shop/basket.py", "shop/till.py"}, "b": {"shop/till.py"}, "c": {"shop/till.py"}}
    assert searched(questions, paths, files(), 2) == {
        "a": Found(["basket", "discount", "items"], 2),
        "b": Found(["total"], 1),
        "c": Found([], 0),
    }
    assert read == [path for path, _ in FILES]


def test_nothing_is_read_for_no_question():
    assert searched({}, {}, (pytest.fail("read") for _ in "a"), 1) == {}


def test_hostile_files_are_searched_too():
    files = [
        ("shop/basket.py", b"\xff\xfe\x00discount\x00" + b"x" * 5_000_000),
        ("long.py", b"word " * 1_000_000 + b"customer"),
    ]
    assert found("Which discount?", files=files).by == ["discount"]
    assert found("Which customer?", "long.py", files).by == ["customer"]


TEXT = st.lists(
    st.sampled_from(["alpha", "beta", "alphabet", "Beta", "gamma_ray", "-", "\n", "é", " ", ".", "x"]), max_size=40
)


@given(TEXT.map("".join), st.integers(1, 9))
def test_a_window_cuts_no_word(text, window):
    before, searching._WINDOW = searching._WINDOW, window
    try:
        by = found("alpha beta gamma_ray", files=[("shop/basket.py", text.encode())]).by
    finally:
        searching._WINDOW = before
    assert by == sorted({"alpha", "beta", "gamma_ray"} & set(re.findall(r"\w+", text.lower())))
