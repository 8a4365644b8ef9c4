"""verified, and people's decisions → rescued: pairs that the evidence did not support and people accept or correct."""

from devqa import tables
from devqa.job import job
from devqa.review.decisions import pair_decisions
from devqa.review.following import rescued

with job(snakemake) as this:  # noqa: F821
    rows = rescued(
        tables.read(this.input.verified, "verified"),
        pair_decisions(this.input.decisions),
        this.options["annotators"],
        this.options["rejection"],
    )
    tables.write(rows, "verified", this.output.rescued)
