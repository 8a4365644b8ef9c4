"""The pages that a benchmark cites: as they were kept, and as they are now."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from devqa.errors import UserError
from devqa.steps.drift import Seen, in_a_corpus, on_the_web
from devqa.steps.sources import sources
from devqa.tables import Row
from devqa.web.corpus import build_corpus
from devqa.web.fetching.fetch import LocalFetcher, corpus_pages, open_fetcher
from devqa.web.store import Store

if TYPE_CHECKING:
    from devqa.job import Job

_CORPUS = Path("results/corpus.parquet")


def then(this: "Job", benchmark: Sequence[Row]) -> dict[str, Row]:
    """The cited pages by address, as rows of table `sources`, which may itself be older than the benchmark.

    Raises:
        UserError: the table of the local corpus can't be read.
    """
    if not _is_local(this):
        kept = open_fetcher(this, offline=True)
    else:
        kept = LocalFetcher(corpus_pages(_CORPUS) if _CORPUS.exists() else ())
    return {row["url"]: row for row in sources(benchmark, kept)}


def now(this: "Job", urls: Sequence[str], known: Mapping[str, Row], scratch: Store) -> Iterator[tuple[str, Seen]]:
    """Each of `urls` and the page there now: on the web, or in the files of the local corpus.

    Args:
        known: what `then` gave.
        scratch: where the bytes of the pages go meanwhile.

    Raises:
        UserError: nothing may be sent, not one of many hosts could be reached, or the local corpus is another one.
    """
    cleaning = this.config["clean"]
    if _is_local(this):
        return in_a_corpus(urls, build_corpus(this.config["search"]["corpus"], cleaning, this.threads), known)
    if this.offline:
        raise UserError("offline: pages can't be looked at again while it is true")
    look_again, concurrency = open_fetcher(this).look_again, this.config["fetch"]["concurrency"]
    return on_the_web(urls, look_again, scratch, known, cleaning, concurrency, this.threads)


def _is_local(this: "Job") -> bool:
    return this.config["search"]["engine"] == "local"
