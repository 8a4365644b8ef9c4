"""The benchmark that is there → results/drift.csv: answers whose support has vanished from the pages that they cite."""

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from devqa import tables
from devqa.errors import UserError
from devqa.files import replacing
from devqa.job import Job, job
from devqa.reporting.tabular import csv_text
from devqa.steps.drift import COLUMNS, Seen, cited, drift, in_a_corpus, on_the_web, summary
from devqa.tables import Row
from devqa.web.corpus import build_corpus
from devqa.web.fetching.fetch import open_fetcher
from devqa.web.store import Store

BENCHMARK = Path("results/benchmark.parquet")
SOURCES = Path("results/sources.parquet")
DRIFT = Path("results/drift.csv")


def benchmark(this: Job) -> list[Row]:
    """The rows of the benchmark that is there."""
    if this.config["evaluation"]["benchmark"]:
        raise UserError("evaluation.benchmark: a benchmark from elsewhere names no pages that could be looked at again")
    if not BENCHMARK.exists():
        raise UserError(f"there is no {BENCHMARK} whose pages could be looked at again: build one first")
    return tables.read(BENCHMARK, "benchmark")


def pages_now(this: Job, urls: list[str], sources: dict[str, Row], scratch: Store) -> Iterator[tuple[str, Seen]]:
    """The pages as they are now: the files of the local corpus, or on the web."""
    search, cleaning = this.config["search"], this.config["clean"]
    if search["engine"] == "local":
        return in_a_corpus(urls, build_corpus(search["corpus"], cleaning, this.threads), sources)
    if this.offline:
        raise UserError("offline: pages can't be looked at again while it is true")
    look_again = open_fetcher(this).look_again
    concurrency = this.config["fetch"]["concurrency"]
    return on_the_web(urls, look_again, scratch, sources, cleaning, concurrency, this.threads)


with job(snakemake) as this, tempfile.TemporaryDirectory(prefix="devqa-drift-") as folder:  # noqa: F821
    rows = benchmark(this)
    if not (urls := cited(rows)):
        raise UserError(f"no row of {BENCHMARK} cites a page: there is nothing to look at again")
    sources = {row["url"]: row for row in tables.read(SOURCES, "sources")} if SOURCES.exists() else {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = drift(rows, pages_now(this, urls, sources, Store(folder)), sources, now)
    with replacing(DRIFT) as temporary:
        temporary.write_text(csv_text(found, COLUMNS), encoding="utf-8", newline="")
    sys.stdout.write("\n".join(["", *summary(found, str(DRIFT)), ""]))
