"""answers of one model in one setting, all repeats → grades."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.grade import grade

with job(snakemake) as this, chat_for(this, "judge") as judge:  # noqa: F821
    answers = [tables.read(path, "answers") for path in this.input.answers]
    rows = iter(
        grade(
            tables.read(this.input.benchmark, "benchmark"),
            [row for repeat in answers for row in repeat],
            judge,
            Prompt(this.prompts, "judge"),
        )
    )
    for repeat, path in zip(answers, this.output.grades, strict=True):
        tables.write([next(rows) for _ in repeat], "grades", path)
