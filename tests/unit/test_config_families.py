"""Which evaluated models are of one family with a generator, a filter or a judge."""

import copy
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from devqa.config import described, root
from devqa.config.families import families, family_of, known_name

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
ADDRESS = "https://api.example/v1"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "gpt"),
        ("o3-mini", "gpt"),
        ("chatgpt-4o-latest", "gpt"),
        ("ft:gpt-4o-mini:org::abc", "gpt"),
        ("openai/gpt-oss-20b", "gpt"),
        ("text-davinci-003", "gpt"),
        ("claude-3-5-haiku", "claude"),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama"),
        ("Llama-3.1-8b", "llama"),
        ("codellama:7b", "llama"),
        ("Qwen/QwQ-32B", "qwen"),
        ("Qwen2.5-Coder-7B", "qwen"),
        ("deepseek-ai/DeepSeek-V3", "deepseek"),
        ("open-mixtral-8x7b", "mistral"),
        ("codestral-latest", "mistral"),
        ("models/gemini-1.5-pro", "gemini"),
        ("google/codegemma-7b", "gemma"),
        ("smollm2", "smollm"),
        ("olmo-2", "olmo"),
        ("opt-1.3b", "opt"),
        ("01-ai", "01-ai"),
    ],
)
def test_a_name_tells_its_family(name, family):
    assert family_of(name) == family


@given(st.text(max_size=40))
def test_any_name_has_a_family_and_no_owner_in_it(name):
    assert "/" not in known_name(name)
    assert family_of(name) == family_of(name.upper()) or not name.isascii()


@pytest.fixture
def config(monkeypatch):
    """Configurations: gpt writes, filters, judges; llama is on the panel."""
    monkeypatch.chdir(ROOT)

    def configured(evaluation, **models):
        raw = copy.deepcopy(DEFAULT)
        raw["models"] |= {
            "gpt": {"base_url": ADDRESS, "model": "gpt-4o"},
            "strong": {"base_url": ADDRESS, "model": "o3"},
            "llama": {"base_url": ADDRESS, "model": "meta-llama/Llama-3.1-8B"},
            **models,
        }
        raw["steps"]["generate"]["model"] = "gpt"
        raw["steps"]["difficulty"] |= {"models": ["smollm2", "strong"], "judge": "gpt"}
        raw["evaluation"] = {"judge": {"model": "gpt"}, "panel": ["llama"], **evaluation}
        return root.load(raw)

    return configured


def roles(found):
    return {
        each["model"]: [(role["role"], role["model"], role["same_model"]) for role in each["roles"]] for each in found
    }


def test_models_that_meet_their_family_are_named_with_every_role(config):
    found = families(config({"models": ["strong", "smollm2"]}))
    gpt = [
        ("generate", "gpt", False),
        ("filter", "strong", True),
        ("filter judge", "gpt", False),
        ("judge", "gpt", False),
    ]
    small = [(role, "smollm2", True) for role in ("queries", "condense", "check", "verify", "filter")]
    assert roles(found) == {"strong": gpt, "smollm2": small}
    assert found[0]["family"] == "gpt" and found[0]["roles"][1]["family"] == "gpt"
    assert described.families is families


def test_a_model_with_no_kin_is_not_named(config):
    alone = {"base_url": ADDRESS, "model": "claude-3-5-haiku"}
    assert families(config({"models": ["other"]}, other=alone)) == []


def test_answers_from_elsewhere_are_known_by_their_name_or_by_what_is_said(config):
    files = {"files": ["examples/dialogues.jsonl"]}
    imports = [
        {"model": "Meta-Llama-3.1-8B", **files},
        {"model": "Llama-3.1-8B", **files},
        {"model": "ours", "family": "Llama", **files},
        {"model": "claude", **files},
    ]
    found = roles(families(config({"imports": imports})))
    assert found == {
        "Meta-Llama-3.1-8B": [("panel", "llama", False)],
        "Llama-3.1-8B": [("panel", "llama", True)],
        "ours": [("panel", "llama", False)],
    }


def test_what_the_configuration_says_goes_before_the_name(config):
    distilled = {"base_url": ADDRESS, "model": "DeepSeek-R1-Distill-Llama-8B", "family": "llama"}
    assert roles(families(config({"models": ["distilled"]}, distilled=distilled))) == {
        "distilled": [("panel", "llama", False)]
    }


def test_weights_are_known_by_their_file(config):
    small = {"runtime": "llama.cpp", "weights": "hf:org/repo/Llama-3.2-1B-Q4_K_M.gguf"}
    assert roles(families(config({"models": ["small"]}, small=small))) == {"small": [("panel", "llama", False)]}


def test_a_benchmark_from_elsewhere_was_not_made_by_the_steps(config):
    evaluation = {
        "benchmark": {"path": "examples/dialogues.jsonl"},
        "models": ["strong"],
        "domains": {"model": "strong", "names": {"web": "pages", "data": "bases"}},
    }
    assert roles(families(config(evaluation))) == {"strong": [("judge", "gpt", False), ("domains", "strong", True)]}
