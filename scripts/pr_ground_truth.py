"""repository_questions → predictions that are the true answers."""

from devqa import tables
from devqa.job import job
from devqa.pull_requests.agents.predicting import ground_truth

with job(snakemake) as this:  # noqa: F821
    questions = tables.read(this.input.questions, "repository_questions")
    tables.write(ground_truth(questions), "predictions", this.output.predictions)
