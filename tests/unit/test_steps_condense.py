"""references → condensed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.condense import condense
from devqa.tokens import estimate
from replies import reply
from scripted import Reply
from standins import NOT_OK, Model, answered, assert_sound, broken_prompt, prompt, reference_row, unusable

SHORT = "The default is 1m."
LONG = "\n\n".join(f"Paragraph {number} says something about nginx and sizes." for number in range(40))
LIMIT = 100


def reference(name="d", rank=1, text=LONG):
    return reference_row(name, rank, text)


def subject(name="d", topics=("nginx",), wanted=("nginx body size", "nginx 413")):
    return {"dialogue_id": name, "topics": [*topics], "queries": [*wanted]}


def condensed(references, model, **more):
    names = {row["dialogue_id"] for row in references}
    return condense(references, [subject(name, **more) for name in names], model, prompt("condense"), LIMIT)


def test_short_documents_are_taken_whole_and_long_ones_go_to_the_model(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    references = [reference("b"), reference("a", 2), reference("a", 1, SHORT)]
    with endpoint.chat(tmp_path) as chat:
        rows = condensed(references, chat)
    assert_sound(rows, "condensed")
    assert [(row["dialogue_id"], row["rank"], row["method"], len(row["usage"])) for row in rows] == [
        ("a", 1, "whole", 0),
        ("a", 2, "model", 1),
        ("b", 1, "model", 1),
    ]
    assert rows[0]["text"] == SHORT
    assert endpoint.count == 1  # both long ones are the same question
    sent = endpoint.requests[0]["messages"][-1]["content"]
    assert "Paragraph 39" in sent
    assert "nginx body size; nginx 413" in sent


@pytest.mark.parametrize("said", ["NOTHING", "Nothing.", '"NOTHING"', "**NOTHING**", "`nothing`."])
def test_a_document_without_anything_relevant_is_rejected(said):
    (row,) = condensed([reference()], Model.saying([answered(text=said)]))
    assert (row["status"], row["reason"]) == ("rejected", "nothing in it bears on the dialogue")


@pytest.mark.parametrize("outcome", NOT_OK)
def test_what_the_model_did_not_say_in_full_is_no_verdict(outcome):
    (row,) = condensed([reference()], Model.saying([answered(text="NOTHING", outcome=outcome)]))
    assert (row["status"], row["outcome"]) == ("failed", outcome)


def test_a_refusal_fails_its_row_alone(endpoint, tmp_path):
    endpoint.reply = lambda body: Reply(None, refusal="no") if "Bad" in body["messages"][-1]["content"] else LONG[:70]
    with endpoint.chat(tmp_path) as chat:
        rows = condensed([reference("a", text=f"Bad {LONG}"), reference("b")], chat)
    assert [(row["status"], row["outcome"]) for row in rows] == [("failed", "refused"), ("ok", "ok")]


def test_an_answer_that_is_too_long_is_cut():
    (row,) = condensed([reference()], Model.saying([answered(text=LONG)]))
    assert row["status"] == "ok"
    assert 0 < estimate(row["text"]) <= LIMIT
    assert LONG.startswith(row["text"])
    # No sentence is broken off.
    assert row["text"].endswith("sizes.")
    assert row["raw"] == LONG


def test_what_the_document_does_not_have_is_taken_out():
    copied = "Paragraph 3 says something about **nginx** and sizes."
    invented = "Paragraph 4 says nothing about nginx and sizes."
    said = f"Here are the facts:\n\n## Sizes of things\n\n- {copied} {invented}\n- {invented}\n\n```\nx\n```"
    (row,) = condensed([reference()], Model.saying([answered(text=said)]))
    assert (row["status"], row["raw"]) == ("ok", said)
    assert row["text"] == f"- {copied}\n\n```\nx\n```"


def test_what_stands_in_the_document_as_it_was_copied_is_kept_whole():
    said = "Paragraph 3 says something about nginx and sizes.\n\nParagraph 9 says something about nginx and sizes."
    (row,) = condensed([reference()], Model.saying([answered(text=said)]))
    assert (row["status"], row["text"], row["raw"]) == ("ok", said, "")


@pytest.mark.parametrize("said", ["Paragraph 3 is about sizes.", "I can't help with that.", "ok", "```\nx\n```"])
def test_a_model_that_copied_nothing_leaves_no_document(said):
    (row,) = condensed([reference()], Model.saying([answered(text=said)]))
    assert_sound([row], "condensed")
    assert (row["status"], row["reason"]) == ("rejected", "nothing that the model copied stands in the document")
    assert (row["outcome"], row["text"], row["raw"]) == ("ok", "", said)


def test_of_a_document_beyond_the_context_the_most_relevant_passages_are_shown_in_their_order():
    filler = "\n\n\n\n".join("filler " * 60 for _ in range(30))
    # A blank line that is not empty: the last passage does not stand in the text letter by letter.
    text = f"# First\n\nzebra zebra one\n\n{filler}\n\n\n# Last\n \t\nzebra zebra zebra two\n"
    model = Model.saying([answered()], context=1300)
    condensed([reference(text=text)], model, topics=(), wanted=("zebra",))
    sent = model.requests[0].messages[-1]["content"]
    assert 0 < sent.find("zebra one") < sent.find("[…]") < sent.find("zebra two")
    assert sum(estimate(message["content"]) for message in model.requests[0].messages) < model.context


@pytest.mark.parametrize("wanted", ["", "unheard-of"])
def test_where_no_passage_fits_the_beginning_is_shown(wanted):
    model = Model.saying([answered()], context=1000)
    condensed([reference(text=LONG * 5)], model, topics=(), wanted=(wanted,))
    assert "Paragraph 0 says" in model.requests[0].messages[-1]["content"]


def test_no_references_no_rows():
    assert condensed([], Model.saying([])) == []


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        condense([reference()], [subject()], Model.saying([]), broken_prompt(tmp_path), LIMIT)


USABLE = st.builds(answered, text=st.sampled_from(["copied", "NOTHING", " padded \n"]))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([SHORT, "", LONG]))), st.data())
def test_no_row_is_lost_or_doubled_whatever_the_model_says(documents, data):
    references = [reference(name, rank, text) for rank, (name, text) in enumerate(documents)]
    long = sum(text == LONG for _, text in documents)
    answers = data.draw(st.lists(st.one_of(unusable(), USABLE), min_size=long, max_size=long))
    rows = condensed(data.draw(st.permutations(references)), Model.saying(answers))
    assert_sound(rows, "condensed")
    assert [(row["dialogue_id"], row["rank"]) for row in rows] == sorted(
        (row["dialogue_id"], row["rank"]) for row in references
    )
    asked = [row for row in rows if row["method"] == "model"]
    assert [row["outcome"] for row in asked] == [answer.outcome for answer in answers]
