"""questions, answers and grades → review_grades: the sample of graded answers that people grade too."""

from devqa import tables
from devqa.job import job
from devqa.review.tasks import grades_to_review

with job(snakemake) as this:  # noqa: F821
    rows = grades_to_review(
        tables.read(this.input.benchmark, "benchmark"),
        tables.read_ok(this.input.answers, "answers"),
        tables.read_ok(this.input.grades, "grades"),
        this.options["grades"],
        this.options["seed"],
    )
    tables.write(rows, "review_grades", this.output.grades)
