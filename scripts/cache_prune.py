"""The cache → what no job of the current configuration reads, on the screen."""

import sys

from devqa.job import job
from devqa.stock.prune import prunings, report
from devqa.stock.wanted import current

with job(snakemake) as this:  # noqa: F821
    wanted = current(this.prompts.parent / "Snakefile", this.config)
    text = report(this.config, prunings(this.config, wanted), wanted)
    sys.stdout.write(f"{text}Nothing was changed: cache_prune_apply does it.\n")
