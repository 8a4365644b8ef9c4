"""Passages and their ranking."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devqa.tokens import estimate
from devqa.web.passages import GAP, cut_up, packed, passages, rank

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


def test_long_paragraphs_are_cut_between_sentences_then_between_words():
    sentences = [f"Sentence {number} says something quite short." for number in range(12)]
    assert all(piece.rstrip().endswith("short.") for piece in passages(" ".join(sentences), 60))
    lines = [f"key_{number} = {number} # and a word or two" for number in range(30)]
    assert all(line in lines for piece in passages("\n".join(lines), 60) for line in piece.splitlines())
    words = [f"word{number}" for number in range(200)]
    assert all(word in words for piece in passages(" ".join(words), 30) for word in piece.split())
    chinese = ["数据库的默认端口是这样的一个数字。"] * 20
    assert all(piece.endswith("。") for piece in passages("".join(chinese), 50))


def test_a_passage_knows_the_headings_above_it_and_is_found_by_them():
    body = "\n\n".join(f"Paragraph {number} of the text says little." for number in range(8))
    text = f"# Guide\n\n{body}\n\n## Ports\n\n{body}\n\n### Ranges\n\n{body}\n\n## Users\n\n{body}"
    pieces = cut_up("u", "Guide", text, 40)
    above = dict.fromkeys(piece.above for piece in pieces if not piece.text.startswith("#"))
    assert [*above] == [
        ("# Guide",),
        ("# Guide", "## Ports"),
        ("# Guide", "## Ports", "### Ranges"),
        ("# Guide", "## Users"),
    ]
    assert "Paragraph" in rank("ranges", pieces, 5)[1]["text"]


def test_a_heading_in_code_is_none():
    text = "# Guide\n\n```sh\n# list all\nls\n```\n\n" + "A paragraph with some words. " * 9
    assert {piece.above for piece in cut_up("u", "t", text, 30)} == {(), ("# Guide",)}


FILLER = "\n\n".join(f"Nothing of interest is said in paragraph {number} of this page." for number in range(40))


def page(text, title="Page"):
    return {"url": "https://e.example", "title": title, "text": text}


def test_documents_that_fit_are_shown_as_they_are():
    documents = [page("One.\n\n\n  Two."), page(""), page("数据")]
    assert packed(documents, "anything", 50) == ["One.\n\n\n  Two.", "", "数据"]


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        ("max_connections is 100 by default.", "How many connections, by default?"),
        ("最大连接数默认为一百。", "默认的最大连接数"),
        ("По умолчанию разрешено сто соединений.", "сколько разрешено соединения"),
    ],
)
def test_what_is_wanted_is_packed_in_every_language_we_serve(fact, wanted):
    documents = [page(FILLER), page(f"{FILLER}\n\n## Limits\n\n{FILLER}\n\n{fact}\n\n{FILLER}")]
    shown = packed(documents, wanted, 150)
    assert fact in shown[1]
    assert sum(map(estimate, shown)) <= 150


def test_what_was_left_out_is_seen_and_the_nearest_heading_stays():
    text = f"# Top\n\n{FILLER}\n\n## Limits\n\n{FILLER}\n\nzebra\n\n{FILLER}"
    (shown,) = packed([page(text)], "zebra", 120)
    blocks = shown.split("\n\n")
    assert blocks[-1] == GAP
    zebra = blocks.index("zebra")
    before = [block for block in blocks[:zebra] if not block.startswith("Nothing")]
    assert before[-2:] == [GAP, "## Limits"] or before[-1] == GAP and "## Limits" in before


def test_passages_that_follow_each_other_have_no_gap_between_them():
    paragraphs = [f"zebra {number} " + "word " * 20 for number in range(4)]
    (shown,) = packed([page("\n\n".join([*paragraphs, FILLER]))], "zebra", 200)
    assert shown.index("zebra 0") < shown.index("zebra 3") < shown.index(GAP)


def test_a_heading_is_never_shown_without_what_stands_below_it():
    # Each block fits into a passage, but not with its heading.
    block = "```\n" + "zebra = 1  # and so on\n" * 7 + "```"
    assert 50 < estimate(block) <= 60 < estimate(f"## Of zebras\n\n{block}")
    text = f"{FILLER}\n\nSmall.\n\n## Of zebras\n\n{block}\n\n## Of horses\n\n{block.replace('zebra', 'horse')}"
    (shown,) = packed([page(text)], "zebra", 240)
    assert f"## Of zebras\n\n{block}" in shown
    assert "## Of horses\n\n[…]" not in shown and not shown.endswith("## Of horses")


@given(st.lists(_BLOCK.filter(lambda block: "x" not in block), max_size=12), st.integers(40, 90))
def test_a_passage_ends_with_a_heading_only_where_it_is_nothing_else(blocks, tokens):
    found = passages("\n\n".join([*blocks, "end"]), tokens)
    for piece in found:
        assert piece.splitlines()[-1] != "# Head" or {*piece.split("\n\n")} == {"# Head"}


def test_scraps_that_nobody_wanted_fill_no_room():
    cut = f"{FILLER}\n\n" + "\n\n".join(f"## 2{year}\n\n{year}" for year in range(10))
    scraps = "2023-02-11"
    (one, other) = packed([page(f"{FILLER}\n\n```\n{'x = 1 ' * 90}\n```\n\n{scraps}"), page(cut)], "interest", 150)
    assert "interest" in one + other
    assert scraps not in one


def test_where_nothing_matches_every_document_shows_its_beginning():
    beginnings = [f"Beginning {number} of a document.\n\n" for number in range(3)]
    shown = packed([page(beginning + FILLER) for beginning in beginnings], "зебра", 240)
    assert [text.startswith(beginning.strip()) for text, beginning in zip(shown, beginnings, strict=True)] == [True] * 3


_DOCUMENTS = st.lists(st.lists(_BLOCK, max_size=8), max_size=4)


@given(_DOCUMENTS, st.sampled_from(["one two", "数据库", "слово", "item head", ""]), st.integers(20, 300))
@example([["# Head"] * 3 + ["- item\n- item"] * 2 + ["# Head"]], "one two", 20)
def test_what_is_packed_fits_and_keeps_the_order_of_its_document(blocks, wanted, tokens):
    documents = [page("\n\n".join(each)) for each in blocks]
    shown = packed(documents, wanted, tokens)
    assert sum(map(estimate, shown)) <= tokens
    for document, text in zip(documents, shown, strict=True):
        left = "".join(document["text"].split())
        for part in text.split(GAP):
            lines = [line for line in part.splitlines() if line.strip()]
            # A heading may be shown again above a passage.
            lines = lines[1:] if lines and lines[0] == "# Head" else lines
            squeezed = "".join("".join(lines).split())
            assert squeezed in left
            left = left[left.index(squeezed) + len(squeezed) :]
    # Headings alone say nothing.
    if any(set(each) - {"# Head"} for each in blocks):
        assert any(shown)
