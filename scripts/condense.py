"""references → condensed."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.condense import condense

with job(snakemake) as this, chat_for(this, "condense") as chat:  # noqa: F821
    rows = condense(
        tables.read_ok(this.input.references, "references"),
        tables.read_ok(this.input.queries, "queries"),
        chat,
        Prompt(this.prompts, "condense"),
        **this.options,
    )
    tables.write(rows, "condensed", this.output.condensed)
