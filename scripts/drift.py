"""The benchmark that is there → results/drift.csv: answers whose support has vanished from the pages that they cite."""

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from devqa import tables
from devqa.errors import UserError
from devqa.files import replacing
from devqa.job import job
from devqa.reporting.tabular import csv_text
from devqa.steps.drift import COLUMNS, cited, drift, summary
from devqa.steps.then_and_now import now, then
from devqa.web.store import Store

BENCHMARK = Path("results/benchmark.parquet")
DRIFT = Path("results/drift.csv")

with job(snakemake) as this, tempfile.TemporaryDirectory(prefix="devqa-drift-") as folder:  # noqa: F821
    if this.config["evaluation"]["benchmark"]:
        raise UserError("evaluation.benchmark: a benchmark from elsewhere names no pages that could be looked at again")
    if not BENCHMARK.exists():
        raise UserError(f"there is no {BENCHMARK} whose pages could be looked at again: build one first")
    rows = tables.read(BENCHMARK, "benchmark")
    if not (urls := cited(rows)):
        raise UserError(f"no row of {BENCHMARK} cites a page: there is nothing to look at again")
    known = then(this, rows)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    found = drift(rows, now(this, urls, known, Store(folder)), known, time)
    with replacing(DRIFT) as temporary:
        temporary.write_text(csv_text(found, COLUMNS), encoding="utf-8", newline="")
    sys.stdout.write("\n".join(["", *summary(found, str(DRIFT)), ""]))
