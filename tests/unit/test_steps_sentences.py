"""Numbering sentences."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.steps import sentences as module


def numbered(texts):
    return module.numbered(texts, lambda number, sentence: True)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The first one. The second one! A third?", ["The first one.", "The second one!", "A third?"]),
        ("Uses e.g. lower case. Version 3.11 is meant.", ["Uses e.g. lower case.", "Version 3.11 is meant."]),
        ("第一句话在这里结束。第二句话在这里结束。", ["第一句话在这里结束。", "第二句话在这里结束。"]),
        ("Первое предложение. Второе предложение.", ["Первое предложение.", "Второе предложение."]),
        ("```\nint main() {\n}\n```", ["int main() {"]),
        ("# A heading of the page\n\nA sentence.", ["A sentence."]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_sentences(text, sentences):
    assert [sentence for _, sentence in numbered([text])[1]] == sentences


def test_numbers_run_through_all_texts():
    shown, sentences = numbered(["Sentence one. Sentence two.", "Sentence three."])
    assert shown == ["[1] Sentence one. [2] Sentence two.", "[3] Sentence three."]
    assert [number for number, _ in sentences] == [1, 1, 2]


def test_what_does_not_stand_has_no_number():
    texts = ["Sentence one. Sentence two.", "Sentence one. Sentence three."]
    shown, sentences = module.numbered(texts, lambda number, sentence: (number, sentence) != (2, "Sentence one."))
    assert shown == ["[1] Sentence one. [2] Sentence two.", "Sentence one. [3] Sentence three."]
    assert sentences == [(1, "Sentence one."), (1, "Sentence two."), (2, "Sentence three.")]


def test_the_mark_of_what_was_left_out_has_no_number():
    assert numbered(["[…]\n\nSentence one."]) == (["[…]\n\n[1] Sentence one."], [(1, "Sentence one.")])


@given(st.lists(st.text(max_size=80), max_size=4))
def test_every_numbered_sentence_stands_in_its_text_and_nothing_is_lost(texts):
    shown, sentences = numbered(texts)
    for number, sentence in sentences:
        assert sentence in texts[number - 1]
    for text, with_numbers in zip(texts, shown, strict=True):
        bare = re.sub(r"\[\d+\] ", "", with_numbers) if not re.search(r"\[\d+\] ", text) else None
        assert bare is None or "".join(bare.split()) == "".join(text.split())
