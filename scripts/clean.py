"""pages → references."""

from devqa import tables
from devqa.job import job
from devqa.steps.clean import clean
from devqa.web.store import Store

with job(snakemake) as this:  # noqa: F821
    pages = tables.read_ok(this.input.pages, "pages")
    rows = clean(pages, Store(this.cache / "web"), this.config["clean"], this.threads)
    tables.write(rows, "references", this.output.references)
