"""benchmark → retrieved."""

from devqa import tables
from devqa.job import job
from devqa.steps.retrieve import retrieve
from devqa.web.fetch import open_fetcher
from devqa.web.search import open_engine
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    store = Store(this.cache / "web")
    rows = retrieve(
        tables.read(this.input.benchmark, "benchmark"),
        open_engine(this.config["search"], this.corpus(), store),
        open_fetcher(this.config["fetch"], this.corpus(), store),
        store,
        pages=this.options["pages"],
        passages=this.options["passages"],
        passage_tokens=this.options["passage_tokens"],
        cleaning=this.config["clean"],
        concurrency=this.config["search"]["concurrency"],
        workers=this.threads,
    )
    # Nothing was given up for good: the next run searches for these again.
    this.wants_again = any(row["status"] == "failed" for row in rows)
    tables.write(rows, "retrieved", this.output.retrieved)
