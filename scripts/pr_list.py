"""A repository at its pinned commit → pulls: its pull requests, what they changed, and which are taken."""

import json
import logging
from collections import Counter
from pathlib import Path

from devqa import tables
from devqa.ingest.normalise import kind
from devqa.job import job
from devqa.pull_requests.listing.listed import listed
from devqa.pull_requests.listing.sources import pulls
from devqa.pull_requests.repositories.repository import open_repository

with job(snakemake) as this:  # noqa: F821
    label = this.options["label"]
    identity = json.loads(Path(this.input.repository).read_text(encoding="utf-8"))
    # Not in the recipe: by whom one is let in makes no difference.
    token_env = this.config["pull_requests"]["repositories"][label]["token_env"]
    with open_repository(this.options, identity["commit"], this.cache, this.offline) as repository:
        found = pulls(repository, identity, this.options, list(this.input.file), token_env, this.cache, this.offline)
        rows = listed(repository, found, label, this.options["select"])
    tables.write(rows, "pulls", this.output.pulls)
    counts = Counter("ok" if row["status"] == "ok" else f"{row['status']}: {kind(row['reason'])}" for row in rows)
    logging.getLogger("devqa").info("%s: %s", label, dict(sorted(counts.items())))
