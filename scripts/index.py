"""All models' scores, their comparison, the funnel, people's decisions → the index page, the leaderboard for papers."""

from devqa import tables
from devqa.job import job
from devqa.reporting import beside, overview, reading, tabular
from devqa.reporting.pages import index_page
from devqa.reporting.reviewing import review
from devqa.reporting.spending import read_spent
from devqa.review.decisions import FILES, decisions

with job(snakemake) as this:  # noqa: F821
    options, comparison = this.options, reading.read_json(this.input.comparison)
    benchmark = reading.asked_rows(this.input.benchmark, this.input.domains, options["difficulties"], options["groups"])
    funnel = reading.read_funnel(this.input.funnel)
    merged = reading.read_columns(this.input.merged, "merged", ["pair_id", "difficulty"])
    reviewed = reading.read_columns(this.input.reviewed, "reviewed", ["pair_id", "decision"])
    decided = {kind: decisions(this.input[f"decided_{kind}"], table) for kind, table in FILES.items()}
    data = overview.index_data(
        options["models"],
        benchmark,
        tables.read(this.input.scores, "scores"),
        comparison,
        read_spent(this.input.answers),
        funnel,
        options["notes"],
        review(decided, options["annotators"], options["rejection"], reviewed),
        beside.steps(funnel, merged, reviewed),
        beside.knowledge(benchmark, options["groups"]),
    )
    board = [row for setting in data["settings"] for row in setting["leaderboard"]]
    reading.write_json(data, this.output.json)
    reading.write(tabular.csv_text(board, overview.LEADERBOARD), this.output.leaderboard)
    reading.write(tabular.csv_text(overview.comparison_rows(comparison), overview.COMPARISONS), this.output.comparisons)
    reading.write(tabular.markdown(data["settings"]), this.output.markdown)
    reading.write(tabular.latex(data["settings"], data["benchmark"]["rows"]), this.output.latex)
    reading.write(index_page(data), this.output.index)
