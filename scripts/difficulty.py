"""verified → rated."""

from contextlib import ExitStack

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.difficulty import difficulty

with job(snakemake) as this, ExitStack() as stack:  # noqa: F821
    rows = difficulty(
        tables.read_ok(this.input.verified, "verified"),
        [stack.enter_context(chat_for(this, "answer", number)) for number in range(len(this.asked["answer"]))],
        stack.enter_context(chat_for(this, "judge")),
        Prompt(this.prompts, "answer/plain"),
        Prompt(this.prompts, "judge"),
    )
    tables.write(rows, "rated", this.output.rated)
