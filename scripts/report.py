"""Scores, answers and grades of one model → its report, for people (HTML) and for programs (JSON)."""

import json

from devqa import tables
from devqa.files import replacing
from devqa.job import job
from devqa.reporting.data import report_data
from devqa.reporting.pages import model_report
from devqa.steps.questions import asked

with job(snakemake) as this:  # noqa: F821
    data = report_data(
        this.options["model"],
        asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"]),
        tables.read(this.input.answers, "answers"),
        tables.read(this.input.grades, "grades"),
        tables.read(this.input.scores, "scores"),
    )
    with replacing(this.output.json) as temporary:
        temporary.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    with replacing(this.output.html) as temporary:
        temporary.write_text(model_report(data), encoding="utf-8")
