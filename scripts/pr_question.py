"""context → pull_questions, one repository."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.questions.asking import questions

with job(snakemake) as this, chat_for(this, "pr_question") as chat:  # noqa: F821
    rows = questions(
        tables.read_ok(this.input.context, "context"),
        chat,
        Prompt(this.prompts, "pull_requests/question"),
        **this.options,
    )
    tables.write(rows, "pull_questions", this.output.questions)
