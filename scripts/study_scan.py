"""A file of raw conversations → scanned: a row for each record."""

import logging
from collections import Counter

from devqa import tables
from devqa.ingest.normalise import kind
from devqa.job import job
from devqa.study.scanning import scanned
from devqa.study.topics import opened

# Rows in memory as they are written.
AT_A_TIME = 5_000

with job(snakemake) as this:  # noqa: F821
    counts: Counter[str] = Counter()

    def counted(rows):
        """The rows, counted as they pass."""
        for row in rows:
            counts["ok" if row["status"] == "ok" else f"{row['status']}: {kind(row['reason'])}"] += 1
            yield row

    with opened(this.options["topic"]) as topic:
        rows = scanned(this.input[0], topic, this.options)
        tables.write(counted(rows), "scanned", this.output[0], AT_A_TIME)
    logging.getLogger("devqa").info("%s: %s", this.options["label"], dict(sorted(counts.items())))
