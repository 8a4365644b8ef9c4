"""answers and grades of one model → scores, and the statistics that go with them."""

from devqa import tables
from devqa.evaluation import as_json
from devqa.evaluation.knowledge import grouped
from devqa.evaluation.metrics import scores
from devqa.evaluation.model_statistics import model_statistics
from devqa.evaluation.runs import questions, read_answers, read_grades, runs, verdicts
from devqa.job import job
from devqa.review.grades import people_grades

with job(snakemake) as this:  # noqa: F821
    options = this.options
    rows = questions(this.input.benchmark, this.input.domains, options["difficulties"])
    rows = grouped(rows, options["groups"])
    answers = read_answers(this.input.answers)
    grades, panel = read_grades(this.input.grades), read_grades(this.input.panel)
    people = people_grades(this.input.human, options["human_grades"]) if options["human_grades"] else []
    tables.write(scores(rows, answers, verdicts(grades, panel, options["verdict"])), "scores", this.output.scores)
    found = runs(rows, answers, grades, panel, options["verdict"])
    as_json.write(model_statistics(this.wildcards.model, rows, found, people), this.output.statistics)
