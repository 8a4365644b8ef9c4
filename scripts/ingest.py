"""A source's files → its shards of table `dialogues`."""

import logging
from pathlib import Path

from devqa.ingest.run import ingest
from devqa.job import job

with job(snakemake) as this:  # noqa: F821
    shards = [Path(path) for path in this.output]
    counts = ingest(list(this.input), this.options["source"], shards, this.options["limits"])
    logging.getLogger("devqa").info("%s: %s", this.options["source"], counts)
