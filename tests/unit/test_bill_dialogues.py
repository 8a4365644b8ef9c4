"""The dialogues that a run will start from."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from devqa import tables
from devqa.bill import dialogues
from devqa.bill.dialogues import Dialogues, ingested
from devqa.bill.plan import Planned
from devqa.errors import UserError
from devqa.ingest.run import ingest

LIMITS = {"max_message_characters": 1_000, "max_dialogue_characters": 4_000}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(range(6))
    return {"dialogues": {"mine": {"path": "d.jsonl", "shards": 2}}, "ingest": LIMITS}


def record(number: int, text: str = "How?") -> str:
    turns = [{"role": "user", "content": text}, {"role": "assistant", "content": "So."}]
    return json.dumps({"conversation_hash": f"d{number}", "language": "English", "conversation": turns})


def write(numbers, text: str = "How?") -> None:
    Path("d.jsonl").write_text("".join(f"{record(number, text)}\n" for number in numbers))


def made(shards: int = 2) -> None:
    """The tables of an earlier run."""
    ingest(
        ["d.jsonl"], "mine", [Path(f"results/dialogues/mine/{n}-of-{shards}.parquet") for n in range(shards)], LIMITS
    )


def jobs(basis: str) -> list[Planned]:
    return [
        Planned(
            rule=rule,
            wildcards={"source": "mine", "shard": f"{number}-of-2"},
            input={"dialogues": f"results/dialogues/mine/{number}-of-2.parquet"},
            output={},
            recipe="{}",
            threads=1,
            resources={},
            runs=True,
            basis=basis,
            unsettled=False,
        )
        for rule in ("queries", "generate")
        for number in (0, 1)
    ]


def test_tables_that_are_up_to_date_are_counted(config, tmp_path):
    made()
    planned = jobs("exact")
    assert ingested(planned, config, tmp_path / "made") == (planned, Dialogues(6, 0, 0, True))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("basis", ["missing", "present"])
def test_sources_that_will_be_read_are_read_for_the_first_step(config, tmp_path, basis):
    ready, found = ingested(jobs(basis), config, tmp_path / "made")
    assert found == Dialogues(6, 6, 6, True)
    assert [(job.rule, job.basis) for job in ready] == [("queries", "exact")] * 2 + [("generate", basis)] * 2
    rows = tables.read([job.input["dialogues"] for job in ready[:2]], "dialogues")
    assert {row["dialogue_id"] for row in rows} == {f"d{number}" for number in range(6)}
    assert not Path("results").exists()


def test_new_and_altered_dialogues_are_told_from_those_in_the_tables(config, tmp_path):
    made()
    write(range(2, 8))
    assert ingested(jobs("present"), config, tmp_path / "made")[1] == Dialogues(6, 2, 2, True)
    write(range(6), "What?")
    assert ingested(jobs("present"), config, tmp_path / "made")[1] == Dialogues(6, 0, 6, True)


def test_another_number_of_shards_makes_no_dialogue_new(config, tmp_path):
    made(shards=3)
    assert ingested(jobs("missing"), config, tmp_path / "made")[1] == Dialogues(6, 0, 0, True)


def test_large_sources_are_only_counted(config, tmp_path, monkeypatch):
    made()
    monkeypatch.setattr(dialogues, "MOST_BYTES", 10)
    write(range(9))
    planned = jobs("present")
    assert ingested(planned, config, tmp_path / "made") == (planned, Dialogues(9, 3, 9, False))
    pq.write_table(pa.table({"conversation": [[]] * 20}), "d.parquet")
    with pa.output_stream("d.jsonl.gz", compression="gzip") as packed:
        packed.write(Path("d.jsonl").read_bytes())
    for path, count in (("d.parquet", 20), ("d.jsonl.gz", 9)):
        config["dialogues"]["mine"]["path"] = path
        assert ingested(planned, config, tmp_path / "made")[1].count == count


def test_a_source_that_can_t_be_read_is_named(config, tmp_path, monkeypatch):
    monkeypatch.setattr(dialogues, "MOST_BYTES", 10)
    Path("d.parquet").write_bytes(b"nonsense, and more than ten bytes")
    config["dialogues"]["mine"]["path"] = "d.parquet"
    with pytest.raises(UserError, match=r"d.parquet can't be read"):
        ingested(jobs("missing"), config, tmp_path / "made")


def test_tables_of_another_version_count_as_none(config, tmp_path):
    Path("results/dialogues/mine").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1]}), "results/dialogues/mine/0-of-2.parquet")
    assert ingested(jobs("missing"), config, tmp_path / "made")[1] == Dialogues(6, 6, 6, True)
