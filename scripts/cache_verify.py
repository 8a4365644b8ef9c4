"""The cache → what is damaged in it, on the screen; a failed job if anything is."""

import sys

from devqa.errors import UserError
from devqa.job import job
from devqa.stock.verify import report, verified

with job(snakemake) as this:  # noqa: F821
    result = verified(this.config)
    sys.stdout.write(report(this.config, result))
    if result.damages:
        raise UserError(f"{len(result.damages):,} places in {this.cache} are damaged: see above")
