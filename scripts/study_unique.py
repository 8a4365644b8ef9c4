"""scanned → unique: one of each dialogue, without secrets and personal data."""

import logging
from pathlib import Path

from devqa.errors import UserError
from devqa.job import job
from devqa.study.duplicates import unique
from devqa.study.scrubbing import scrub

with job(snakemake) as this:  # noqa: F821
    outputs = [Path(path) for path in this.output.unique]
    counts = unique(list(this.input.scanned), outputs, this.options["duplicate_similarity"], scrub)
    logging.getLogger("devqa").info("dialogues: %s", counts)
    if not counts:
        raise UserError(
            "study: no dialogue is left after the first pass. `reason` in results/study/scanned says why of each: mend "
            "study.languages, study.topic, study.toxic or study.redacted"
        )
