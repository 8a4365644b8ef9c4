"""Pages by their URL: from the local corpus, or over the network within bounds and with manners."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import zstandard

from devqa import tables
from devqa.files import unique_name
from devqa.llm.spend import RUN
from devqa.tables import Row
from devqa.web.fetching.addresses import redirected, web_address, without_fragment
from devqa.web.fetching.connection import Connector, Guard, Refused, Resolver, Unreached, connect, resolve
from devqa.web.fetching.fetched import Fetched, Fetcher, without_page
from devqa.web.fetching.kept import FORBIDDEN, GONE, Entry, Outcomes, iso
from devqa.web.fetching.requesting import Answer, Bounds, Broken, Budget, Client
from devqa.web.fetching.robots import NoRobots, Robots
from devqa.web.pace import Pace
from devqa.web.sniff import unwanted, unwanted_type
from devqa.web.store import NotKept, Store

if TYPE_CHECKING:
    from devqa.job import Job

__all__ = ["Fetched", "Fetcher", "LocalFetcher", "WebFetcher", "open_fetcher"]

_PAGE = frozenset((200, 203))
_NOTHING = frozenset((204, 205))
_UNCHANGED = 304
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_CORPUS_BATCH = 500


class LocalFetcher:
    """The pages of table `corpus` (columns url, content, content_type, status), held compressed."""

    def __init__(self, corpus_rows: Iterable[Row]):
        compressor = zstandard.ZstdCompressor()
        self._pages: dict[str, tuple[str, bytes]] = {}
        for row in corpus_rows:
            if row["status"] == "ok" and row["url"] not in self._pages:
                self._pages[row["url"]] = row["content_type"], compressor.compress(row["content"])

    def fetch(self, url: str) -> Fetched:
        """The page as it lies in the corpus."""
        url = url if url in self._pages else without_fragment(url)
        if url not in self._pages:
            return without_page(url, "rejected", "not in the local corpus")
        content_type, compressed = self._pages[url]
        # A decompressor of its own: they are not safe in threads.
        return Fetched(url, 200, content_type, zstandard.ZstdDecompressor().decompress(compressed), "ok", "")


class WebFetcher:
    """Pages over http and https, within the bounds of section `fetch` of the configuration.

    What came back is kept in `store`, good or bad (`devqa.web.fetching.kept`): a page is sent for once. Only public
    addresses are asked, but for `private_hosts`, and only what a host's robots.txt allows.

    Args:
        options: section `fetch` of the configuration.
        store: where outcomes, pages and robots.txt are kept.
        pace: when a host may be asked; None: without waiting.
        resolver, connector: stand in for the system's.
        offline: nothing is sent at all; what was kept last is the outcome.
        run: the run's name; what fails is not asked again in the same run. "" is a run of its own.
        now: the time, in seconds since 1970.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        store: Store,
        *,
        pace: Pace | None = None,
        resolver: Resolver = resolve,
        connector: Connector = connect,
        offline: bool = False,
        run: str = "",
        now: Callable[[], float] = time.time,
    ):
        self._timeout_s = options["timeout_s"]
        self._max_redirects = options["max_redirects"]
        self._bounds = Bounds(options["max_bytes"], of_type=unwanted_type, of_bytes=unwanted)
        token = options["user_agent"].partition("/")[0]
        terms = {
            **{name: options[name] for name in ("max_bytes", "max_redirects")},
            "private_hosts": sorted(options["private_hosts"]),
            "agent": token,
        }
        run = run or unique_name()
        self._client = Client(options, Guard(options["private_hosts"], resolver, connector), pace)
        self._robots = Robots(self._client, store, token, self._timeout_s, run, now)
        self._outcomes = Outcomes(store, terms, run, now)
        self._offline = offline
        self._now = now

    def fetch(self, url: str) -> Fetched:
        """The page at `url`, after at most `max_redirects` redirects and `timeout_s` seconds of its servers' time.

        Raises:
            NotKept: `offline`, and nothing is kept.
        """
        url = without_fragment(url)
        try:
            web_address(url)
        except Refused as refused:
            return without_page(url, "rejected", str(refused))
        kept = self._outcomes.get(url)
        if kept is not None and (self._offline or self._outcomes.holds(kept)):
            return kept.fetched
        if self._offline:
            raise NotKept(url)
        try:
            fetched, answer = self._sent_for(url, None, lambda: self._check_whether_it_came(url))
        except _Came as came:
            return came.fetched
        fetched = self._outcomes.put(url, fetched, kept, answer.etag, answer.last_modified)
        # A host that could not be reached before says nothing of the network now.
        return fetched if kept is None or fetched.reached else replace(fetched, reached=None)

    def look_again(self, url: str) -> Fetched:
        """The page at `url` as it is now; what is kept of pages stays as it is.

        A server that says that the kept page has not changed gives status `ok`, `http_status` 304 and that content.

        Raises:
            NotKept: `offline`.
        """
        url = without_fragment(url)
        if self._offline:
            raise NotKept(url)
        kept = self._outcomes.get(url)
        fetched, _ = self._sent_for(url, kept if kept and kept.sha256 else None)
        return replace(fetched, fetched=iso(self._now()))

    def _check_whether_it_came(self, url: str) -> None:
        """While this job waited for the host's turn, another one may have had the page."""
        kept = self._outcomes.get(url)
        if kept is not None and self._outcomes.holds(kept):
            raise _Came(kept.fetched)

    def _sent_for(
        self, url: str, known: Entry | None, before: Callable[[], None] = lambda: None
    ) -> tuple[Fetched, Answer]:
        """What comes back, and the last answer to it."""
        try:
            return self._followed(url, known, before)
        except Refused as refused:
            return without_page(url, "rejected", str(refused)), Answer(0)
        except Unreached as fault:
            return without_page(url, "failed", str(fault), reached=False), Answer(0)
        except NoRobots as fault:
            return without_page(url, "failed", str(fault), reached=fault.reached), Answer(0)
        except Broken as fault:
            return without_page(url, "failed", str(fault), reached=True), Answer(0)

    def _followed(self, url: str, known: Entry | None, before: Callable[[], None]) -> tuple[Fetched, Answer]:
        budget = Budget(self._timeout_s)
        for _ in range(self._max_redirects + 1):
            headers = _conditions(known) if known and known.fetched.final_url == url else {}
            try:
                address = web_address(url)
                rules = self._robots.rules(address)
                if not rules.allows(address.url):
                    return without_page(url, "rejected", FORBIDDEN), Answer(0)
                answer = self._client.get(address, self._bounds, budget, rules.delay_s, headers, before)
            except Refused as refused:
                return without_page(url, "rejected", str(refused)), Answer(0)
            if answer.status == _UNCHANGED and headers and known:
                return replace(known.fetched, http_status=_UNCHANGED, reached=True), answer
            if answer.status not in _REDIRECTS or not answer.location:
                return _outcome(url, answer), answer
            url = redirected(url, answer.location)
        reason = f"more than {self._max_redirects} redirects"
        return without_page(url, "rejected", reason, reached=True), Answer(0)


