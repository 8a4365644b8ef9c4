"""What the rules' own scripts would ask, read with a meter in place of a model."""

import copy
import dataclasses
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from devqa import tables
from devqa.bill.meter import SCRIPTS, Altered, Missing, measured
from devqa.bill.plan import Planned
from devqa.config import root
from devqa.config.models import asked_with
from devqa.errors import UserError
from devqa.llm.cache import Cache
from devqa.llm.requests import body
from devqa.recipe import recipe
from devqa.tokens import estimate

ROOT = SCRIPTS.parent
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def config(tmp_path, monkeypatch) -> dict[str, Any]:
    """The default configuration with two models of an endpoint that nobody ever reaches."""
    monkeypatch.chdir(ROOT)
    raw = copy.deepcopy(DEFAULT)
    raw["cache_dir"] = str(tmp_path / "cache")
    for name in ("one", "two"):
        raw["models"][name] = {"base_url": "http://127.0.0.1:9/v1", "sampling": {"max_tokens": 70}}
    validated = root.load(raw).model_dump(mode="json")
    monkeypatch.chdir(tmp_path)
    return validated


def asked(config: dict[str, Any], label: str) -> dict[str, Any]:
    return asked_with(label, root.Model.model_validate(config["models"][label]))


def job(
    rule: str, inputs: dict, outputs: dict, models: dict, prompts: list[str], options: dict | None = None
) -> Planned:
    return Planned(
        rule=rule,
        wildcards={"setting": "plain", "model": "one"},
        input=inputs,
        output=outputs,
        recipe=recipe(ROOT, f"{rule}.py", options or {}, models, prompts),
        threads=1,
        resources={},
        runs=True,
        basis="exact",
        unsettled=False,
    )


def pair(number: int) -> dict[str, Any]:
    return {
        "pair_id": f"{number:04}",
        "dialogue_id": f"d{number // 3}",
        "source": "s",
        "language": "en",
        "number": number % 3 + 1,
        "question": f"What is {number}?",
        "answer": f"value {number}",
        "supports": [],
        "references": [],
        "status": "ok",
        "reason": "",
    }


def answered(config: dict[str, Any], model: str, keys: dict[str, Any]) -> None:
    """Put answers into the cache: key → text, or data where it is none."""
    told = asked(config, model)
    with Cache(Path(config["cache_dir"]) / "responses").shelf(told["endpoint"], told["model"]).writer("x") as writer:
        for key, said in keys.items():
            text = said if isinstance(said, str) else json.dumps(said)
            record = {"outcome": "ok", "reason": "", "text": text, "data": None if text is said else said, "raw": ""}
            counts = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens"), 3)
            writer.write(key, {**record, **counts, "counted": True, "model": model})


@pytest.fixture
def check(config, tmp_path) -> Planned:
    """A check of seven pairs, none of which was ever asked about."""
    tables.write([pair(number) for number in range(7)], "pairs", tmp_path / "pairs.parquet")
    return job(
        "check",
        {"pairs": str(tmp_path / "pairs.parquet")},
        {"checked": str(tmp_path / "results/checked.parquet")},
        {"check": asked(config, "one")},
        ["check"],
        {"date": "2026-11-01"},
    )


def test_every_request_of_a_job_is_noted_and_none_is_sent(check, config):
    (reading,) = measured(check, config)
    assert (reading.rule, reading.role, reading.label, reading.model) == ("check", "check", "one", "one")
    assert len(reading.keys) == len(set(reading.keys)) == len(reading.missing) == 7
    assert (reading.cached, reading.further, reading.most) == (frozenset(), 0, 0)
    assert reading.complete
    assert {(each.max_tokens, each.structured) for each in reading.missing.values()} == {(70, True)}


def test_nothing_is_written_beside_the_cache_and_the_results(check, config, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    handlers, hook = logging.getLogger().handlers[:], sys.excepthook
    measured(check, config)
    assert sorted(tmp_path.rglob("*")) == before
    assert logging.getLogger().handlers == handlers
    assert sys.excepthook is hook


def test_what_the_cache_holds_is_not_missing(check, config):
    (reading,) = measured(check, config)
    verdict = {"reason": "", "passed": True}
    data = dict.fromkeys(("unambiguous", "complex_enough", "verifiable"), verdict)
    answered(config, "one", dict.fromkeys(reading.keys[:5], data))
    (again,) = measured(check, config)
    assert again.keys == reading.keys
    assert again.cached == set(reading.keys[:5])
    assert again.missing.keys() == set(reading.keys[5:])


def test_a_missing_request_is_as_long_as_the_one_that_would_be_sent(check, config, monkeypatch):
    bodies = []

    def noted(*arguments):
        bodies.append(body(*arguments))
        return bodies[-1]

    monkeypatch.setattr("devqa.bill.meter.body", noted)
    (reading,) = measured(check, config)
    sizes = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in bodies]
    assert [(each.sent_bytes, each.input_tokens) for each in reading.missing.values()] == [
        (len(text.encode()), estimate(text)) for text in sizes
    ]


