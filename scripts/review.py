"""checked, verified and merged → review: the pairs that people decide about."""

from devqa import tables
from devqa.job import job
from devqa.review.tasks import pairs_to_review

with job(snakemake) as this:  # noqa: F821
    rows = pairs_to_review(
        tables.read_ok(this.input.merged, "merged"),
        tables.read(this.input.verified, "verified"),
        tables.read_ok(this.input.checked, "checked"),
    )
    tables.write(rows, "review", this.output.review)
