"""Pages by their URL: from the local corpus, or over the network within bounds."""

import logging
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import orjson
import requests
import urllib3

from devqa import tables
from devqa.tables import Row
from devqa.web.connection import Deadline, GuardedAdapter, Refused, Resolver, resolve
from devqa.web.sniff import unwanted
from devqa.web.store import NotKept, Store

log = logging.getLogger(__name__)

_CHUNK_BYTES = 65_536
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
# The page is gone: that is an answer. Anything else (429, 403, 5xx) may be another one tomorrow.
_GONE = frozenset((404, 410))
_BAD_ADDRESS = (requests.exceptions.InvalidURL, urllib3.exceptions.LocationParseError, UnicodeError)
_METADATA = ("final_url", "http_status", "content_type", "status", "reason")


@dataclass(frozen=True)
class Fetched:
    """What came back for a URL: `status` is `ok`, `rejected` (no page to use) or `failed` (it may come another time).

    `content` is the raw body, None unless `ok`; `http_status` is None where no answer came.
    """

    final_url: str
    http_status: int | None
    content_type: str
    content: bytes | None
    status: str
    reason: str


class Fetcher(Protocol):
    """What a fetch step needs."""

    def fetch(self, url: str) -> Fetched:
        """The page at `url`; never raises for what is wrong with a page or its server."""


class LocalFetcher:
    """The pages of table `corpus` (columns url, content, content_type, status, reason)."""

    def __init__(self, corpus_rows: Iterable[Row]):
        self._pages: dict[str, Fetched] = {}
        for row in corpus_rows:
            if row["status"] == "ok":
                page = Fetched(row["url"], 200, row["content_type"], row["content"], "ok", "")
                self._pages.setdefault(row["url"], page)

    def fetch(self, url: str) -> Fetched:
        """The page as it lies in the corpus."""
        page = self._pages.get(url) or self._pages.get(_without_fragment(url))
        return page or Fetched(url, None, "", None, "rejected", "not in the local corpus")


class WebFetcher:
    """Pages over http and https, within the bounds of section `fetch` of the configuration.

    What came back is kept in `store`: a page is sent for once. Only public addresses are asked, but for the hosts in
    `permitted_hosts` (a server of one's own); `resolver` stands in for the system's name resolution. With `offline`
    nothing is sent at all: then `fetch` raises `NotKept` for a page that is not in `store`.
    """

    def __init__(
        self,
        options: dict[str, Any],
        store: Store,
        permitted_hosts: Collection[str] = (),
        resolver: Resolver = resolve,
        offline: bool = False,
    ):
        self._options = options
        self._store = store
        self._permitted = frozenset(permitted_hosts)
        self._resolver = resolver
        self._offline = offline

    def fetch(self, url: str) -> Fetched:
        """The page at `url`, after at most `max_redirects` redirects and within `timeout_s` seconds in all.

        Time-outs, faults of the server and bodies over `max_bytes` (decompressed) are not kept; 404 and 410 are.
        """
        url = _without_fragment(url)
        if (kept := self._kept(url)) is not None:
            return kept
        if self._offline:
            raise NotKept(url)
        fetched = self._fetch(url)
        if fetched.status == "ok" or fetched.http_status in _GONE:
            self._keep(url, fetched)
        return fetched

    def _kept(self, url: str) -> Fetched | None:
        entry = self._store.get(f"url:{url}")
        if entry is None:
            return None
        known = orjson.loads(entry)
        content = self._store.get_page(known["sha256"]) if known["sha256"] else None
        if known["sha256"] and content is None:
            return None
        return Fetched(content=content, **{key: known[key] for key in _METADATA})

    def _keep(self, url: str, fetched: Fetched) -> None:
        sha256 = None if fetched.content is None else self._store.put_page(fetched.content)
        metadata = {key: value for key, value in asdict(replace(fetched, content=None)).items() if key in _METADATA}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._store.put(f"url:{url}", orjson.dumps({**metadata, "sha256": sha256, "fetched": now}))

    def _fetch(self, url: str) -> Fetched:
        seconds = self._options["timeout_s"]
        with Deadline(seconds) as deadline, requests.Session() as session:
            adapter = GuardedAdapter(deadline, seconds, self._permitted, self._resolver)
            session.mount("http://", adapter)
            session.mount("https://", adapter)
            session.trust_env = False
            session.headers = {
                "User-Agent": self._options["user_agent"],
                "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5",
                "Accept-Encoding": "gzip",
            }
            # Else requests reads the whole body of a redirect, however long it is.
            session.get_redirect_target = lambda response: None
            try:
                fetched = self._follow(session, url)
            except Refused as refused:
                return _rejected(url, str(refused))
            except _BAD_ADDRESS as error:
                return _rejected(url, f"not a web address: {type(error).__name__}")
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                fetched = _failed(url, _cause(error))
            # A body without a length looks complete when its socket is shut.
            return _failed(url, f"time-out: no whole answer within {seconds:g} s") if deadline.passed else fetched

    def _follow(self, session: requests.Session, url: str) -> Fetched:
        for _ in range(self._options["max_redirects"] + 1):
            _check(url)
            with session.get(url, stream=True, timeout=self._options["timeout_s"]) as response:
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECTS or not location:
                    return self._read(response, url)
                # Header values come as Latin-1 though servers write UTF-8 (as in requests' own redirects).
                url = _joined(url, location.encode("latin-1").decode("utf-8", "replace"))
        return _rejected(url, f"more than {self._options['max_redirects']} redirects")

    def _read(self, response: requests.Response, url: str) -> Fetched:
        code, kind = response.status_code, response.headers.get("Content-Type", "")
        if not 200 <= code < 300:
            status = "rejected" if code in _GONE else "failed"
            return Fetched(url, code, kind, None, status, f"HTTP {code}")
        content = bytearray()
        for chunk in response.iter_content(_CHUNK_BYTES):
            content += chunk
            if len(content) > self._options["max_bytes"]:
                return Fetched(url, code, kind, None, "rejected", f"longer than {self._options['max_bytes']} bytes")
            if reason := unwanted(bytes(content[:_CHUNK_BYTES])):
                return Fetched(url, code, kind, None, "rejected", reason)
        if not content:
            return Fetched(url, code, kind, None, "rejected", "empty page")
        return Fetched(url, code, kind, bytes(content), "ok", "")


