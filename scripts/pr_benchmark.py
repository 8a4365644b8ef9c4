"""context, checked, facts, and the repositories' commits → benchmark, questions and facts."""

import json
from pathlib import Path

from devqa import tables
from devqa.job import job
from devqa.pull_requests.questions.rows import benchmark, parts

with job(snakemake) as this:  # noqa: F821
    repositories = [json.loads(Path(path).read_text(encoding="utf-8")) for path in this.input.repositories]
    rows = benchmark(
        {repository["repository"]: repository for repository in repositories},
        tables.read_ok(this.input.context, "context"),
        tables.read_ok(this.input.checked, "pull_checked"),
        tables.read_ok(this.input.facts, "pull_facts"),
        **this.options,
    )
    tables.write(rows, "repository_benchmark", this.output.benchmark)
    tables.write(parts(rows, "repository_questions"), "repository_questions", this.output.questions)
    tables.write(parts(rows, "repository_facts"), "repository_facts", this.output.facts)
