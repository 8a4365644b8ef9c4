"""verified → review: the pairs that the evidence did not support, for people to look at."""

from devqa import tables
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    rows = [row for row in tables.read(this.input.verified, "verified") if row["status"] != "ok"]
    tables.write(sorted(rows, key=lambda row: row["pair_id"]), "verified", this.output.review)
