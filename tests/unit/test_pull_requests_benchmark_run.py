"""The benchmark of repositories runs: tiny sizes, and nothing about speed."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks/pull_requests.py"


def test_the_benchmark_takes_pull_requests_through_all_steps(tmp_path):
    sizes = ("--files", "60", "--commits", "120", "--pulls", "12", "--folder", str(tmp_path))
    command = [sys.executable, BENCHMARK, *sizes]
    written = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    heads, _, *steps = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in written.splitlines() if line[:1] == "|"
    ]
    assert [step[0] for step in steps] == ["list", "blocks", "context"]
    assert all(len(step) == len(heads) for step in steps)
    parsed, different = heads.index("files parsed"), heads.index("different")
    assert steps[1][parsed] == steps[1][different] == "60"
    assert steps[2][parsed] == steps[2][different]
    assert steps[2][heads.index("parsed before")] == "0"
    outcomes = json.loads(written.rpartition("Hunks: ")[2])
    assert sum(outcomes.values()) >= 11
