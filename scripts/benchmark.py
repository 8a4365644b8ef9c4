"""rated → merged, benchmark and questions."""

from devqa import tables
from devqa.job import job
from devqa.steps.benchmark import benchmark, cited_urls, filter_grades, merged

with job(snakemake) as this:  # noqa: F821
    rated = tables.read_ok(this.input.rated, "rated")
    rows = merged(rated, this.options["duplicate_similarity"])
    tables.write(rows, "merged", this.output.merged)
    kept = [row for row in rows if row["status"] == "ok"]
    cited = cited_urls(tables.read_ok(this.input.verified, "verified"))
    provenance = this.options["models"], this.options["prompts"]
    filtered = filter_grades(rated)
    tables.write(benchmark(kept, cited, filtered, *provenance), "benchmark", this.output.benchmark)
    tables.write(benchmark(kept, cited, filtered, [], []), "benchmark", this.output.questions)
