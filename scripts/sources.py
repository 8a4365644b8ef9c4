"""benchmark → sources: the pages that it cites, as they were fetched."""

from devqa import tables
from devqa.job import job
from devqa.steps.sources import sources
from devqa.web.fetching.fetch import open_fetcher

with job(snakemake) as this:  # noqa: F821
    rows = sources(tables.read(this.input.benchmark, "benchmark"), open_fetcher(this, offline=True))
    tables.write(rows, "sources", this.output.sources)
