"""The pinned version of a repository → blocks: its files and their definitions."""

import json
import logging
from pathlib import Path

from devqa import tables
from devqa.job import job
from devqa.pull_requests.code.blocks import blocks, measured
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.repositories.repository import open_repository

# Rows in memory as they are written.
AT_A_TIME = 10_000

with job(snakemake) as this:  # noqa: F821
    commit = json.loads(Path(this.input.repository).read_text(encoding="utf-8"))["commit"]
    with (
        open_repository(this.options["origin"], commit, this.cache, this.offline) as repository,
        Parsers(measured, this.threads) as parsers,
    ):
        rows = blocks(repository, this.options["languages"], this.options["ignore"], parsers)
        tables.write(rows, "blocks", this.output.blocks, AT_A_TIME)
    logging.getLogger("devqa").info("%s: %d files parsed", this.options["origin"]["label"], parsers.parsed)
