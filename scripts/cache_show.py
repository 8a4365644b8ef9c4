"""The cache → what it holds, on the screen."""

import sys

from devqa.job import job
from devqa.stock.show import shown
from devqa.stock.wanted import current

with job(snakemake) as this:  # noqa: F821
    sys.stdout.write(shown(this.config, current(this.prompts.parent / "Snakefile", this.config)))
