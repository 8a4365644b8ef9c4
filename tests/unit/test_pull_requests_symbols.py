"""Facts and answers whose substance is a symbol are facts and answers."""

import string
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pulled
from devqa.pull_requests.questions.answering import answers
from devqa.pull_requests.questions.comparing import likeness, restates, says_nothing
from devqa.pull_requests.questions.facts import RESTATED, TWICE, facts
from standins import Model, answered, assert_sound, prompt

SYMBOLS = st.text(
    st.characters(categories=("P", "S", "N", "L"), exclude_characters="`").filter(
        lambda letter: unicodedata.category(letter) != "Lm"
    ),
    min_size=1,
    max_size=4,
)
OTHERS = st.text(st.sampled_from(string.punctuation + "→≤§"), min_size=1, max_size=3)


def cut(*entries, question="What is it?"):
    said = answered({"facts": [{"fact": fact, "importance": importance} for fact, importance in entries]})
    (row,) = facts([pulled.answer(question=question)], Model.saying([said]), prompt("pull_requests/facts"), most=35)
    assert_sound([row], "pull_facts")
    return row


def reasons(row):
    return [(entry["fact"], entry.get("reason", "")) for entry in row["facts"]]


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Which character marks a comment line?", "The character `#` marks a comment line."),
        ("Which character marks a comment line?", "The character # marks a comment line."),
        ("Which character ends a statement?", "The character ; ends a statement."),
        ("Which prefix marks a flag?", "The prefix `is` marks a flag."),
        ("Which prefix marks a flag?", 'The prefix "is" marks a flag.'),
        ("Which prefix marks a flag?", "The prefix “it is” marks a flag."),
        ("Which operator compares versions?", "The operator >= compares versions."),
        ("Which option makes the copy recursive, -r?", "The option -R makes the copy recursive."),
        ("How many digests does the writer keep?", f"The writer keeps digests: {'0f' * 64}."),
    ],
)
def test_a_fact_that_adds_a_symbol_to_the_question_is_one(question, fact):
    row = cut((fact, "vital"), question=question)
    assert (row["status"], reasons(row)) == ("ok", [(fact, "")])


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("Which character marks a comment line?", "A character marks a comment line."),
        ("Which character marks a comment line?", "The *character* marks a comment line"),
        ("How does the HTTP/2 client's fall-back work?", "The HTTP/2 client's fall-back works."),
        ("How does version 3.11 read `x`?", "Version 3.11 reads `x`."),
    ],
)
def test_a_fact_that_adds_nothing_to_the_question_is_none(question, fact):
    assert reasons(cut((fact, "vital"), question=question)) == [(fact, RESTATED)]


@given(OTHERS, st.sampled_from(["%s", "`%s`", '"%s"', "'%s'"]))
def test_whatever_symbol_a_fact_adds_it_says_more_than_the_question(symbol, frame):
    assert not restates(f"The character {frame % symbol} marks a comment.", "Which character marks a comment?")


def test_facts_that_differ_in_a_symbol_are_several():
    entries = [(f"It accepts `{symbol}`.", "vital") for symbol in (">", "|", "#", "*", "_", "**", "..", "-r", "-R")]
    assert reasons(cut(*entries)) == [(fact, "") for fact, _ in entries]


@given(SYMBOLS, SYMBOLS)
def test_code_that_differs_makes_facts_differ(one, other):
    assume(one != other)
    assert likeness(f"It accepts `{one}`.") != likeness(f"It accepts `{other}`.")


@given(OTHERS, OTHERS)
def test_symbols_that_differ_make_facts_differ(one, other):
    assume(one != other)
    assert likeness(f"It accepts {one} and no more.") != likeness(f"It accepts {other} and no more.")


@pytest.mark.parametrize(
    "other",
    [
        "it accepts x_y and waits",
        "  It accepts `x_y`  and Waits.",
        "IT accepts x_y AND waits.",
        "It *accepts* x_y and **waits**.",
        "It accepts `x_y` and *waits.*",
        "It\xa0accepts x_y\nand waits.",
    ],
)
def test_facts_that_differ_in_their_dress_are_one(other):
    row = cut(("It accepts x_y and waits.", "vital"), (other, "vital"))
    assert [reason for _, reason in reasons(row)] == ["", TWICE]


@pytest.mark.parametrize(("one", "other"), [("okay", "vital"), ("vital", "okay"), ("vital", "vital"), ("okay", "okay")])
def test_of_equal_facts_a_vital_one_is_kept_at_the_first_one_s_place(one, other):
    row = cut(("The wait doubles.", one), ("It is ten.", "okay"), ("The wait doubles", other))
    assert [(entry["importance"], entry.get("reason")) for entry in row["facts"]] == [
        ("vital" if "vital" in (one, other) else "okay", None),
        ("okay", None),
        ("okay" if "okay" in (one, other) else "vital", TWICE),
    ]
    assert "doubles" in row["facts"][0]["fact"]
    assert row["status"] == ("ok" if "vital" in (one, other) else "rejected")


@given(st.lists(st.tuples(st.sampled_from(["X.", "x", "`#`", "b"]), st.sampled_from(["vital", "okay"])), max_size=8))
def test_no_fact_is_lost_and_no_vital_one_gives_way(entries):
    row = cut(*entries)
    assert sorted((entry["fact"], entry["importance"]) for entry in row["facts"]) == sorted(entries)
    kept = {likeness(entry["fact"]): entry["importance"] for entry in row["facts"] if "reason" not in entry}
    assert len(kept) == sum("reason" not in entry for entry in row["facts"])
    assert kept == {
        name: "vital" if (name, "vital") in {(likeness(fact), each) for fact, each in entries} else "okay"
        for name in {likeness(fact) for fact, _ in entries}
    }


@pytest.mark.parametrize("text", ["#", "`#`", "`**`", "*", "`|`", ">", "_", "`_`", "-"])
def test_a_symbol_is_an_answer_and_a_fact(text):
    said = answered({"reason": "because", "answerable": True, "answer": text})
    (row,) = answers([pulled.checked()], [pulled.context()], Model.saying([said]), prompt("pull_requests/answer"))
    assert (row["status"], row["answer"]) == ("ok", text)
    assert reasons(cut((text, "vital"))) == [(text, "")]


@pytest.mark.parametrize("text", ["", " ", " ** ", "**\n**", "``", "```\n```", "__", "\u200b", "\ufeff\n"])
def test_marks_that_enclose_nothing_say_nothing(text):
    assert says_nothing(text)
    assert cut((text, "vital"))["facts"] == []


@pytest.mark.parametrize("piece", ["*", "**a", "`", "`a", "a'", "a-", '"', "a "])
def test_hostile_facts_take_linear_time(piece, no_deadlock):
    text = piece * 50_000
    assert likeness(text)
    assert restates(text, text)
    says_nothing(text)
