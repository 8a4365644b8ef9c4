"""unique → filtered, one shard."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.study.filtering import about_development

with job(snakemake) as this, chat_for(this, "study_filter") as chat:  # noqa: F821
    dialogues = tables.read_ok(this.input.unique, "unique")
    rows = about_development(dialogues, chat, Prompt(this.prompts, "study/filter"), **this.options)
    tables.write(rows, "filtered", this.output.filtered)
