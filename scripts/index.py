"""All models' scores, their comparison and the funnel → the index page, and the leaderboard for papers."""

from devqa import tables
from devqa.job import job
from devqa.reporting import overview, reading, tabular
from devqa.reporting.pages import index_page
from devqa.reporting.spending import read_spent

with job(snakemake) as this:  # noqa: F821
    models, comparison = this.options["models"], reading.read_json(this.input.comparison)
    scores = tables.read(this.input.scores, "scores")
    taken = read_spent(this.input.answers)
    data = overview.index_data(
        models,
        reading.asked_rows(this.input.benchmark, this.input.domains, this.options["difficulties"]),
        scores,
        comparison,
        taken,
        reading.read_funnel(this.input.funnel),
        this.options["notes"],
    )
    board = [row for setting in data["settings"] for row in setting["leaderboard"]]
    reading.write_json(data, this.output.json)
    reading.write(tabular.csv_text(board, overview.LEADERBOARD), this.output.leaderboard)
    reading.write(tabular.csv_text(overview.comparison_rows(comparison), overview.COMPARISONS), this.output.comparisons)
    reading.write(tabular.markdown(data["settings"]), this.output.markdown)
    reading.write(tabular.latex(data["settings"], data["benchmark"]["rows"]), this.output.latex)
    reading.write(index_page(data), this.output.index)
