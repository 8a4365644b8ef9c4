"""benchmark (and, for rag, retrieved) → answers of one model in one setting, all repeats."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.answer import confidence, plain, rag
from devqa.steps.questions import asked

with job(snakemake) as this, chat_for(this, *this.asked) as chat:  # noqa: F821
    questions = asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"])
    setting, repeats = this.wildcards.setting, range(1, len(this.output.answers) + 1)
    prompt = Prompt(this.prompts, f"answer/{setting}")
    match setting:
        case "rag":
            rows = rag(questions, tables.read(this.input.retrieved, "retrieved"), chat, prompt, repeats)
        case "confidence":
            rows = confidence(questions, chat, prompt, repeats)
        case "agentic":
            from devqa.steps.agentic import agentic, open_tools

            budget = {name: this.options[name] for name in ("rounds", "calls")}
            rows = agentic(questions, chat, prompt, open_tools(this), repeats, **budget)
        case _:
            rows = plain(questions, chat, prompt, repeats)
    for number, path in enumerate(this.output.answers):
        tables.write(rows[number * len(questions) : (number + 1) * len(questions)], "answers", path)
