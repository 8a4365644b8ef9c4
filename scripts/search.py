"""queries → search."""

from devqa import tables
from devqa.job import job
from devqa.steps.search import search
from devqa.web.engines.opening import open_engine

with job(snakemake) as this:  # noqa: F821
    rows = search(
        tables.read_ok(this.input.queries, "queries"),
        open_engine(this),
        this.options["results"],
        this.config["search"]["concurrency"],
    )
    # Nothing was given up for good: the next run searches for these again.
    this.wants_again = any(row["status"] == "failed" for row in rows)
    tables.write(rows, "search", this.output.search)
