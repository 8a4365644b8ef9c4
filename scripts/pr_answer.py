"""pull_checked, and what their pull requests changed → pull_answers, one repository."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.questions.answering import answers

with job(snakemake) as this, chat_for(this, "pr_answer") as chat:  # noqa: F821
    rows = answers(
        tables.read_ok(this.input.checked, "pull_checked"),
        tables.read_ok(this.input.context, "context"),
        chat,
        Prompt(this.prompts, "pull_requests/answer"),
    )
    tables.write(rows, "pull_answers", this.output.answered)
