"""checked → evidence."""

from devqa import tables
from devqa.job import job
from devqa.steps.evidence import evidence
from devqa.steps.passages import searching

with job(snakemake) as this:  # noqa: F821
    rows = evidence(tables.read_ok(this.input.checked, "checked"), **searching(this))
    # Nothing was given up for good: the next run searches for these again.
    this.wants_again = any(row["status"] == "failed" for row in rows)
    tables.write(rows, "evidence", this.output.evidence)
