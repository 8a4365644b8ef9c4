"""rated → merged and benchmark."""

from devqa import tables
from devqa.job import job
from devqa.steps.benchmark import benchmark, cited_urls, merged

with job(snakemake) as this:  # noqa: F821
    rows = merged(tables.read_ok(this.input.rated, "rated"), this.options["duplicate_similarity"])
    tables.write(rows, "merged", this.output.merged)
    kept = [row for row in rows if row["status"] == "ok"]
    cited = cited_urls(tables.read_ok(this.input.verified, "verified"))
    tables.write(
        benchmark(kept, cited, this.options["models"], this.options["prompts"]), "benchmark", this.output.benchmark
    )
