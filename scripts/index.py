"""All models' reports and the funnel → the index page and the leaderboard."""

import json
from pathlib import Path

import pandas as pd

from devqa.files import replacing
from devqa.job import job
from devqa.reporting.data import LEADERBOARD, index_data, leaderboard_rows
from devqa.reporting.pages import index_page

with job(snakemake) as this:  # noqa: F821
    reports = []
    for path in this.input.reports:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        # The single rows are not shown here, and there are many.
        reports.append({key: value for key, value in report.items() if key not in ("rows", "runs")})
    funnel = pd.read_csv(this.input.funnel, keep_default_na=False).to_dict("records")
    with replacing(this.output.leaderboard) as temporary:
        pd.DataFrame(leaderboard_rows(reports), columns=LEADERBOARD).to_csv(temporary, index=False)
    with replacing(this.output.index) as temporary:
        temporary.write_text(index_page(index_data(reports, funnel, this.options["notes"])), encoding="utf-8")
