"""The benchmark of the page runs: a tiny size, and nothing about speed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_review_benchmark_times_the_next_thing_and_counts_what_two_have_sent():
    arguments = ("--tasks", "40", "--asked", "5", "--sent", "10")
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/review.py", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line]
    assert [line[0] for line in lines[2:5]] == ["0 of 40", "17 of 40", "34 of 40"]
    assert all(float(cell) > 0 for line in lines[2:5] for cell in line[1:])
    assert lines[-1][:4] == ["20", "20", "20", "0"]
    assert done.stderr == ""
