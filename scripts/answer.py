"""benchmark → answers of one model in one setting, one repeat."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.answer import answer
from devqa.steps.questions import asked

with job(snakemake) as this, chat_for(this, "answer") as chat:  # noqa: F821
    questions = asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"])
    setting, repeat = this.wildcards.setting, int(this.wildcards.repeat)
    rows = answer(questions, chat, Prompt(this.prompts, f"answer/{setting}"), setting, repeat)
    tables.write(rows, "answers", this.output.answers)
