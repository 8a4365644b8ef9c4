"""repository_questions → predictions of one external agent, all repeats."""

from devqa import tables
from devqa.job import job
from devqa.prompts import Prompt
from devqa.pull_requests.agents.commands import Command, answered

with job(snakemake) as this:  # noqa: F821
    questions = tables.read(this.input.questions, "repository_questions")
    name, repeats = this.wildcards.agent, range(1, len(this.output.predictions) + 1)
    origins = this.options.pop("origins")
    jobs = this.config["pull_requests"]["evaluation"]["commands"][name]["jobs"]
    rows, this.wants_again = answered(
        questions,
        Command(name, jobs=jobs, **this.options),
        Prompt(this.prompts, "pull_requests/command"),
        repeats,
        origins=origins,
        cache=this.cache,
        offline=this.offline,
        forced_at=this.forced_at,
    )
    for number, path in enumerate(this.output.predictions):
        tables.write(rows[number * len(questions) : (number + 1) * len(questions)], "predictions", path)
