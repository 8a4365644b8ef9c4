"""rated → merged and benchmark."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.steps.benchmark import benchmark, cited_urls, filter_grades, merged
from devqa.tables import SCHEMAS
from standins import assert_sound

QUESTION = "What is the default value of client_max_body_size in nginx?"


def rated(name, question=QUESTION, answer="1m", language="en"):
    return {
        "pair_id": name,
        "dialogue_id": "d",
        "source": "s",
        "number": 1,
        "question": question,
        "answer": answer,
        "language": language,
        "difficulty": "hard",
        "references": [],
        "supports": [],
        "attempts": [],
        "usage": [],
        "status": "ok",
        "reason": "",
    }


def fate(name, decision="", status="ok", **more):
    """What people made of a pair."""
    return {"pair_id": name, "decision": decision, "answer": None, "evidence_urls": [], "status": status, **more}


def into(*rows, similarity=0.8):
    found = merged(rows, similarity)
    assert_sound(found, "merged")
    return {row["pair_id"]: row["merged_into"] for row in found}


def test_a_duplicate_names_the_pair_that_is_kept_and_stays_in_the_table():
    found = merged([rated("c"), rated("a"), rated("b", "Another question altogether?")], 0.8)
    assert_sound(found, "merged")
    assert [(row["pair_id"], row["status"], row["merged_into"]) for row in found] == [
        ("a", "ok", None),
        ("b", "ok", None),
        ("c", "rejected", "a"),
    ]
    assert found[2]["reason"] == "duplicate of another pair"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (QUESTION, "`1m`"),
        (QUESTION.upper(), " 1M "),
        (QUESTION.replace("client_max_body_size", "`client_max_body_size`"), "1m"),
        (QUESTION.replace("default value", "default  value"), "1m"),
        (QUESTION + " ", "１m"),
    ],
)
def test_the_same_in_another_form_is_merged(question, answer):
    assert into(rated("a"), rated("b", question, answer)) == {"a": None, "b": "a"}


@pytest.mark.parametrize(
    "other",
    [
        {"answer": "8m"},
        {"question": "Which error does nginx give for a body that is too large?"},
        {"language": "de"},
        {"language": None},
    ],
)
def test_what_differs_in_question_answer_or_language_is_kept(other):
    assert into(rated("a"), rated("b", **other)) == {"a": None, "b": None}


@pytest.mark.parametrize(("one", "other"), [("C", "C#"), ("*", "|"), ("#", ">"), ("_", "*")])
def test_answers_that_differ_in_a_sign_are_different(one, other):
    assert into(rated("a", answer=one), rated("b", answer=other)) == {"a": None, "b": None}


def test_questions_that_differ_in_an_operator_alone_are_different():
    one, other = ("What does `*` do in Bash?", "What does `|` do in Bash?")
    assert into(rated("a", one, "x"), rated("b", other, "x"), similarity=0.95) == {"a": None, "b": None}


@pytest.mark.parametrize("text", ["", "   ", "``", "?", "a", "🧪", "\u200b"])
def test_questions_of_hardly_any_character_are_compared_too(text):
    assert into(rated("a", text), rated("b", text), rated("c", text + "xyz")) == {"a": None, "b": "a", "c": None}


def test_a_chain_of_small_steps_merges_nothing_into_what_it_is_not_alike():
    numbers = [str(number) for number in range(100, 130)]
    chain = [rated(f"p{n}", " ".join(["999"] * n + numbers[n:])) for n in range(10)]
    found = into(*chain, similarity=0.8)
    kept = [name for name, target in found.items() if target is None]
    assert found["p1"] == "p0"
    assert len(kept) > 1
    assert all(target in kept for target in found.values() if target)


TEXTS = st.sampled_from([QUESTION, QUESTION + "!", QUESTION.lower(), "", "?", "联合索引什么时候失效?", "а", "C#", "C"])
ROWS = st.lists(st.builds(rated, st.uuids().map(str), TEXTS, TEXTS, st.sampled_from(["en", "zh", ""])), max_size=12)


@settings(max_examples=60)
@given(ROWS, st.sampled_from([0.5, 0.8, 1.0]), st.randoms())
def test_every_row_stays_and_merging_goes_to_kept_pairs_of_the_same_language(rows, similarity, random):
    found = merged(rows, similarity)
    assert_sound(found, "merged")
    by_id = {row["pair_id"]: row for row in found}
    assert [row["pair_id"] for row in found] == sorted(row["pair_id"] for row in rows)
    for row in found:
        assert (row["status"] == "rejected") == (row["merged_into"] is not None)
        if row["merged_into"]:
            target = by_id[row["merged_into"]]
            assert target["status"] == "ok"
            assert target["language"] == row["language"]
            assert target["pair_id"] < row["pair_id"]
    kept = [(row["question"], row["answer"], row["language"]) for row in found if row["status"] == "ok"]
    assert len(set(kept)) == len(kept)
    assert merged(random.sample(rows, len(rows)), similarity) == found


def test_rows_of_the_benchmark_carry_their_provenance():
    models, prompts = [{"step": "check", "model": "m", "endpoint": "e"}], [{"step": "check", "sha256": "0"}]
    grades = {"a": [{"model": "gpt", "grade": "CORRECT"}], "b": []}
    rows = benchmark([rated("a"), rated("b")], {"a": ["https://e/1"]}, grades, [fate("b"), fate("a")], models, prompts)
    assert [(row["id"], row["evidence_urls"]) for row in rows] == [("a", ["https://e/1"]), ("b", [])]
    assert all(row["models"] == models and row["prompts"] == prompts for row in rows)
    assert [(row["filtered"], row["domain"]) for row in rows] == [(grades["a"], None), ([], None)]
    pa.Table.from_pylist(rows, schema=SCHEMAS["benchmark"])


def test_a_row_has_the_filter_models_grades_of_the_pair_that_is_kept():
    tried = [rated("b"), rated("a"), rated("c", "Another question altogether?")]
    for row, grade in zip(tried, ("CORRECT", "INCORRECT", None), strict=True):
        row["attempts"] = [
            {"model": label, "grade": grade, "answer": "x", "outcome": "ok"} for label in ("gpt", "qwen")
        ]
    kept = [row for row in merged(tried, 0.8) if row["status"] == "ok"]
    rows = benchmark(kept, {}, filter_grades(tried), [fate("a"), fate("c")], [], [])
    assert {row["id"]: row["filtered"] for row in rows} == {
        "a": [{"model": "gpt", "grade": "INCORRECT"}, {"model": "qwen", "grade": "INCORRECT"}],
        "c": [{"model": "gpt", "grade": None}, {"model": "qwen", "grade": None}],
    }


def test_what_people_decide_changes_its_row_alone():
    supports = [{"reference": 1, "span": "It is 1m.", "match": "exact"}]
    kept = [{**rated(name), "supports": supports} for name in "abcd"]
    found = ["https://e/1", "https://e/2"]
    fates = [
        fate("a", "accepted", evidence_urls=["https://p/1", "https://e/2"]),
        fate("b", "corrected", answer="8m", evidence_urls=["https://p/1", "https://p/2"]),
        fate("c", "rejected", "rejected"),
        fate("d"),
    ]
    rows = {
        row["id"]: row
        for row in benchmark(kept, dict.fromkeys("abcd", found), dict.fromkeys("abcd", []), fates, [], [])
    }
    told = {name: (row["reviewed"], row["answer"], row["supports"], row["evidence_urls"]) for name, row in rows.items()}
    assert told == {
        "a": ("accepted", "1m", supports, ["https://p/1", "https://e/2", "https://e/1"]),
        "b": ("corrected", "8m", [], ["https://p/1", "https://p/2", *found]),
        "d": ("", "1m", supports, found),
    }
    pa.Table.from_pylist(list(rows.values()), schema=SCHEMAS["benchmark"])


def test_an_address_that_several_cited_passages_share_stands_once():
    passages = [{"url": "x"}, {"url": "y"}, {"url": "x"}]
    verified = [
        {"pair_id": "a", "passages": passages, "cited": [1, 3, 2]},
        {"pair_id": "b", "passages": passages, "cited": []},
        {"pair_id": "c", "passages": passages, "cited": None},
    ]
    assert cited_urls(verified) == {"a": ["x", "y"], "b": [], "c": []}
