"""The command that takes decisions in from other tools: all of a file, or nothing."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from decided import both, decided, disputed
from devqa import tables
from devqa.review.decisions import pair_decisions
from devqa.review.locking import alone
from devqa.review.store import opened
from exchanged import DECISIONS, annotated, responded, to_review

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/review_exchange.py"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with pairs to review, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    # What the default configuration names.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    tables.write(to_review(), "review", "results/review.parquet")
    return tmp_path


def run(*arguments):
    done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def exported(project, decisions, name="done.json"):
    """A file of Label Studio with these decisions, made from its own tasks."""
    assert run("export-label-studio", "tasks.json", "labelling.xml").returncode == 0
    tasks = json.loads(Path("tasks.json").read_text(encoding="utf-8"))
    Path(name).write_text(json.dumps(annotated(tasks, decisions)), encoding="utf-8")
    return name


ALIAS = ["--name", "3=ann", "--name", "4=bob", "--name", "eve@example.org=eve", "--adjudicators", "eve"]


def state_of(folder):
    return {file: file.read_bytes() for file in sorted(folder.rglob("review/*.parquet"))}


def test_decisions_are_taken_in_beside_those_that_are_there(project):
    tables.write(both("c"), "pair_decisions", "review/pairs.parquet")
    done = run("import-label-studio", *ALIAS, exported(project, DECISIONS))
    assert (done.returncode, done.stdout) == (0, "6 decisions taken in: review/pairs.parquet\n"), done.stderr
    found = pair_decisions("review/pairs.parquet")
    assert sorted(found, key=str) == sorted([*DECISIONS, *both("c")], key=str)
    assert not Path("review/review.sqlite").exists()
    before = state_of(project)
    again = run("import-label-studio", *ALIAS, "done.json")
    assert again.returncode == 1
    assert "done.json: pair u, ann: decided twice by the same person: keep one of the two (and 5 more)" in again.stderr
    assert state_of(project) == before


def test_with_a_store_they_go_through_it(project):
    with opened("review", 2, "adjudicated", "a test") as store:
        store.take_in_decisions("pairs", both("c"))
    done = run("import-label-studio", *ALIAS, exported(project, DECISIONS))
    assert done.returncode == 0, done.stderr
    with opened("review", 2, "adjudicated", "a test") as store:
        assert len(store.rows("pairs")) == len(DECISIONS) + 2
        assert store.rows("pairs") == pair_decisions("review/pairs.parquet")
    assert run("import-label-studio", *ALIAS, "done.json").returncode == 1
    with sqlite3.connect("review/review.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM decisions").fetchone() == (len(DECISIONS) + 2,)


def test_argilla_and_parquet_come_in_the_same_way(project):
    assert run("export-argilla", "records.json", "settings.json").returncode == 0
    records = json.loads(Path("records.json").read_text(encoding="utf-8"))
    assert json.loads(Path("settings.json").read_text(encoding="utf-8"))["questions"]
    Path("done.json").write_text(json.dumps(responded(records, DECISIONS[:2])), encoding="utf-8")
    done = run("import-argilla", *ALIAS, "--decided-at", "2026-11-30T11:00:00+01:00", "done.json")
    assert done.returncode == 0, done.stderr
    assert pair_decisions("review/pairs.parquet") == DECISIONS[:2]
    tables.write(DECISIONS[2:], "pair_decisions", "other.parquet")
    done = run("import-parquet", "other.parquet")
    assert done.returncode == 0, done.stderr
    assert len(pair_decisions("review/pairs.parquet")) == len(DECISIONS)


@pytest.mark.parametrize("with_store", [False, True])
@pytest.mark.parametrize(
    ("others", "told"),
    [
        (
            [*both("a"), *both("x")],
            "other.parquet: 2 of 4 decisions are about what results/review.parquet does not have",
        ),
        ([*both("a"), decided("a")], "other.parquet: pair a, ann: decided twice by the same person"),
        ([*both("a"), decided("b", evidence_urls=[])], "other.parquet: pair b, ann: accept needs the addresses of 2"),
        ([*both("a"), decided("c", "ann")], "other.parquet: pair c, ann: decided twice by the same person"),
        (
            [decided("c", "joe", role="adjudicator")],
            "other.parquet: pair c, joe: adjudicated by eve already: keep one of the two",
        ),
    ],
)
def test_one_fault_and_nothing_is_taken_in(others, told, with_store, project):
    there = disputed("c", "accept")
    tables.write(there, "pair_decisions", "review/pairs.parquet")
    if with_store:
        with opened("review", 2, "adjudicated", "a test") as store:
            store.take_in_decisions("pairs", there)
    tables.write(others, "pair_decisions", "other.parquet")
    before = state_of(project)
    done = run("import-parquet", "other.parquet")
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert state_of(project) == before
    if with_store:
        with opened("review", 2, "adjudicated", "a test") as store:
            assert len(store.rows("pairs")) == 3


def test_while_the_page_is_open_nothing_is_taken_in(project):
    tables.write(both("a"), "pair_decisions", "other.parquet")
    with alone("review", "The page is open at http://127.0.0.1:8765"):
        done = run("import-parquet", "other.parquet")
    assert done.returncode == 1
    assert "The page is open at http://127.0.0.1:8765" in done.stderr
    assert state_of(project) == {}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["import-parquet", "missing.parquet"], "missing.parquet can't be read as Parquet"),
        (["import-label-studio", "missing.json"], "missing.json: can't be read (No such file or directory)"),
        (["import-label-studio", "broken.json"], "broken.json: is no JSON"),
        (["import-argilla", "--decided-at", "noon", "empty.json"], "--decided-at: 'noon' is no time in ISO 8601"),
        (["export-argilla", "--kind", "grades", "a", "b"], "there is no results/review_grades.parquet"),
        (["import-parquet", "--configfile", "none.yaml", "a"], "none.yaml can't be read"),
    ],
)
def test_what_is_missing_is_told_in_one_line(arguments, told, project):
    Path("broken.json").write_text("[", encoding="utf-8")
    Path("empty.json").write_text("[]", encoding="utf-8")
    done = run(*arguments)
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
