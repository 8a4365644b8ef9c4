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
from devqa.steps.sources import sources
from devqa.tables import Row
from devqa.web.corpus import build_corpus
from devqa.web.fetching.fetch import LocalFetcher, corpus_pages, open_fetcher
from devqa.web.store import Store

BENCHMARK = Path("results/benchmark.parquet")
CORPUS = Path("results/corpus.parquet")
DRIFT = Path("results/drift.csv")


def benchmark(this: Job) -> list[Row]:
    """The rows of the benchmark that is there."""
    if this.config["evaluation"]["benchmark"]:
        raise UserError("evaluation.benchmark: a benchmark from elsewhere names no pages that could be looked at again")
    if not BENCHMARK.exists():
        raise UserError(f"there is no {BENCHMARK} whose pages could be looked at again: build one first")
    return tables.read(BENCHMARK, "benchmark")


def pages_then(this: Job, rows: list[Row]) -> dict[str, Row]:
    """The cited pages by address, as they were kept; table `sources` may be older than the benchmark."""
    if this.config["search"]["engine"] != "local":
        kept = open_fetcher(this, offline=True)
    else:
        kept = LocalFetcher(corpus_pages(CORPUS) if CORPUS.exists() else ())
    return {row["url"]: row for row in sources(rows, kept)}


def pages_now(this: Job, urls: list[str], then: dict[str, Row], scratch: Store) -> Iterator[tuple[str, Seen]]:
    """The pages as they are now: the files of the local corpus, or on the web."""
    search, cleaning = this.config["search"], this.config["clean"]
    if search["engine"] == "local":
        return in_a_corpus(urls, build_corpus(search["corpus"], cleaning, this.threads), then)
    if this.offline:
        raise UserError("offline: pages can't be looked at again while it is true")
    look_again = open_fetcher(this).look_again
    concurrency = this.config["fetch"]["concurrency"]
    return on_the_web(urls, look_again, scratch, then, cleaning, concurrency, this.threads)


with job(snakemake) as this, tempfile.TemporaryDirectory(prefix="devqa-drift-") as folder:  # noqa: F821
    rows = benchmark(this)
    if not (urls := cited(rows)):
        raise UserError(f"no row of {BENCHMARK} cites a page: there is nothing to look at again")
    then = pages_then(this, rows)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = drift(rows, pages_now(this, urls, then, Store(folder)), then, now)
    with replacing(DRIFT) as temporary:
        temporary.write_text(csv_text(found, COLUMNS), encoding="utf-8", newline="")
    sys.stdout.write("\n".join(["", *summary(found, str(DRIFT)), ""]))
