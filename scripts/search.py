"""queries → search."""

from devqa import tables
from devqa.job import job
from devqa.steps.search import search
from devqa.web.search import open_engine
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    rows = search(
        tables.read_ok(this.input.queries, "queries"),
        open_engine(this.config["search"], this.corpus(), Store(this.cache / "web")),
        this.options["results"],
        this.config["search"]["concurrency"],
    )
    tables.write(rows, "search", this.output.search)
