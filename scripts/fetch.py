"""search → pages."""

from devqa import tables
from devqa.job import job
from devqa.steps.fetch import fetch
from devqa.web.fetch import open_fetcher
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    store = Store(this.cache / "web")
    fetcher = open_fetcher(this.config["fetch"], this.corpus(), store)
    rows = fetch(tables.read_ok(this.input.search, "search"), fetcher, store, this.config["fetch"]["concurrency"])
    tables.write(rows, "pages", this.output.pages)
