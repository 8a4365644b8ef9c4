"""Passages and their ranking."""

import re

from hypothesis import given
from hypothesis import strategies as st

from devqa.tokens import estimate
from devqa.web.passages import cut_up, passages, rank

_BLOCK = st.sampled_from(
    [
        "# Head",
        "one two three four",
        "слово " * 9,
        "数据库" * 9,
        "```py\na = 1\n\n\nb = 2\n```",
        "x" * 300,
        "- item\n- item",
    ]
)


@given(st.lists(_BLOCK, max_size=12), st.integers(12, 60))
def test_passages_fit_and_leave_nothing_out(blocks, tokens):
    text = "\n\n".join(blocks)
    found = passages(text, tokens)
    assert all(0 < estimate(piece) <= tokens for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


@given(st.lists(_BLOCK.filter(lambda block: "x" not in block), max_size=12), st.integers(40, 90))
def test_code_that_fits_is_never_cut(blocks, tokens):
    for piece in passages("\n\n".join(blocks), tokens):
        assert len(re.findall("^```", piece, re.MULTILINE)) % 2 == 0


def test_a_section_begins_a_passage_once_the_one_before_is_big_enough():
    one, two = "# One\n\nword" + " word" * 39, "# Two\n\nword" + " word" * 39
    assert passages(f"{one}\n\n{two}", 90) == [one, two]


def test_an_absurd_limit_ends():
    assert "".join(passages("数据", 0)) == "数据"


def test_the_passage_that_answers_comes_first():
    filler = "\n\n".join(
        f"## Part {i}\n\nNothing of interest is said about the weather in part {i}." for i in range(20)
    )
    documents = [
        ("https://a.example", "Weather", filler),
        ("https://b.example", "PostgreSQL", f"{filler}\n\n## Limits\n\n`max_connections` is 100 by default."),
    ]
    pieces = [piece for document in documents for piece in cut_up(*document, 60)]
    best, *_ = rank("What is the default of max_connections?", pieces, 3)
    assert best["url"] == "https://b.example"
    assert best["title"] == "PostgreSQL"
    assert "100 by default" in best["text"]
    assert best["score"] > 0


def test_a_question_that_shares_no_word_finds_nothing():
    assert rank("зебра", cut_up("u", "Title", "Some text.", 100), 5) == []
    assert rank("zebra", [], 5) == []
