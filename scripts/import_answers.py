"""Answers of one model in one setting from elsewhere, all repeats → answers, and their grades if they have some."""

import csv

from devqa import tables
from devqa.files import replacing
from devqa.imports.answers import UNMATCHED, imported
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    found = imported(tables.read(this.input.benchmark, "benchmark"), this.options)
    for rows, path in zip(found.answers, this.output.answers, strict=True):
        tables.write(rows, "answers", path)
    for rows, path in zip(found.grades, this.output.grades, strict=True):
        tables.write(rows, "grades", path)
    with replacing(this.output.unmatched) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, UNMATCHED, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found.unmatched)
