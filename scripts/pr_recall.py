"""predictions of one agent in one setting, all repeats → recalled."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.agents.recall import recalled

with job(snakemake) as this, chat_for(this, "pr_judge") as judge:  # noqa: F821
    predictions = [tables.read(path, "predictions") for path in this.input.predictions]
    rows = iter(
        recalled(
            tables.read(this.input.facts, "repository_facts"),
            [row for repeat in predictions for row in repeat],
            judge,
            Prompt(this.prompts, "pull_requests/judge"),
            this.options["batch"],
        )
    )
    for repeat, path in zip(predictions, this.output.recalled, strict=True):
        tables.write([next(rows) for _ in repeat], "recalled", path)
