"""merged, and people's decisions → reviewed, benchmark and questions."""

from devqa import tables
from devqa.job import job
from devqa.review.decisions import pair_decisions
from devqa.review.following import complete, reviewed
from devqa.steps.benchmark import benchmark, cited_urls, filter_grades

with job(snakemake) as this:  # noqa: F821
    options = this.options
    kept = tables.read_ok(this.input.merged, "merged")
    verified = tables.read(this.input.verified, "verified")
    decisions = pair_decisions(this.input.decisions)
    rows = reviewed(kept, verified, decisions, options["annotators"], options["rejection"])
    if options["required"]:
        complete(rows)
    tables.write(rows, "reviewed", this.output.reviewed)
    rated = tables.read_ok([*this.input.rated, *this.input.rescued], "rated")
    cited = cited_urls(row for row in verified if row["status"] == "ok")
    made = benchmark(kept, cited, filter_grades(rated), rows, options["models"], options["prompts"])
    tables.write(made, "benchmark", this.output.benchmark)
    tables.write(({**row, "models": [], "prompts": []} for row in made), "benchmark", this.output.questions)