def test_without_a_token_limit_the_context_is_the_limit(check, config):
    told = json.loads(check.recipe)
    del told["models"]["check"]["sampling"]["max_tokens"]
    (reading,) = measured(dataclasses.replace(check, recipe=json.dumps(told)), config)
    assert {each.max_tokens for each in reading.missing.values()} == {8192}


def test_tables_that_come_out_the_same_are_told_from_others(check, config, tmp_path):
    (reading,) = measured(check, config)
    assert reading.altered is None
    verdict = {"reason": "", "passed": True}
    answered(
        config,
        "one",
        {key: dict.fromkeys(("unambiguous", "complex_enough", "verifiable"), verdict) for key in reading.keys},
    )
    copied = tmp_path / "results/checked.parquet"
    real = dataclasses.replace(check, output={"checked": str(copied)})
    rows = [{**pair(number), "criteria": [], "outcome": "ok", "raw": "", "usage": []} for number in range(7)]
    tables.write(rows, "checked", copied)
    (reading,) = measured(real, config)
    # Seven pairs of three dialogues, whose criteria are other ones.
    assert reading.altered == Altered(7, 3)
    for row in rows:
        row["criteria"] = [{"criterion": name, **verdict} for name in ("unambiguous", "complex_enough", "verifiable")]
    tables.write(rows, "checked", copied)
    (reading,) = measured(real, config)
    # What was spent on them goes into no later request.
    assert reading.altered == Altered(0, 0)


def verifying(config, tmp_path) -> Planned:
    passages = [{"url": "u", "title": "t", "text": "text", "score": 1.0}]
    rows = [{**pair(number), "passages": passages} for number in range(10)]
    tables.write(rows, "evidence", tmp_path / "evidence.parquet")
    return job(
        "verify",
        {"evidence": str(tmp_path / "evidence.parquet")},
        {"verified": "results/verified.parquet"},
        {"verify": asked(config, "one")},
        ["verify/answer", "verify/compare"],
    )


def test_comparisons_are_expected_as_often_as_the_answers_that_are_there_need_one(config, tmp_path):
    planned = verifying(config, tmp_path)
    first, second = measured(planned, config)
    # Nothing is known: one comparison for each answer.
    assert (len(first.missing), second.keys, second.further, second.most) == (10, (), 10, 10)
    assert not first.complete
    differs = {"passages": [1], "enough_evidence": True, "answer": "another"}
    nothing = {"passages": [], "enough_evidence": False, "answer": ""}
    answered(config, "one", {key: differs if number else nothing for number, key in enumerate(first.keys[:4])})
    first, second = measured(planned, config)
    assert (len(first.cached), len(second.keys)) == (4, 3)
    assert (second.further, second.most) == (6 * 3 / 4, 6)


def test_a_judge_depends_on_the_answers_and_a_second_model_on_nobody(config, tmp_path):
    rows = [{**pair(number), "usage": [], "passages": []} for number in range(6)]
    tables.write(rows, "verified", tmp_path / "verified.parquet")
    planned = job(
        "difficulty",
        {"verified": str(tmp_path / "verified.parquet")},
        {"rated": "results/rated.parquet"},
        {"answer": [asked(config, "one"), asked(config, "two")], "judge": asked(config, "two")},
        ["answer/plain", "judge"],
    )
    readings = measured(planned, config)
    assert [(each.role, each.label, len(each.keys), each.most) for each in readings] == [
        ("answer", "one", 6, 0),
        ("judge", "two", 0, 6),
        ("answer", "two", 6, 0),
        ("judge", "two", 0, 6),
    ]
    answered(config, "one", dict.fromkeys(readings[0].keys, "an answer"))
    readings = measured(planned, config)
    assert [(len(each.keys), each.most) for each in readings] == [(6, 0), (6, 0), (6, 0), (0, 6)]
    assert not any(each.complete for each in readings)


def test_equal_requests_count_once(config, tmp_path):
    rows = [{"id": f"{number}", "question": "The same?", "answer": "x", "difficulty": "easy"} for number in range(4)]
    tables.write(rows, "benchmark", tmp_path / "benchmark.parquet")
    planned = job(
        "answer",
        {"benchmark": str(tmp_path / "benchmark.parquet")},
        {"answers": ["results/answers.parquet"]},
        {"answer": asked(config, "one")},
        ["answer/plain"],
        {"difficulties": ["easy", "hard"]},
    )
    (reading,) = measured(planned, config)
    assert len(reading.keys) == len(reading.missing) == 1
    assert list(reading.missing.values())[0] == Missing(*list(reading.missing.values())[0][:2], 70, False)


def test_an_input_that_is_not_there_asks_nothing(check, config):
    assert measured(dataclasses.replace(check, basis="missing"), config) == []


def test_a_table_that_can_t_be_read_is_named(check, config, tmp_path):
    (tmp_path / "pairs.parquet").write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"pairs.parquet can't be read as Parquet"):
        measured(check, config)
    # It does not matter where it will be made again.
    assert measured(dataclasses.replace(check, basis="present"), config) == []
