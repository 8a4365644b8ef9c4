"""benchmark → retrieved."""

from devqa import tables
from devqa.job import job
from devqa.steps.passages import searching
from devqa.steps.retrieve import retrieve

with job(snakemake) as this:  # noqa: F821
    rows = retrieve(tables.read(this.input.benchmark, "benchmark"), **searching(this))
    # Nothing was given up for good: the next run searches for these again.
    this.wants_again = any(row["status"] == "failed" for row in rows)
    tables.write(rows, "retrieved", this.output.retrieved)
