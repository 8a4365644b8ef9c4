"""answers and grades of all models → how they compare."""

from devqa.evaluation import as_json
from devqa.evaluation.comparing import comparison, correlated
from devqa.evaluation.people import comparison_with_people
from devqa.evaluation.runs import questions, read_runs
from devqa.imports.figures import outside_figures
from devqa.job import job
from devqa.review.grades import people_grades

with job(snakemake) as this:  # noqa: F821
    options = this.options
    human, outside = options["human_grades"], options["code_generation"]
    rows = questions(this.input.benchmark, [], options["difficulties"])
    runs = read_runs(
        options["models"], rows, this.input.answers, this.input.grades, this.input.panel, options["verdict"]
    )
    people = human and comparison_with_people(rows, runs, people_grades(this.input.human, human), human["path"])
    correlation = outside and correlated(runs, outside_figures(this.input.code_generation, outside), outside["name"])
    found = {
        **comparison(rows, runs),
        "correlation": correlation,
        "people": people,
        "families": options["families"],
    }
    as_json.write(found, this.output.comparison)
