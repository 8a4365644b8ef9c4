"""pull_questions, what their pull requests changed, and the pinned repository → pull_checked, one repository."""

import json
from pathlib import Path

from devqa import tables
from devqa.job import job
from devqa.llm.roles import chat_for
from devqa.prompts import Prompt
from devqa.pull_requests.questions.checking import check, known, read_files, with_searches

with job(snakemake) as this, chat_for(this, "pr_check") as chat:  # noqa: F821
    repository = json.loads(Path(this.input.repository).read_text(encoding="utf-8"))
    context = tables.read_ok(this.input.context, "context")
    things = known(this.input.blocks, context, repository["name"])
    questions = tables.read_ok(this.input.questions, "pull_questions")
    rows = check(questions, context, things, chat, Prompt(this.prompts, "pull_requests/check"))
    files = read_files(this.input.blocks, this.options["origin"], repository["commit"], this.cache, this.offline)
    rows = with_searches(rows, context, files, this.options["rare"])
    tables.write(rows, "pull_checked", this.output.checked)
