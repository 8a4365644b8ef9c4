"""The cache → an archive of what the current configuration reads."""

import sys

from devqa.job import job
from devqa.stock.archive import exported, report
from devqa.stock.wanted import current

with job(snakemake) as this:  # noqa: F821
    wanted = current(this.prompts.parent / "Snakefile", this.config)
    sys.stdout.write(report(exported(this.config, wanted), wanted))
