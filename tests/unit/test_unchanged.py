"""A job takes what it made before only where that is what it would make again."""

import os
import time

import pytest

from devqa.unchanged import Made, force, forced_at, forget, unforce

RECIPE = '{"options": {}}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project's folder in which a job has made two files of two others, and they were then removed."""
    monkeypatch.chdir(tmp_path)
    for file, text in {"in/a": "one", "in/b": "two", "out/x": "three", "out/y": "four"}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    job().keep()
    for file in ("out/x", "out/y"):
        (tmp_path / file).unlink()
    return tmp_path


def job(wildcards=None, recipe=RECIPE, inputs=("in/a", "in/b"), outputs=("out/x", "out/y")):
    return Made("verify", {"shard": "1", "source": "mine"} if wildcards is None else wildcards, recipe, inputs, outputs)


def content(folder):
    return {file.name: file.read_text() for file in (folder / "out").iterdir()}


def test_what_was_made_of_the_same_is_taken_and_newer_than_its_inputs(folder):
    os.utime(folder / "in/a", (time.time() + 5, time.time() + 5))
    (folder / "in/a").write_text("one")
    assert job().take()
    assert content(folder) == {"x": "three", "y": "four"}
    assert min((folder / "out" / name).stat().st_mtime for name in "xy") >= (folder / "in/a").stat().st_mtime
    # And once more, as Snakemake does it: its names are gone, ours stay.
    for file in ("out/x", "out/y"):
        (folder / file).unlink()
    assert job().take()


@pytest.mark.parametrize(
    "other",
    [
        {"recipe": '{"options": {"pairs": 4}}'},
        {"inputs": ("in/b", "in/a")},
        {"inputs": ("in/a",)},
        {"inputs": ("in/a", "in/missing")},
        {"outputs": ("out/x",)},
        {"outputs": ("out/y", "out/x")},
        {"outputs": ()},
        {"wildcards": {"shard": "2", "source": "mine"}},
        {"wildcards": {}},
    ],
)
def test_for_anything_else_nothing_is_taken(folder, other):
    assert not job(**other).take()
    assert content(folder) == {}


def test_for_another_input_nothing_is_taken_though_it_is_old(folder):
    (folder / "in/b").write_text("TWO")
    os.utime(folder / "in/b", (0, 0))
    assert not job().take()
    assert content(folder) == {}


def test_what_somebody_has_changed_since_is_not_taken(folder):
    assert job().take()
    # In place, so that the name that was kept has the same content.
    with (folder / "out/x").open("a") as file:
        file.write("!")
    (folder / "out/x").unlink()
    assert not job().take()


@pytest.mark.parametrize("damage", ["{", "[]", '{"of": "x"}', '{"of": "x", "sha256": []}', "\xff"])
def test_a_damaged_note_is_none(folder, damage):
    note = folder / ".snakemake/devqa/made/verify/1,mine/made"
    assert note.exists()
    note.write_text(damage, encoding="latin-1")
    assert not job().take()


def test_what_was_forgotten_is_not_taken(folder):
    forget("verify", {"shard": "2", "source": "mine"})
    assert job().take()
    forget("verify", {"shard": "1", "source": "mine"})
    assert not job().take()
    forget("verify", {"shard": "1", "source": "mine"})


def test_where_nothing_can_be_kept_nothing_is_taken_and_nothing_is_lost(folder):
    (folder / ".snakemake/devqa/made/benchmark").write_text("a file in the folder's place")
    (folder / "out/x").write_text("three")
    of_a_rule = Made("benchmark", {}, RECIPE, ["in/a"], ["out/x"])
    of_a_rule.keep()
    assert not of_a_rule.take()
    assert content(folder) == {"x": "three"}


def test_the_outputs_of_the_newest_run_are_kept(folder):
    (folder / "in/a").write_text("another")
    newer = job()
    assert not newer.take()
    (folder / "out/x").write_text("five")
    (folder / "out/y").write_text("six")
    newer.keep()
    (folder / "out/x").unlink()
    assert job().take()
    assert content(folder) == {"x": "five", "y": "six"}
    (folder / "in/a").write_text("one")
    assert not job().take()


def test_a_job_that_is_forced_knows_since_when_until_the_mark_is_taken_away(folder):
    own, other = ("verify", {"shard": "1", "source": "mine"}), ("verify", {"shard": "2", "source": "mine"})
    assert forced_at(*own) is None
    unforce(*own)
    before = time.time() - 5
    force(*own)
    force("score", {})
    assert before < forced_at(*own) < time.time() + 5
    assert forced_at(*other) is None
    # One that was broken off and is forced once more goes on; to have nothing to take is no other matter.
    os.utime(folder / ".snakemake/devqa/forced/verify/1,mine/mark", (7, 7))
    force(*own)
    forget(*own)
    assert forced_at(*own) == 7
    unforce(*own)
    assert forced_at(*own) is None
    assert forced_at("score", {})
