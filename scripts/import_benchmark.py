"""A benchmark from elsewhere → table benchmark."""

from devqa import tables
from devqa.imports.benchmark import benchmark
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    rows = benchmark(this.input.files, this.options["columns"], this.options["named"])
    tables.write(rows, "benchmark", this.output.benchmark)
