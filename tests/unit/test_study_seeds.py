"""filtered and raw dialogues → seeds."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.errors import UserError
from devqa.ingest.run import ingest
from devqa.ingest.sources import labels
from devqa.study import seeds as module
from devqa.study.seeds import drawn, seeds
from devqa.tables import SCHEMAS

LIMITS = {"max_message_characters": 10_000, "max_dialogue_characters": 40_000}


def row(name, origin="a.jsonl:1", source="mine", status="ok", language="en"):
    return {
        "dialogue_id": name,
        "source": source,
        "origin": origin,
        "status": status,
        "reason": "",
        "language": language,
    }


def record(name, text="How do I undo a commit?", language="English"):
    turns = [("user", text), ("assistant", "git reset. Mail bob@acme.io"), ("user", " "), ("user", "and a push?")]
    conversation = [{"role": role, "content": content, "language": language} for role, content in turns]
    return {"conversation_hash": name, "model": "gpt-4", "language": language, "conversation": conversation}


def written(path, records):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return str(path)


def chosen(files, names):
    """Rows of these dialogues, as if the files had been scanned."""
    return [
        row(name, f"{labels(files)[file]}:{number}")
        for file, own in zip(files, names, strict=True)
        for number, name in own
    ]


@pytest.fixture
def filtered(tmp_path):
    def write(*rows):
        tables.write(rows, "filtered", tmp_path / "filtered.parquet")
        return [str(tmp_path / "filtered.parquet")]

    return write


def test_only_dialogues_about_development_are_drawn(filtered):
    files = filtered(row("a"), row("b", status="rejected"), row("c", status="failed"), row("d"))
    assert {each["dialogue_id"] for each in drawn(files, 10, 1)} == {"a", "d"}
    assert len(drawn(files, 1, 1)) == 1


@given(st.sets(st.text("abcdef", min_size=1, max_size=6), max_size=40), st.data())
def test_dialogues_that_are_added_only_take_the_places_of_others(names, data):
    rows = [row(name) for name in sorted(names)]
    before = sorted(rows, key=lambda each: module._place(each, 7))[:10]
    few = data.draw(st.sets(st.sampled_from(sorted(names)))) if names else set()
    after = sorted((each for each in rows if each["dialogue_id"] in few), key=lambda each: module._place(each, 7))[:10]
    # Whoever is drawn from all is drawn from any part that has it.
    assert {each["dialogue_id"] for each in before} & few <= {each["dialogue_id"] for each in after}


def test_another_seed_draws_others(filtered):
    files = filtered(*(row(f"{number:03}") for number in range(200)))
    first, again, other = ({each["dialogue_id"] for each in drawn(files, 20, seed)} for seed in (1, 1, 2))
    assert first == again != other
    # By chance 2 of 20 are in both.
    assert len(first & other) < 10


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_whole_conversations_are_read_again_and_scrubbed(tmp_path, ending):
    records = [record(f"{number:02}", f"Question {number}: my password is Sommer{number}24") for number in range(20)]
    files = [written(tmp_path / f"one.{ending}", records[:10]), written(tmp_path / f"two.{ending}", records[10:])]
    found = list(seeds(chosen(files, [[(3, "02"), (9, "08")], [(10, "19")]]), {"mine": files}, LIMITS))
    assert [each["conversation_hash"] for each in found] == ["02", "08", "19"]
    assert {(each["model"], each["language"]) for each in found} == {("gpt-4", "en")}
    assert found[0]["conversation"] == [
        {"role": "user", "content": "Question 2: my password is <SECRET>"},
        {"role": "assistant", "content": "git reset. Mail <EMAIL>"},
        {"role": "user", "content": "and a push?"},
    ]
    pa.Table.from_pylist(found, schema=SCHEMAS["seeds"])


def test_each_file_is_read_once_and_not_beyond_its_last_seed(tmp_path, monkeypatch):
    files = [written(tmp_path / f"{name}.jsonl", [record(f"{name}{number}") for number in range(50)]) for name in "ab"]
    files.append(written(tmp_path / "c.jsonl", [record("c0")]))
    numbers = []

    def counting(file, limits, real=module.records):
        for each in real(file, limits):
            numbers.append((file[-7:], each.number))
            yield each

    monkeypatch.setattr(module, "records", counting)
    assert len(list(seeds(chosen(files, [[(2, "a1"), (7, "a6")], [(1, "b0")], []]), {"mine": files}, LIMITS))) == 3
    assert numbers == [*(("a.jsonl", number) for number in range(1, 8)), ("b.jsonl", 1)]


@pytest.mark.parametrize(
    ("number", "name", "said"),
    [(2, "other", "record 2 is not what it was"), (9, "x", "record 9 is not what it was")],
)
def test_a_file_that_has_changed_since_is_not_taken_for_the_same(tmp_path, number, name, said):
    files = [written(tmp_path / "a.jsonl", [record("a"), record("b")])]
    with pytest.raises(UserError, match=said):
        list(seeds(chosen(files, [[(number, name)]]), {"mine": files}, LIMITS))


def test_a_file_that_is_gone_is_named(tmp_path):
    files = [written(tmp_path / "a.jsonl", [record("a")])]
    with pytest.raises(UserError, match="the file b.jsonl of a seed dialogue is gone"):
        list(seeds([row("b", "b.jsonl:1")], {"mine": files}, LIMITS))


def test_sources_with_files_of_one_name_are_told_apart(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    files = {name: [written(tmp_path / name / "a.jsonl", [record(f"{name}-a")])] for name in ("one", "two")}
    rows = [row(f"{name}-a", "a.jsonl:1", source=name) for name in files]
    assert [each["conversation_hash"] for each in seeds(rows, files, LIMITS)] == ["one-a", "two-a"]


def test_the_workflow_reads_seeds_as_dialogues(tmp_path):
    """`dialogues` may name the file."""
    files = [written(tmp_path / "a.jsonl", [record("a", "如何撤销提交?", "Chinese"), record("b")])]
    rows = [
        {**each, "language": language}
        for each, language in zip(chosen(files, [[(1, "a"), (2, "b")]]), ("zh", "en"), strict=True)
    ]
    path = tmp_path / "seeds.parquet"
    tables.write(seeds(rows, {"mine": files}, LIMITS), "seeds", path)
    assert ingest([str(path)], "seeds", [tmp_path / "out.parquet"], LIMITS) == {"ok": 2}
    taken = tables.read(tmp_path / "out.parquet", "dialogues")
    assert [(each["dialogue_id"], each["language"], each["model"]) for each in taken] == [
        ("a", "zh", "gpt-4"),
        ("b", "en", "gpt-4"),
    ]
    assert [message["content"] for message in taken[0]["messages"]] == [
        "如何撤销提交?",
        "git reset. Mail <EMAIL>",
        "and a push?",
    ]
