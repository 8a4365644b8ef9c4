"""benchmark → domains."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.domains import domains
from devqa.steps.questions import asked

with job(snakemake) as this, chat_for(this, "domains") as chat:  # noqa: F821
    questions = asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"])
    rows = domains(questions, chat, Prompt(this.prompts, "domains"), this.options["names"])
    tables.write(rows, "domains", this.output.domains)
