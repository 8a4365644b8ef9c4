"""evidence → verified."""

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.steps.verify import verify

with job(snakemake) as this, chat_for(this, "verify") as chat:  # noqa: F821
    rows = verify(
        tables.read_ok(this.input.evidence, "evidence"),
        chat,
        Prompt(this.prompts, "verify/answer"),
        Prompt(this.prompts, "verify/compare"),
    )
    tables.write(rows, "verified", this.output.verified)
