"""rated → merged."""

from devqa import tables
from devqa.job import job
from devqa.steps.benchmark import merged

with job(snakemake) as this:  # noqa: F821
    rated = tables.read_ok([*this.input.rated, *this.input.rescued], "rated")
    tables.write(merged(rated, this.options["duplicate_similarity"]), "merged", this.output.merged)
