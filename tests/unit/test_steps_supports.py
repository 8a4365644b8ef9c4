"""Sentences looked for in the text of their page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.steps.sentences import numbered, pieces
from devqa.steps.supports import Page, standing

PAGE = """# Core module

- **client_max_body_size** sets the “limit” of a [body](https://e.example/body). Its default is `1m` – not `8m`!
The option is not enabled by default. It takes at most 10² entries, that is 100.

# Port 22 is the default

```conf
# PermitRootLogin no
Port 22;
let mode = 'a';
```

1. Run `git add .` now, then ‑‑force‑with‑lease is safe
2. Use save! to raise an error, and `save` to get false.
This line is wrapped
and goes on here. The conﬁguration ends.

普通的 map 不支持并发写入。默认端口是8080。
Опция по умолчанию не включена.
| a table | of two |
"""


def match(span):
    return Page(PAGE).match(span)


@pytest.mark.parametrize(
    "span",
    [
        "The option is not enabled by default.",
        "The  option is\tnot enabled by default.",
        "The option is not enabled by default. It takes at most 10² entries, that is 100.",
        "Its default is `1m` – not `8m`!",
        "Port 22;",
        "# PermitRootLogin no",
        "This line is wrapped and goes on here.",
        "普通的 map 不支持并发写入。",
        "默认端口是8080。",
        "Опция по умолчанию не включена.",
        "| a table | of two |",
    ],
)
def test_whole_sentences_are_found_to_the_letter(span):
    assert match(span) == "exact"


@pytest.mark.parametrize(
    "span",
    [
        'client_max_body_size sets the "limit" of a body.',
        '* client_max_body_size sets the "limit" of a body',
        "Its default is 1m - not 8m!",
        "It takes at most 10² entries, that is 100",
        "普通的map不支持并发写入。",
        "默认端口是 8080。",
        "Use save! to raise an error and save to get false.",
        "The configuration ends.",
        "1. Run git add . now, then --force-with-lease is safe.",
    ],
)
def test_what_is_only_set_otherwise_is_found_nearly(span):
    assert match(span) == "near"


@pytest.mark.parametrize(
    "span",
    [
        # A negation, a digit, a sign, a letter of a name, a capital, another order.
        "The option is enabled by default.",
        "Its default is `1m` – not `9m`!",
        "Its default is `1M` – not `8m`!",
        "Its default is 1m not 8m!",
        "It takes at most 102 entries, that is 100.",
        "It takes at most 10 entries, that is 100.",
        "1. Run git add . now, then -force-with-lease is safe",
        "1. Run git add now, then --force-with-lease is safe",
        "2. Run `git add .` now, then --force-with-lease is safe",
        "2. Use save to raise an error, and `save` to get false.",
        'clientmaxbodysize sets the "limit" of a body.',
        'client_max_body_sizes sets the "limit" of a body.',
        'Client_max_body_size sets the "limit" of a body.',
        "The option is not by default enabled.",
        "普通的 map 支持并发写入。",
        "默认端口是8081。",
        "Опция по умолчанию включена.",
        "| a table | or two |",
        # Code: whole lines, and nothing of them otherwise.
        "PermitRootLogin no",
        "Port 22",
        "let mode = a;",
        'let mode = "a";',
        "let mode = 'a'; Run `git add .` now",
        # Parts of sentences, and what only a heading says.
        "enabled by default.",
        "The option is not",
        "This line is",
        "goes on here.",
        "Port 22 is the default",
        "and goes on",
        "",
        "...",
        "Something else altogether.",
    ],
)
def test_what_may_turn_the_truth_over_is_not_found(span):
    assert match(span) is None


def test_a_sentence_is_found_though_a_part_of_another_reads_the_same_before():
    page = Page("See: the default of it is 1m.\nUnless the default of it is 1m. Else\nthe default of it is 1m.")
    assert page.match("the default of it is 1m.") == "exact"


def test_stars_in_code_are_no_emphasis():
    page = Page("Use `*_test` or `test_*` as patterns. It is **`very`** *useful* to `find *` and *you*.")
    assert page.match("Use `_test` or `test_` as patterns.") is None
    assert page.match("It is very useful to find * and you.") == "near"


@given(st.text(max_size=300))
def test_every_sentence_of_a_text_stands_in_it(text):
    page = Page(text)
    for _, sentence in numbered([text], lambda *_: True)[1]:
        assert page.match(sentence) == "exact"


_WORDS = st.sampled_from(
    ["the", "`port`", "is", "not", "8080", "max_size", "--force", "**on**", "“off”", "数据", "не", "Go."]
)


@given(st.lists(st.lists(_WORDS, min_size=2, max_size=8).map(" ".join), min_size=1, max_size=5), st.data())
def test_a_word_more_or_less_or_another_is_never_found_unless_it_stands_elsewhere(lines, data):
    words = data.draw(st.sampled_from(lines)).split()
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [
        *words[:place],
        *data.draw(st.sampled_from([[], ["zebra"], ["zebra", words[place]]])),
        *words[place + 1 :],
    ]
    span = " ".join(changed)
    page = Page("\n".join(lines))
    if "zebra" in span:
        assert page.match(span) is None
    elif page.match(span):
        whole = [" ".join(piece.split()) for line in lines for piece in pieces(line)]
        plain = [each.translate(str.maketrans("", "", "`*.")).replace("“", '"').replace("”", '"') for each in whole]
        wanted = span.translate(str.maketrans("", "", "`*.")).replace("“", '"').replace("”", '"')
        assert wanted.replace(" ", "") in "".join(plain).replace(" ", "")


def test_a_long_page_is_looked_through_in_a_moment():
    # Each sentence is found by a search for a string: what is compared letter by letter would take minutes.
    lines = [
        f"Sentence {number} of a long page says that value {number * 7} is allowed here." for number in range(3_000)
    ]
    page = Page("\n".join(lines))
    assert len("\n".join(lines)) > 190_000
    assert {page.match(line) for line in lines} == {"exact"}
    assert {page.match(line.replace("allowed", "forbidden")) for line in lines[:500]} == {None}


@pytest.mark.parametrize(
    "hostile", ["[", "[a](", "*a ", "`", "**a`b", "- ", "a. A", "aaaa ", "aaaa aaaa\n", "(`*", "```"]
)
def test_a_hostile_page_takes_no_longer(hostile):
    page = Page(hostile * (200_000 // len(hostile)))
    assert page.match("aaaa aaaa aaaa aaab") is None
    assert page.match("[a](b b b") is None


def test_of_a_copy_what_does_not_stand_is_taken_out():
    copied, invented = "Its default is 1m - not 8m!", "Its default is 2m."
    copy = f"# Core module\n\n{copied} {invented}\n\n# In short\n\n```\nPort 22;\nPort 23;\n}}\n```"
    assert standing(copy, Page(PAGE)) == "# Core module\n\nIts default is 1m - not 8m!\n\n\n```\nPort 22;\n}\n```"


@pytest.mark.parametrize("copy", ["", "}\n```", "The default is 2m.\n}\n"])
def test_a_copy_of_nothing_leaves_nothing(copy):
    assert standing(copy, Page(PAGE)) == ""


@given(st.text(max_size=200))
def test_a_faithful_copy_stays(text):
    kept = standing(text, Page(text))
    says = numbered([text], lambda *_: True)[1]
    assert not says or "".join(kept.split()) == "".join(text.split())
