"""Real data, and the embedded default: minutes long, so run by CI alone."""

import csv
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from workflow.conftest import ROOT, copy_of_the_project

SHARED = ROOT.parent / "shared" / "data"

pytestmark = pytest.mark.slow


def ledger(folder: Path) -> dict[str, dict[str, int]]:
    """Rows by stage and status, from funnel.csv; every stage's rows must add up."""
    stages: dict[str, dict[str, int]] = {}
    with (folder / "results/funnel.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            stage = stages.setdefault(row["stage"], {"in": int(row["rows_in"])})
            stage[row["status"]] = stage.get(row["status"], 0) + int(row["rows_out"])
    for name, counts in stages.items():
        assert counts["in"] == sum(count for status, count in counts.items() if status != "in"), name
    return stages


@pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")
def test_real_dialogues_run_to_the_end_and_no_row_is_missing(fresh):
    fresh.config["dialogues"] = {"real": {"path": str(SHARED / "dialogues/wildchat_style.parquet"), "shards": 4}}
    fresh.config["search"] = {"corpus": str(SHARED / "references/references.parquet"), "results": 10}
    fresh.config["evaluation"]["repeats"] = 1
    run = fresh.run()
    assert run.code == 0, run.output
    stages = ledger(fresh.folder)
    assert stages["dialogues"]["in"] == 585
    assert stages["queries"]["in"] == stages["dialogues"]["ok"]
    assert stages["search"]["in"] == stages["queries"]["ok"]
    assert stages["pairs"]["in"] == 3 * stages["search"]["ok"]
    assert stages["verified"]["in"] == stages["evidence"]["ok"]
    assert stages["rated"]["in"] == stages["verified"]["ok"]
    assert stages["rated"]["ok"] > 500
    again = fresh.run()
    assert (again.code, again.rules) == (0, {})


@pytest.fixture
def fresh_clone(tmp_path):
    """What `make` has in a fresh clone that is set up."""
    folder = copy_of_the_project(tmp_path / "project")
    for name in ("Makefile", "requirements.lock"):
        shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def make(folder: Path, target: str) -> str:
    """What `make <target>` says, without keys, and with success."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    completed = subprocess.run(
        ["make", target], cwd=folder, env=environment, capture_output=True, text=True, timeout=1200, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout + completed.stderr


def test_make_run_needs_no_key_and_no_network_and_does_nothing_the_second_time(fresh_clone):
    folder = fresh_clone
    assert "results/reports/index.html" in make(folder, "run")
    assert "Nothing to be done" in make(folder, "run")
    stages = ledger(folder)
    assert stages["dialogues"]["ok"] == 10
    assert stages["pairs"]["in"] == 3 * stages["search"]["ok"]
    for file in ("benchmark.parquet", "reports/smollm2.html", "reports/smollm2.json", "reports/index.html"):
        assert (folder / "results" / file).stat().st_size > 0
    assert "tiny model" in (folder / "results/reports/smollm2.html").read_text(encoding="utf-8")


def test_make_pull_requests_needs_no_key_and_no_network_and_asks_nothing_the_second_time(fresh_clone):
    assert "pulls: 6 rows (4 ok, 2 rejected)" in make(fresh_clone, "pull-requests")
    results = fresh_clone / "results/pull_requests"
    made = {path: path.read_bytes() for path in results.rglob("*.*")}
    for name in ("report.html", "report.json", "leaderboard.csv", "funnel.csv", "deep_code_bench.parquet"):
        assert made[results / name]
    assert "tiny model" in (results / "report.html").read_text(encoding="utf-8")
    assert "1 of 1 steps (100%) done" in make(fresh_clone, "pull-requests")
    assert {path: path.read_bytes() for path in results.rglob("*.*")} == made
