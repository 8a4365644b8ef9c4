"""filtered → sampled."""

from devqa import tables
from devqa.errors import UserError
from devqa.job import job
from devqa.study.sampling import sampled

# Rows in memory as they are written.
AT_A_TIME = 5_000

with job(snakemake) as this:  # noqa: F821
    batches = tables.batches(list(this.input.filtered), "filtered", 10_000, ["status"])
    if not any(row["status"] == "ok" for batch in batches for row in batch):
        raise UserError(
            "study: the model takes no dialogue for one about software development. `reason` in results/study/filtered "
            "says why of each: mend study.filter, or prompts/study/filter"
        )
    tables.write(sampled(list(this.input.filtered), this.options), "sampled", this.output.sampled, AT_A_TIME)