def fetch_all(urls: Iterable[str], fetcher: Fetcher, concurrency: int) -> dict[str, Fetched]:
    """Each of `urls` and what came back for it, fetched once each by `concurrency` threads."""
    distinct = list(dict.fromkeys(urls))
    with ThreadPoolExecutor(max_workers=concurrency) as threads:
        return dict(zip(distinct, threads.map(fetcher.fetch, distinct), strict=True))


def open_fetcher(fetch: dict[str, Any], corpus_path: str | None, store: Store, offline: bool = False) -> Fetcher:
    """What brings pages: out of the file of table `corpus` where there is one, else over the network.

    `fetch` is that section of the configuration. With `offline` nothing is sent.

    Raises:
        UserError: the table is unreadable.
    """
    if corpus_path is None:
        return WebFetcher(fetch, store, offline=offline)
    columns = ["url", "content", "content_type", "status"]
    return LocalFetcher(row for batch in tables.batches(corpus_path, "corpus", 500, columns) for row in batch)


def _check(url: str) -> None:
    """Refuse what is no plain web address.

    Raises:
        Refused: another scheme, no host, or a name and password in the address.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise Refused(f"not a web address: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise Refused(f"not a web address: {parts.scheme or 'no scheme'}")
    if not parts.hostname:
        raise Refused("not a web address: no host")
    if parts.username is not None or parts.password is not None:
        raise Refused("the address holds a name or a password")


def _joined(base: str, location: str) -> str:
    try:
        return _without_fragment(urljoin(base, location))
    except ValueError as error:
        raise Refused(f"redirected to no web address: {error}") from error


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _cause(error: BaseException) -> str:
    """A short reason without the address of an object or the URL's query in it."""
    inner = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__
    return f"{type(error).__name__}: {type(inner).__name__}"


def _rejected(url: str, reason: str) -> Fetched:
    return Fetched(url, None, "", None, "rejected", reason)


def _failed(url: str, reason: str) -> Fetched:
    return Fetched(url, None, "", None, "failed", reason)
