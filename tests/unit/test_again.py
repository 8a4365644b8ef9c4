"""Jobs that want to run again."""

import json

import pytest

from devqa import again


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_job_finds_its_own_token_and_no_other():
    again.leave("check", {"source": "mine", "shard": "0-of-2"})
    assert again.token("check", {"shard": "0-of-2", "source": "mine"})
    for rule, wildcards in (
        ("check", {"source": "mine", "shard": "1-of-2"}),
        ("verify", {"source": "mine", "shard": "0-of-2"}),
    ):
        assert again.token(rule, wildcards) == ""


def test_each_token_is_new():
    again.leave("answer", {"model": "m"})
    first = again.token("answer", {"model": "m"})
    again.leave("answer", {"model": "m"})
    assert again.token("answer", {"model": "m"}) not in ("", first)


def test_a_recipe_changes_with_the_token_and_only_with_it():
    recipe = json.dumps({"options": {"text": "Ü"}}, ensure_ascii=False)
    assert again.added(recipe, "") == recipe
    assert json.loads(again.added(recipe, "t")) == {"options": {"text": "Ü"}, "again": "t"}
