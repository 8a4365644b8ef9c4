"""What differs between two recipes, in the words of the configuration."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.why.changes import Changes, Template, compared

CONFIG = {
    "models": {
        "gpt": {"runtime": "openai", "identity": None},
        "tiny": {"runtime": "llama.cpp", "identity": None},
        "own": {"runtime": "served", "identity": "own"},
    },
    "ingest": {"max_message_characters": 1},
    "review": {"required": False, "annotators": 2, "seed": 1},
    "search": {"engine": "local", "results": 10},
    "fetch": {"max_bytes": 1},
    "clean": {"min_characters": 1},
    "steps": {
        "queries": {"dialogue_tokens": 3000, "sampling": {"max_tokens": 100, "temperature": None}},
        "verify": {"pages": 5},
        "difficulty": {"sampling": {"temperature": 0.7}},
        "benchmark": {"duplicate_similarity": 0.8},
    },
    "evaluation": {
        "sampling": {"temperature": 0.7},
        "judge": {"model": "gpt", "sampling": {"temperature": 0.5}},
        "rag": {"passages": 5},
        "agentic": {"rounds": 5},
        "imports": [{"model": "o3", "setting": "plain"}, {"model": "o3", "setting": "rag"}],
    },
}


def recipe(**parts: Any) -> str:
    return json.dumps({"options": {}, "models": {}, "prompts": {}, "code": {}, **parts}, sort_keys=True)


def asked(label: str, **more: Any) -> dict[str, Any]:
    return {"label": label, "endpoint": f"http://{label}/v1", "model": label, "sampling": {}, "extra_body": {}, **more}


def values(script: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is said of two recipes with these parts."""
    changes = compared(script, recipe(**before), recipe(**now), CONFIG)
    assert changes == Changes(values=changes.values)
    return list(changes.values)


