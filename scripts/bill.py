"""The configuration, what there is of results and cache → what a run would ask and cost, on the screen."""

import sys
from pathlib import Path

from devqa.bill.run import bill
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    snakefile = Path(snakemake.scriptdir).parent / "Snakefile"  # noqa: F821
    sys.stdout.write(f"{bill(snakefile, this.config, this.threads)}\n")
