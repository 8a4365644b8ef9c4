"""All tables → funnel.csv."""

import pandas as pd

from devqa import ledger, tables
from devqa.files import replacing
from devqa.job import job
from devqa.steps.questions import asked

with job(snakemake) as this:  # noqa: F821
    questions = asked(tables.read(this.input.benchmark, "benchmark"), this.options["difficulties"])
    stages = ledger.stages(this.input, this.options["pairs"], len(questions))
    ledger.check(stages)
    with replacing(this.output.funnel) as temporary:
        rows = ledger.funnel(stages, this.options["prices"])
        pd.DataFrame(rows, columns=ledger.COLUMNS).to_csv(temporary, index=False)
