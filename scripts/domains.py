"""benchmark, and people's decisions → domains."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.review.decisions import decisions
from devqa.review.settling import settled
from devqa.steps.domains import domains
from devqa.steps.questions import asked

with job(snakemake) as this, chat_for(this, "domains") as chat:  # noqa: F821
    names = this.options["names"]
    questions = asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"])
    # A name that is no longer among them sorts nothing.
    labels = [row for row in decisions(this.input.decisions, "domain_decisions") if row["domain"] in names]
    people = settled("domain_decisions", labels, this.options.get("annotators", 1))
    rows = domains(
        questions,
        chat,
        Prompt(this.prompts, "domains"),
        names,
        {name: row["domain"] for (name,), row in people.items()},
    )
    tables.write(rows, "domains", this.output.domains)
