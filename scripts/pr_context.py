"""The pull requests of a repository → context: what they changed, as it stands in the pinned version."""

import json
import logging
from collections import Counter
from contextlib import closing
from pathlib import Path

from devqa import tables
from devqa.ingest.normalise import kind
from devqa.job import job
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.context.assembling import Contexts
from devqa.pull_requests.context.pinned import Pinned
from devqa.pull_requests.context.timeline import Timeline
from devqa.pull_requests.context.tracking import Tracker
from devqa.pull_requests.context.versions import Versions, found
from devqa.pull_requests.repositories.repository import open_repository

# Rows in memory as they are written.
AT_A_TIME = 100

with job(snakemake) as this:  # noqa: F821
    commit = json.loads(Path(this.input.repository).read_text(encoding="utf-8"))["commit"]
    pulls = tables.read_ok(this.input.pulls, "pulls")
    counts: Counter[str] = Counter()

    def counted(rows):
        """The rows, counted as they pass."""
        for row in rows:
            counts["ok" if row["status"] == "ok" else f"{row['status']}: {kind(row['reason'])}"] += 1
            yield row

    with (
        open_repository(this.options["origin"], commit, this.cache, this.offline) as repository,
        Parsers(found, this.threads) as parsers,
        closing(Timeline(repository, [pull["head"] for pull in pulls])) as timeline,
    ):
        pinned = Pinned(this.input.blocks)
        versions = Versions(repository, pinned, parsers)
        tracker = Tracker(timeline, versions, pinned, this.options["languages"])
        contexts = Contexts(repository, timeline, versions, tracker, this.options)
        tables.write(counted(contexts.rows(pulls)), "context", this.output.context, AT_A_TIME)
    label = this.options["origin"]["label"]
    logging.getLogger("devqa").info("%s: %s; %d files parsed", label, dict(sorted(counts.items())), parsers.parsed)
