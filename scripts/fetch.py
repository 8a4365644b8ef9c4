"""search → pages."""

from devqa import tables
from devqa.job import job
from devqa.steps.fetch import fetch
from devqa.web.fetching.fetch import open_fetcher
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    store = Store(this.cache / "web")
    searches = tables.read_ok(this.input.search, "search")
    rows = fetch(searches, open_fetcher(this), store, this.config["fetch"]["concurrency"])
    # A page that fails run after run is rejected in the end, so this ends too.
    this.wants_again = any(row["status"] == "failed" for row in rows)
    tables.write(rows, "pages", this.output.pages)
