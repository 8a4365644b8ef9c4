"""answers → grades."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.grade import grade

with job(snakemake) as this, chat_for(this, "judge") as judge:  # noqa: F821
    rows = grade(
        tables.read(this.input.benchmark, "benchmark"),
        tables.read(this.input.answers, "answers"),
        judge,
        Prompt(this.prompts, "judge"),
    )
    tables.write(rows, "grades", this.output.grades)
