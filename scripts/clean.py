"""pages → references."""

from devqa import tables
from devqa.job import job
from devqa.steps.clean import clean
from devqa.web.store import Store

# A shard may have more text than fits into memory.
ROWS_AT_A_TIME = 200

with job(snakemake) as this:  # noqa: F821
    pages = tables.read_ok(this.input.pages, "pages")
    rows = clean(pages, Store(this.cache / "web"), this.config["clean"], this.threads)
    tables.write(rows, "references", this.output.references, ROWS_AT_A_TIME)