class _Came(Exception):
    """The page is there by now."""

    def __init__(self, fetched: Fetched):
        super().__init__(fetched.final_url)
        self.fetched = fetched


def open_fetcher(this: "Job", offline: bool = False) -> Fetcher:
    """What brings pages: out of table `corpus` where the engine is the local one, else over the network.

    With `offline` nothing is sent, whatever the configuration says.

    Raises:
        UserError: the table can't be read.
    """
    if this.corpus() is None:
        pace = Pace(this.cache / "pace")
        pace.tidy()
        return WebFetcher(
            this.config["fetch"],
            Store(this.cache / "web"),
            pace=pace,
            offline=offline or this.offline,
            run=os.environ.get(RUN, ""),
        )
    return LocalFetcher(corpus_pages(this.corpus()))


def corpus_pages(path: str | os.PathLike) -> Iterator[Row]:
    """What `LocalFetcher` takes of the file of table `corpus`.

    Raises:
        UserError: the table can't be read.
    """
    columns = ["url", "content", "content_type", "status"]
    return (row for batch in tables.batches(path, "corpus", _CORPUS_BATCH, columns) for row in batch)


def _outcome(url: str, answer: Answer) -> Fetched:
    """What an answer that is no redirect makes of the page at `url`."""

    def without(status: str, reason: str) -> Fetched:
        return Fetched(url, answer.status, answer.content_type, None, status, reason, reached=True)

    if answer.status in _NOTHING:
        return without("rejected", "empty page")
    if answer.status not in _PAGE:
        return without("rejected" if answer.status in GONE else "failed", f"HTTP {answer.status}")
    if answer.unread:
        return without("rejected", answer.unread)
    if not answer.content:
        return without("rejected", "empty page")
    return Fetched(url, answer.status, answer.content_type, answer.content, "ok", "", reached=True)


def _conditions(known: Entry) -> dict[str, str]:
    """The headers that ask for a page only if it is another one than `known`."""
    headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return {name: value for name, value in headers.items() if value}
