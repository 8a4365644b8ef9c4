"""filtered and raw dialogues → seeds."""

from devqa import tables
from devqa.job import job
from devqa.study.seeds import drawn, seeds

# Conversations in memory as they are written.
AT_A_TIME = 200

with job(snakemake) as this:  # noqa: F821
    chosen = drawn(this.input.filtered, this.options["seeds"], this.options["seed"])
    rows = seeds(chosen, this.options["files"], this.options["limits"])
    tables.write(rows, "seeds", this.output.seeds, AT_A_TIME)
