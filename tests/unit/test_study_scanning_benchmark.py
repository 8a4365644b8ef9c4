import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

SCRIPT = Path(__file__).parents[2] / "benchmarks/study_scan.py"


def test_the_benchmark_takes_all_rows_through_all_steps(tmp_path):
    sizes = ("--rows", "400", "--files", "2", "--folder", str(tmp_path))
    command = [sys.executable, SCRIPT, *sizes]
    written = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in written.splitlines() if line[:1] == "|"]
    heads, _, *steps = lines[:6]
    assert [step[0] for step in steps] == ["bare scan by pyarrow", "scan", "unique", "sample"]
    assert all(len(step) == len(heads) and float(step[-1].replace(",", "")) > 0 for step in steps)
    assert "times the CPU time of the bare one" in written
    counted = {
        name: sum(pq.read_metadata(file).num_rows for file in (tmp_path / name).iterdir())
        for name in ("raw", "scanned")
    }
    assert counted == {"raw": 400, "scanned": 400}
    assert pq.read_metadata(tmp_path / "sampled.parquet").num_rows > 300
