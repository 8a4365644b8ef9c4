"""All tables of the questions from pull requests, and the scores → report, funnel, leaderboard and data set."""

from devqa import tables
from devqa.job import job
from devqa.pull_requests.figures import funnel
from devqa.pull_requests.figures.export import exported
from devqa.reporting import reading, recalled
from devqa.reporting.pages import pull_requests_page
from devqa.reporting.recalling import LEADERBOARD, recalling_data
from devqa.reporting.tabular import csv_text

with job(snakemake) as this:  # noqa: F821
    options = this.options
    benchmark = recalled.read_benchmark(this.input.benchmark)
    rows = funnel.funnel(this.input, len(benchmark), options["prices"])
    data = recalling_data(
        benchmark,
        reading.read_json(this.input.statistics),
        recalled.read_predictions(this.input.predictions),
        recalled.read_recalled(this.input.recalled),
        rows,
        options["prices"],
        options["notes"],
    )
    reading.write_json(data, this.output.json)
    reading.write(pull_requests_page(data), this.output.html)
    reading.write(csv_text(rows, funnel.COLUMNS), this.output.funnel)
    reading.write(csv_text(data["leaderboard"], LEADERBOARD), this.output.leaderboard)
    whole = (row for batch in tables.batches(this.input.benchmark, "repository_benchmark", 1_000) for row in batch)
    tables.write(exported(whole), "deep_code_bench", this.output.dataset)
