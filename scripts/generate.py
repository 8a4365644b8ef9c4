"""dialogues with search results, their condensed references, and the pages' own texts → pairs."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.generate import generate

with job(snakemake) as this, chat_for(this, "generate") as chat:  # noqa: F821
    searched = {row["dialogue_id"] for row in tables.read_ok(this.input.search, "search")}
    rows = generate(
        [row for row in tables.read_ok(this.input.dialogues, "dialogues") if row["dialogue_id"] in searched],
        tables.read_ok(this.input.condensed, "condensed"),
        tables.read_ok(this.input.references, "references"),
        tables.read_ok(this.input.queries, "queries"),
        chat,
        Prompt(this.prompts, "generate"),
        **this.options,
    )
    tables.write(rows, "pairs", this.output.pairs)
