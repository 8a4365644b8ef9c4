"""All tables of the study, and people's decisions about its dialogues → the study's report (HTML and JSON)."""

from devqa import ledger, tables
from devqa.job import job
from devqa.reporting import reading
from devqa.reporting.pages import study_page
from devqa.reporting.reviewing import review
from devqa.reporting.studying import study_data
from devqa.review.decisions import decisions
from devqa.review.settling import settled
from devqa.study import figures

STAGES = ("scanned", "unique", "filtered", "sampled", "classified")

with job(snakemake) as this:  # noqa: F821
    options = this.options
    classified = tables.read(this.input.classified, "classified")
    # What people have said of dialogues that are no longer drawn stays in their file.
    drawn_now = {row["dialogue_id"] for row in classified}
    decided = [row for row in decisions(this.input.decisions, "dialogue_decisions") if row["dialogue_id"] in drawn_now]
    people = {name: row for (name,), row in settled("dialogue_decisions", decided, options["annotators"]).items()}
    files = {name: [found] if isinstance(found := this.input[name], str) else found for name in STAGES}
    stages = [(ledger.stage(name, files[name]), None) for name in STAGES]
    drawn = ["language", "characters", "model", "status"]
    data = study_data(
        ledger.funnel(stages, options["prices"]),
        options["sample"],
        figures.population(
            row for batch in tables.batches(this.input.sampled, "sampled", 10_000, drawn) for row in batch
        ),
        figures.findings(figures.labelled(classified, people), options["categories"], options["knowledge"]),
        figures.model_against_people(classified, people),
        review({"dialogues": decided}, options["annotators"], options["rejection"]),
    )
    reading.write_json(data, this.output.json)
    reading.write(study_page(data), this.output.html)
