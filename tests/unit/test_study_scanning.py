import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa import tables
from devqa.ingest.run import ingest
from devqa.study import flags, sketches
from devqa.study.scanning import scanned
from devqa.study.topics import Words

REAL = Path(__file__).parents[3] / "shared/data/dialogues/wildchat_style.parquet"
LIMITS = {"max_message_characters": 4_000, "max_dialogue_characters": 6_000}
QUESTION = "How do I reverse a list in Python without a loop?"
OPTIONS = {
    "source": "wild",
    "label": "a.jsonl",
    "limits": LIMITS,
    "topic": {"engine": "words", "command": "", "threshold": 0.5},
    "languages": [],
    "toxic": False,
    "redacted": True,
    "text_tokens": 50,
}


def turn(content, role="user", **more):
    return {"role": role, "content": content, **more}


def dialogue(*contents, key="x", **more):
    roles = ["user", "assistant"] * len(contents)
    turns = [turn(content, role) for role, content in zip(roles, contents, strict=False)]
    own = {"conversation_hash": key, "conversation": turns, "language": "English", "model": "gpt-4"}
    return {**own, "toxic": False, "redacted": False, **more}


def write(path, values):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(values), path)
    else:
        path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return str(path)


def scan(path, values, **options):
    return list(scanned(write(path, values), Words(), {**OPTIONS, **options}))


def outcomes(rows):
    return [(row["status"], row["reason"]) for row in rows]


def test_a_dialogue_about_development_goes_on_with_what_the_user_said(tmp_path):
    (row,) = scan(tmp_path / "a.jsonl", [dialogue(QUESTION, "Use reversed().", "And a string?", "Slices.")])
    said = f"{QUESTION}\n\nAnd a string?"
    assert row.pop("topic_score") > 0.5
    assert row == {
        "dialogue_id": "x",
        "source": "wild",
        "language": "en",
        "model": "gpt-4",
        "origin": "a.jsonl:1",
        "turns": 4,
        "characters": len(QUESTION) + len("Use reversed().And a string?Slices."),
        "number": 1,
        "exact": sketches.exact(sketches.normal(said)),
        "sketch": sketches.sketches([sketches.normal(said)])[0].tobytes(),
        "toxic": False,
        "redacted": False,
        "text": said,
        "status": "ok",
        "reason": "",
    }


def test_the_text_is_cut_and_the_sketch_is_of_all(tmp_path):
    first, second = scan(
        tmp_path / "a.jsonl", [dialogue(QUESTION + " It is long." * n + "?" * end) for n, end in ((100, 0), (100, 1))]
    )
    assert first["text"] == second["text"]
    assert len(first["text"]) < 200
    assert first["exact"] != second["exact"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_each_record_has_one_row_and_the_first_reason_that_holds(tmp_path, name):
    values = [
        dialogue(QUESTION, "Fine."),
        dialogue(""),
        dialogue(QUESTION, "Fine.", toxic=True, redacted=True),
        dialogue(QUESTION, "Fine.", redacted=True),
        dialogue("Wie kehre ich eine Liste in Python um?", language="German"),
        dialogue("Write a poem about the sea."),
    ]
    rows = scan(tmp_path / name, values, languages=["en", "zh"], redacted=False)
    assert outcomes(rows) == [
        ("ok", ""),
        ("rejected", "empty user turns"),
        ("rejected", "toxic"),
        ("rejected", "redacted"),
        ("rejected", "other language: de"),
        ("rejected", "off topic"),
    ]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["origin"] for row in rows][-1] == "a.jsonl:6"
    assert [(row["toxic"], row["redacted"]) for row in rows[2:4]] == [(True, True), (False, True)]
    for row in rows[1:]:
        assert {"text", "exact", "sketch", "messages"}.isdisjoint(row)
    assert rows[-1]["topic_score"] < 0.5
    tables.write(rows, "scanned", tmp_path / "scanned.parquet")


def test_flagged_dialogues_may_be_wanted(tmp_path):
    values = [dialogue(QUESTION, toxic=True), dialogue(QUESTION, redacted=True)]
    assert outcomes(scan(tmp_path / "a.jsonl", values, toxic=True, redacted=True)) == [("ok", "")] * 2
    assert [row["redacted"] for row in tables_round_trip(tmp_path, values)] == [False, True]


def tables_round_trip(folder, values):
    rows = scan(folder / "b.jsonl", values, toxic=True)
    tables.write(rows, "scanned", folder / "scanned.parquet")
    return tables.read(folder / "scanned.parquet", "scanned")


def test_what_no_language_can_be_told_of_is_none_of_those_wanted(tmp_path):
    (row,) = scan(tmp_path / "a.jsonl", [dialogue("x = [1, 2]", language=None)], languages=["en"])
    assert (row["language"], row["reason"]) == ("", "other language: unknown")


flag = st.sampled_from([True, False, None])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(flag, flag, st.lists(st.tuples(flag, flag), max_size=3)), min_size=1, max_size=30))
def test_flags_of_the_record_or_of_any_turn_are_the_same_in_both_formats(tmp_path_factory, drawn):
    values = [
        {
            "toxic": toxic,
            "redacted": redacted,
            "conversation": [turn(QUESTION, toxic=one, redacted=other) for one, other in turns],
        }
        for toxic, redacted, turns in drawn
    ]
    values.append({"toxic": False, "redacted": False, "conversation": [turn(QUESTION, toxic=False, redacted=False)]})
    path = tmp_path_factory.mktemp("flags") / "a.parquet"
    pq.write_table(pa.Table.from_pylist(values), path, row_group_size=7)
    expected = [
        tuple(value[name] is True or any(t[name] is True for t in value["conversation"]) for name in flags.FLAGS)
        for value in values
    ]
    assert list(flags.of_parquet(str(path))) == expected
    assert [flags.of_value(value) for value in values] == expected


