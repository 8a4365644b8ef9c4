"""filtered → sampled."""

from devqa import tables
from devqa.job import job
from devqa.study.sampling import sampled

# Rows in memory as they are written.
AT_A_TIME = 5_000

with job(snakemake) as this:  # noqa: F821
    tables.write(sampled(list(this.input.filtered), this.options), "sampled", this.output.sampled, AT_A_TIME)
