"""repository_questions (and, for retrieval, blocks) → predictions of one model in one setting, all repeats."""

from pathlib import Path

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.agents.predicting import full_context, no_context, retrieval

with job(snakemake) as this, chat_for(this, *this.asked) as chat:  # noqa: F821
    questions = tables.read(this.input.questions, "repository_questions")
    setting, repeats = this.wildcards.setting, range(1, len(this.output.predictions) + 1)
    prompt = Prompt(this.prompts, f"pull_requests/{setting}")
    match setting:
        case "retrieval":
            from devqa.pull_requests.agents.retrieving import retrieve

            blocks = {Path(path).stem: path for path in this.input.blocks}
            budget = {name: this.options[name] for name in ("blocks", "block_tokens")}
            found = retrieve(questions, this.options["origins"], blocks, this.cache, this.offline, **budget)
            rows = retrieval(questions, found, chat, prompt, repeats)
        case "agentic":
            from devqa.pull_requests.agents.agent import agentic
            from devqa.pull_requests.agents.checkout import checkouts

            budget = {name: this.options[name] for name in ("rounds", "calls", "result_tokens")}
            there = checkouts(questions, this.options["origins"], this.cache, this.offline)
            rows = agentic(questions, there, chat, prompt, repeats, **budget)
        case "full_context":
            rows = full_context(questions, chat, prompt, repeats)
        case _:
            rows = no_context(questions, chat, prompt, repeats)
    for number, path in enumerate(this.output.predictions):
        tables.write(rows[number * len(questions) : (number + 1) * len(questions)], "predictions", path)
