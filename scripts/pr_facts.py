"""pull_answers, and what their pull requests changed → pull_facts, one repository."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.questions.facts import facts, supported

with job(snakemake) as this:  # noqa: F821
    answered = tables.read_ok(this.input.answered, "pull_answers")
    with chat_for(this, "pr_facts") as chat:
        rows = facts(answered, chat, Prompt(this.prompts, "pull_requests/facts"), **this.options)
    context = tables.read_ok(this.input.context, "context")
    with chat_for(this, "pr_support") as chat:
        rows = supported(rows, answered, context, chat, Prompt(this.prompts, "pull_requests/support"))
    tables.write(rows, "pull_facts", this.output.facts)
