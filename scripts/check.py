"""pairs → checked."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.check import check

with job(snakemake) as this, chat_for(this, "check") as chat:  # noqa: F821
    rows = check(tables.read_ok(this.input.pairs, "pairs"), chat, Prompt(this.prompts, "check"), **this.options)
    tables.write(rows, "checked", this.output.checked)
