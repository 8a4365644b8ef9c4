"""The cache → the cache without what no job of the current configuration reads."""

import sys

from devqa.job import job
from devqa.stock.layout import size
from devqa.stock.prune import apply, prunings, report
from devqa.stock.wanted import current

with job(snakemake) as this:  # noqa: F821
    wanted = current(this.prompts.parent / "Snakefile", this.config)
    found = prunings(this.config, wanted)
    freed = apply(found)
    sys.stdout.write(f"{report(this.config, found, wanted)}Done: {size(max(freed, 0))} are free.\n")