def options(script: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return values(script, {"options": before}, {"options": now})


def models(script: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    return values(script, {"models": before}, {"models": now})


def test_equal_recipes_and_unknown_ones_say_nothing():
    assert not compared("queries", recipe(), recipe(), CONFIG)
    assert not compared("queries", None, recipe(), CONFIG)


@pytest.mark.parametrize("earlier", ["", "some text", "[]", "{}", json.dumps({"options": 1}), recipe(later="version")])
def test_a_recipe_of_another_version_is_named_as_one(earlier):
    assert compared("queries", earlier, recipe(), CONFIG) == Changes(unreadable=True)


def test_templates_are_told_once_though_several_prompts_include_them():
    before = {
        "verify/answer": {"shared/d.j2": "1", "verify/answer/user.j2": "2"},
        "verify/compare": {"shared/d.j2": "1"},
    }
    now = {
        "verify/answer": {"shared/d.j2": "3", "verify/answer/tools.yaml": "4"},
        "verify/compare": {"shared/d.j2": "3"},
    }
    assert compared("verify", recipe(prompts=before), recipe(prompts=now), CONFIG).templates == (
        Template("shared/d.j2", "1", "3"),
        Template("verify/answer/tools.yaml", None, "4"),
        Template("verify/answer/user.j2", "2", None),
    )


def test_code_is_told_by_its_paths():
    before, now = (
        {"a.py": "1", "devqa/b.py": "2", "devqa/c.py": "3"},
        {"a.py": "1", "devqa/b.py": "0", "devqa/d.py": "3"},
    )
    assert compared("check", recipe(code=before), recipe(code=now), CONFIG).code == (
        "scripts/devqa/b.py",
        "scripts/devqa/c.py (gone)",
        "scripts/devqa/d.py (new)",
    )


def test_rows_that_are_asked_again_and_files_from_outside():
    assert compared("check", recipe(), recipe(again="x"), CONFIG) == Changes(again=True)
    assert compared("check", recipe(again="x"), recipe(again="y"), CONFIG) == Changes(again=True)
    assert compared("ingest", recipe(files="x"), recipe(files="y"), CONFIG) == Changes(files=True)


@pytest.mark.parametrize(
    ("script", "name", "key"),
    [
        ("queries", "dialogue_tokens", "steps.queries.dialogue_tokens"),
        ("search", "results", "search.results"),
        ("corpus", "path", "search.corpus"),
        ("corpus", "min_characters", "clean.min_characters"),
        ("evidence", "engine", "search.engine"),
        ("evidence", "max_bytes", "fetch.max_bytes"),
        ("evidence", "min_characters", "clean.min_characters"),
        ("evidence", "pages", "steps.verify.pages"),
        ("retrieve", "passages", "evaluation.rag.passages"),
        ("answer", "rounds", "evaluation.agentic.rounds"),
        ("answer", "difficulties", "evaluation.difficulties"),
        ("merge", "duplicate_similarity", "steps.benchmark.duplicate_similarity"),
        ("benchmark", "required", "review.required"),
        ("rescued", "annotators", "review.annotators"),
        ("review_grades", "seed", "review.seed"),
        ("funnel", "pairs", "steps.generate.pairs"),
        ("score", "verdict", "evaluation.verdict"),
        ("compare", "models", "evaluation.models"),
        ("import_benchmark", "columns", "evaluation.benchmark.columns"),
    ],
)
def test_an_option_has_the_name_of_its_key(script, name, key):
    assert options(script, {name: 1}, {name: 2}) == [f"{key}: 1 → 2"]
    assert options(script, {}, {name: 2}) == [f"{key}: not set → 2"]
    assert options(script, {name: 1}, {}) == [f"{key}: 1 → not set"]
    # In a recipe these are not the same.
    assert options(script, {name: 1}, {name: 1.0}) == [f"{key}: 1 → 1.0"]


def test_options_inside_sections():
    before = {"source": "mine", "limits": {"max_message_characters": 5}}
    now = {"source": "mine", "limits": {"max_message_characters": 6}}
    assert options("ingest", before, now) == ["ingest.max_message_characters: 5 → 6"]
    imported = {"model": "o3", "setting": "rag", "columns": {"grade": "g"}, "named": ["grade"]}
    other = {**imported, "columns": {"grade": "letter"}}
    assert options("import_answers", imported, other) == ['evaluation.imports.1.columns.grade: "g" → "letter"']


def test_what_reports_say_of_models():
    tiny = {"name": "tiny", "endpoint": "a.gguf", "model": "tiny", "price": {"input": 1.0}, "families": []}
    other = {**tiny, "endpoint": "b.gguf", "price": {"input": 2.0}}
    told = ['models.tiny.weights: "a.gguf" → "b.gguf"', "models.tiny.price.input: 1.0 → 2.0"]
    assert options("report", {"model": tiny}, {"model": other}) == told
    assert options("index", {"models": [tiny]}, {"models": [other]}) == told
    gpt = {**tiny, "name": "gpt"}
    assert options("index", {"models": [tiny]}, {"models": [tiny, gpt]}) == ["gpt in evaluation.models is new"]
    assert options("index", {"models": [tiny, gpt]}, {"models": [gpt]}) == ["tiny in evaluation.models is gone"]
    assert options("index", {"models": [tiny, gpt]}, {"models": [gpt, tiny]}) == ["the order of what it is told"]
    prices = {"gpt": {"input": 1.0}, "o3": {"input": 1.0}, "search:brave": {"request": 0.01}}
    other = {"gpt": {"input": 2.0}, "o3": {"input": 3.0}, "search:brave": {"request": 0.02}}
    assert options("funnel", {"prices": prices}, {"prices": other}) == [
        "models.gpt.price.input: 1.0 → 2.0",
        "evaluation.imports.0.price.input: 1.0 → 3.0",
        "search.price_per_request: 0.01 → 0.02",
    ]


def test_provenance_in_the_benchmark_is_told_without_hashes():
    before = {"prompts": [{"step": "check", "sha256": "1" * 64}, {"step": "judge", "sha256": "2" * 64}]}
    now = {"prompts": [{"step": "check", "sha256": "3" * 64}, {"step": "judge", "sha256": "2" * 64}]}
    assert options("benchmark", before, now) == ["the prompts that its rows name (check)"]


def test_another_model_is_told_by_the_key_that_chooses_it():
    own, gpt, tiny = asked("own"), asked("gpt"), asked("tiny")
    assert models("queries", {"queries": own}, {"queries": gpt}) == ['steps.queries.model: "own" → "gpt"']
    assert models("judge", {"judge": own}, {"judge": gpt}) == ['evaluation.judge.model: "own" → "gpt"']
    before, now = {"answer": [own, gpt], "judge": own}, {"answer": [own, tiny], "judge": own}
    assert models("difficulty", before, now) == ['steps.difficulty.models: ["own", "gpt"] → ["own", "tiny"]']


@pytest.mark.parametrize(
    ("label", "name", "key"),
    [
        ("gpt", "endpoint", "base_url"),
        ("tiny", "endpoint", "weights"),
        ("own", "endpoint", "identity"),
        ("gpt", "model", "model"),
        ("gpt", "context", "context"),
    ],
)
def test_how_a_model_is_asked_has_the_name_of_its_key(label, name, key):
    before, now = {"queries": asked(label, **{name: "a"})}, {"queries": asked(label, **{name: "b"})}
    assert models("queries", before, now) == [f'models.{label}.{key}: "a" → "b"']


def test_sampling_has_the_name_of_the_layer_that_it_comes_from():
    def at(script: str, role: str, name: str) -> list[str]:
        return models(script, {role: asked("gpt", sampling={name: 1})}, {role: asked("gpt", sampling={name: 2})})

    assert at("queries", "queries", "max_tokens") == ["steps.queries.sampling.max_tokens: 1 → 2"]
    # The step sets none now, but it may have set one before.
    key = "models.gpt.sampling.temperature or steps.queries.sampling.temperature"
    assert at("queries", "queries", "temperature") == [f"{key}: 1 → 2"]
    assert at("difficulty", "answer", "temperature") == ["steps.difficulty.sampling.temperature: 1 → 2"]
    assert at("difficulty", "judge", "temperature") == ["evaluation.judge.sampling.temperature: 1 → 2"]
    assert at("answer", "rag", "temperature") == ["evaluation.sampling.temperature: 1 → 2"]


def test_what_may_be_a_secret_is_not_shown():
    """Keys belong in the environment, but nobody is kept from writing one into a request or an address."""

    def told(**now: Any) -> str:
        (text,) = models("queries", {"queries": asked("gpt")}, {"queries": asked("gpt", **now)})
        return text

    for name in ("api_key", "token", "Authorization", "client_secret"):
        assert told(extra_body={name: "sk-123"}) == f'models.gpt.extra_body.{name}: not set → "(hidden)"'
    assert "sk-123" not in told(extra_body={"nested": [{"api-key": "sk-123"}]})
    assert "sk-123" not in told(endpoint="https://x/v1?api-version=1&code=sk-123")
    assert told(max_tokens_key="max_tokens") == 'models.gpt.max_tokens_key: not set → "max_tokens"'
    assert told(extra_body={"max_tokens": 5}) == "models.gpt.extra_body.max_tokens: not set → 5"


def test_long_values_are_cut():
    (text,) = options("score", {"panel": []}, {"panel": ["x" * 200]})
    assert len(text) < 100
    assert text.endswith("…")


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
sections = st.dictionaries(st.sampled_from(["results", "engine", "max_bytes", "new"]), plain, max_size=3)


@given(sections, sections)
def test_whatever_differs_is_told_and_nothing_else(before, now):
    changes = compared("evidence", recipe(options=before), recipe(options=now), CONFIG)
    assert bool(changes.values) == (recipe(options=before) != recipe(options=now))
    assert changes == Changes(values=changes.values)


@given(sections, st.sampled_from(["results", "engine", "max_bytes"]), st.integers(), st.integers())
def test_one_option_that_differs_is_one_line(others, name, old, new):
    changes = compared("evidence", recipe(options={**others, name: old}), recipe(options={**others, name: new}), CONFIG)
    section = "fetch" if name == "max_bytes" else "search"
    assert changes.values == (() if old == new else (f"{section}.{name}: {old} → {new}",))
