"""The import closure of a script, and recipes."""

import json
from pathlib import Path

import pytest

from devqa import provenance
from devqa.recipe import recipe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def code(tmp_path):
    def write(**files):
        provenance._inspect.cache_clear()
        provenance.closure.cache_clear()
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def closure(root, script="step.py"):
    return provenance.closure(root / script, root)


def test_every_way_to_import_is_followed(code):
    root = code(
        step="import json\nimport lib.a\nfrom lib import b\ndef f():\n    from lib.c import name\n",
        lib__a="from . import d",
        lib__b="from .e import x as y",
        lib__c="import os.path",
        lib__d="",
        lib__e="",
        lib__unused="",
    )
    (root / "lib" / "__init__.py").write_text("")
    assert [*closure(root)] == ["lib/__init__.py", *[f"lib/{name}.py" for name in "abcde"], "step.py"]


def test_only_content_counts(code):
    root = code(step="import helper", helper="x = 1", other="y = 1")
    before = closure(root)
    (root / "helper.py").touch()
    code(other="y = 2")
    assert closure(root) == before
    code(helper="x = 2")
    assert closure(root) != before


def test_cycles_end(code):
    assert [*closure(code(step="import one", one="import two", two="import one"))] == ["one.py", "step.py", "two.py"]


def test_templates_beside_a_module_that_names_them_count(code):
    root = code(step="import pages", pages='FOLDER = "templates"', other="")
    (root / "templates").mkdir()
    (root / "templates" / "a.html.j2").write_text("a")
    assert "templates/a.html.j2" in closure(root)
    assert "templates/a.html.j2" not in closure(root, "other.py")


def test_steps_that_ask_no_model_do_not_depend_on_the_client():
    # Searches have keys and prices as models do.
    shared = {"__init__", "access", "budget", "pricing", "spend"}
    for script in ("ingest.py", "corpus.py", "search.py", "fetch.py", "clean.py", "evidence.py", "sources.py"):
        files = provenance.closure(ROOT / "scripts" / script, ROOT / "scripts")
        assert {Path(file).stem for file in files if "llm/" in file} <= shared, script


def test_a_recipe_is_canonical_and_holds_what_a_result_depends_on():
    made = recipe(ROOT, "check.py", {"b": 1, "a": "ä"}, {"check": {"model": "m"}}, ["check"])
    content = json.loads(made)
    assert made == recipe(ROOT, "check.py", {"a": "ä", "b": 1}, {"check": {"model": "m"}}, ["check"])
    assert content["options"] == {"a": "ä", "b": 1}
    assert "check/system.j2" in content["prompts"]["check"]
    assert {"check.py", "devqa/steps/check.py", "devqa/llm/chat.py"} <= content["code"].keys()


def test_files_from_outside_are_in_a_recipe_by_their_content_and_only_there():
    made = recipe(ROOT, "ingest.py", {})
    assert "files" not in json.loads(made)
    assert json.loads(recipe(ROOT, "ingest.py", {}, files="abc")) == {**json.loads(made), "files": "abc"}
