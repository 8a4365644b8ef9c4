"""The configuration, what there is of results and cache → what a run would do now and why, on the screen."""

import sys
from pathlib import Path

from devqa.job import job
from devqa.why.run import why

with job(snakemake) as this:  # noqa: F821
    snakefile = Path(snakemake.scriptdir).parent / "Snakefile"  # noqa: F821
    sys.stdout.write(f"{why(snakefile, this.config, this.threads)}\n")
