"""A source's files → its shards of table `dialogues`."""

import logging
from pathlib import Path

from devqa.errors import UserError
from devqa.ingest.run import ingest
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    shards = [Path(path) for path in this.output]
    counts = ingest(list(this.input), this.options["source"], shards, this.options["limits"])
    logging.getLogger("devqa").info("%s: %s", this.options["source"], counts)
    if not counts.get("ok"):
        found = "; ".join(f"{reason}: {count}" for reason, count in counts.items()) or "there are no records"
        raise UserError(f"dialogues.{this.options['source']}: no dialogue in it can be used ({found})")
