"""An archive of somebody else → the cache."""

import sys

from devqa.job import job
from devqa.stock.arrival import imported, report

with job(snakemake) as this:  # noqa: F821
    sys.stdout.write(report(this.config, imported(this.config)))