@pytest.mark.parametrize(
    ("value", "is_set"),
    [(True, True), (1, True), (1.0, True), ("True", True), (" true ", True)]
    + [(None, False), (0, False), (float("nan"), False), ("false", False), ("yes?", False), ([True], False)],
)
def test_a_flag_of_another_type_counts_where_it_is_clear(tmp_path, value, is_set):
    record = {"toxic": value, "conversation": [turn(QUESTION)]}
    assert flags.of_value(record) == (is_set, False)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([record]), path)
    assert list(flags.of_parquet(str(path))) == [(is_set, False)]


def test_flags_are_looked_for_where_ingest_looks_for_turns_and_nowhere_else(tmp_path):
    turns = pa.array([[{"content": "x", "toxic": True, "header": {"redacted": True}}], None, []])
    large = turns.cast(pa.large_list(turns.type.value_type))
    for name, column in (("messages", turns), ("conversations", large)):
        pq.write_table(pa.table({name: column}), tmp_path / "a.parquet")
        assert list(flags.of_parquet(str(tmp_path / "a.parquet"))) == [(True, False), (False, False), (False, False)]
    for name, column in (("other", turns), ("messages", pa.array([{"toxic": True, "a": {"toxic": True}}] * 3))):
        pq.write_table(pa.table({name: column}), tmp_path / "a.parquet")
        assert list(flags.of_parquet(str(tmp_path / "a.parquet"))) == [(False, False)] * 3


def test_files_without_flags_and_records_that_are_no_objects_have_none(tmp_path):
    pq.write_table(pa.table({"messages": [[turn(QUESTION)]] * 3, "toxicity": [True] * 3}), tmp_path / "a.parquet")
    assert list(flags.of_parquet(str(tmp_path / "a.parquet"))) == [(False, False)] * 3
    assert [flags.of_value(value) for value in (None, 1, [True], {"conversation": {"toxic": True}})] == [
        (False, False)
    ] * 4


# Records of all kinds that ingest knows: good ones, and one for each way of being broken.
KINDS = [
    dialogue(QUESTION, "Fine."),
    {"id": "s", "conversations": [{"from": "human", "value": QUESTION}, {"from": "gpt", "value": "Fine."}]},
    {"messages": [turn(QUESTION)], "language": "Klingon"},
    {"messages": [turn([{"type": "text", "text": "Как отсортировать список в Python?"}])]},
    {"messages": [turn("这段代码为什么报错？")], "model": 7},
    {"id": 12, "messages": [turn("x" * 4_001)]},
    {"messages": [turn("x" * 3_000)] * 3},
    {"messages": [turn("a\0b")]},
    {"messages": [turn("\ud800 x")]},
    {"messages": [turn("x", role="wizard")]},
    {"messages": [turn("x", role="assistant")]},
    {"messages": [turn("  \n")]},
    {"messages": "text"},
    {"messages": [3]},
    {"messages": [turn(5)]},
    {"id": "y" * 300, "messages": [turn("x")]},
    {"prompt": "x"},
    [1],
    "text",
    None,
]


def test_rows_are_those_that_ingest_makes_of_the_same_records(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(value) for value in KINDS] + ["{broken", '{"a": ', "7"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    compare(str(path), tmp_path)
    assert len({row["reason"].partition(":")[0] for row in scanned(str(path), Words(), OPTIONS)}) > 12


@pytest.mark.skipif(not REAL.exists(), reason="needs the shared data")
def test_rows_are_those_that_ingest_makes_of_real_dialogues(tmp_path):
    compare(str(REAL), tmp_path)


def compare(path, folder):
    ingest([path], "wild", [folder / "ingested.parquet"], LIMITS)
    ingested = tables.read(folder / "ingested.parquet", "dialogues")
    rows = list(scanned(path, Words(), {**OPTIONS, "label": Path(path).name}))
    shared = ("dialogue_id", "source", "language", "model", "origin")
    assert [[row[name] for name in shared] for row in rows] == [[row[name] for name in shared] for row in ingested]
    for row, other in zip(rows, ingested, strict=True):
        if other["status"] == "rejected" and other["reason"] != "duplicate id":
            assert (row["status"], row["reason"]) == ("rejected", other["reason"])
        else:
            assert row["reason"] in ("", "off topic")
            turns = other["messages"] or [None] * row["turns"]
            assert row["turns"] == len(turns)


def test_batches_do_not_show_in_the_rows(tmp_path, monkeypatch):
    values = [dialogue(f"{QUESTION} {number}", key=str(number)) for number in range(25)]
    values[7:9] = [dialogue(""), dialogue("Write a poem about the sea.")]
    together = scan(tmp_path / "a.jsonl", values)
    monkeypatch.setattr("devqa.study.scanning._ROWS", 4)
    assert scan(tmp_path / "a.jsonl", values) == together
    monkeypatch.setattr("devqa.study.scanning._CHARACTERS", 60)
    assert scan(tmp_path / "a.jsonl", values) == together
    assert Counter(row["status"] for row in together) == {"ok": 23, "rejected": 2}


def test_an_empty_file_has_no_rows(tmp_path):
    assert scan(tmp_path / "a.jsonl", []) == []
