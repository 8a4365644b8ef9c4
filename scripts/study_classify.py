"""sampled → classified."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.study.classifying import suitability, tasks

with job(snakemake) as this:  # noqa: F821
    categories, knowledge, text_tokens = (this.options[name] for name in ("categories", "knowledge", "text_tokens"))
    rows = tables.read_ok(this.input.sampled, "sampled")
    with chat_for(this, "study_tasks") as chat:
        rows = tasks(rows, chat, Prompt(this.prompts, "study/tasks"), categories, knowledge, text_tokens)
    with chat_for(this, "study_suitability") as chat:
        rows = suitability(rows, chat, Prompt(this.prompts, "study/suitability"), knowledge, text_tokens)
    tables.write(rows, "classified", this.output.classified)
