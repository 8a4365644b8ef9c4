"""checked → evidence."""

from devqa import tables
from devqa.job import job
from devqa.steps.evidence import evidence
from devqa.web.fetch import open_fetcher
from devqa.web.search import open_engine
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    store = Store(this.cache / "web")
    rows = evidence(
        tables.read_ok(this.input.checked, "checked"),
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
    tables.write(rows, "evidence", this.output.evidence)
