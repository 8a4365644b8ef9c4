"""Scores, statistics, answers and grades of one model → its report, for people (HTML) and for programs (JSON, CSV)."""

from devqa import tables
from devqa.job import job
from devqa.reporting import reading
from devqa.reporting.data import report_data
from devqa.reporting.pages import model_report
from devqa.reporting.spending import read_spent
from devqa.reporting.tabular import csv_text

with job(snakemake) as this:  # noqa: F821
    scores = tables.read(this.input.scores, "scores")
    data = report_data(
        this.options["model"],
        reading.asked_rows(
            this.input.benchmark, this.input.domains, this.options["difficulties"], this.options["groups"]
        ),
        (row for batch in tables.batches(this.input.answers, "answers", 500) for row in batch),
        tables.read(this.input.grades, "grades"),
        scores,
        read_spent(this.input.answers),
        reading.read_json(this.input.statistics),
        tables.read(this.input.panel, "grades"),
        this.options["verdict"],
    )
    reading.write_json(data, this.output.json)
    reading.write(csv_text(scores, tables.SCHEMAS["scores"].names), this.output.csv)
    reading.write(model_report(data), this.output.html)
