"""Predictions of all agents and the facts found in them → fact recall, with intervals and comparisons."""

from devqa.evaluation import as_json
from devqa.job import job
from devqa.pull_requests.figures.runs import read_questions, read_runs
from devqa.pull_requests.figures.statistics import statistics

with job(snakemake) as this:  # noqa: F821
    questions = read_questions(this.input.questions, this.input.facts)
    runs = read_runs(this.options["runs"], questions, this.input.predictions, this.input.recalled)
    as_json.write(statistics(questions, runs), this.output.statistics)
