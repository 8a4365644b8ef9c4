"""dialogues → queries."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.queries import queries

with job(snakemake) as this, chat_for(this, "queries") as chat:  # noqa: F821
    dialogues = tables.read_ok(this.input.dialogues, "dialogues")
    rows = queries(dialogues, chat, Prompt(this.prompts, "queries"), **this.options)
    tables.write(rows, "queries", this.output.queries)
