"""answers and grades of one model → scores."""

from devqa import tables
from devqa.evaluation.metrics import scores
from devqa.job import job
from devqa.steps.questions import asked

with job(snakemake) as this:  # noqa: F821
    rows = scores(
        asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"]),
        tables.read(this.input.answers, "answers"),
        tables.read(this.input.grades, "grades"),
    )
    tables.write(rows, "scores", this.output.scores)
