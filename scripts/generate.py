"""dialogues with search results, and their condensed references → pairs."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.generate import generate

with job(snakemake) as this, chat_for(this, "generate") as chat:  # noqa: F821
    searched = {row["dialogue_id"] for row in tables.read_ok(this.input.search, "search")}
    dialogues = [row for row in tables.read_ok(this.input.dialogues, "dialogues") if row["dialogue_id"] in searched]
    condensed = tables.read_ok(this.input.condensed, "condensed")
    rows = generate(dialogues, condensed, chat, Prompt(this.prompts, "generate"), **this.options)
    tables.write(rows, "pairs", this.output.pairs)
