"""What all engines over HTTP have in common: the store, manners, retries, money, and what faults mean.

An engine says how a page of results is asked for, how it is read, and what its errors mean. The key is sent in a
header and nowhere else: no address, message, log line or stored answer holds it.
"""

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import orjson

from devqa import stopping
from devqa.errors import UserError
from devqa.llm.access import Secret, is_address
from devqa.web.engines.answers import beginning, is_marked, parsed
from devqa.web.engines.base import Found, Hit, QuotaExhausted, SearchFailed
from devqa.web.engines.sites import Bounds, Sites, either, none_of, worded
from devqa.web.store import NotKept, Store
from devqa.web.urls import is_web

if TYPE_CHECKING:
    import requests

    from devqa.web.purse import Purse

_TRIES = 6
# An engine that asks for more patience than this will not recover within this search.
_LONGEST_WAIT_S = 60.0
# A page of results has some ten kilobytes.
_MOST_BYTES = 10_000_000
_LONGEST_MESSAGE = 300
_CHUNK = 65_536
_MEND = "mend the address, or leave it out for the service's own"


class Page(NamedTuple):
    """A page of results, best first; `more`: there may be another one after it."""

    hits: list[Hit]
    more: bool = True


def language_code(language: str, codes: str, names: Mapping[str, str]) -> str:
    """An engine's code for a language (ISO 639-1), "" where it has none.

    Args:
        codes: its codes that are those of ISO 639-1, separated by spaces.
        names: its own for others.
    """
    return names.get(language) or (language if language in codes.split() else "")


class Fault(Enum):
    """What an answer other than 200 means."""

    KEY = "the key is refused"
    QUOTA = "nothing is left of what the key's plan allows"
    BUSY = "too much at once, or a fault that will pass"
    QUERY = "this query is not taken"
    SERVICE = "that is not the service, or not one that is set up"


class OnlineEngine(ABC):
    """A search engine over HTTP.

    Every page of results is kept in `store` for good, by engine, address and what was asked, so nothing is bought
    twice; pages are always asked for in full length, so a larger `search.results` buys only what is new.

    Args:
        url: the service's address, in place of its own; the end of it may be `path`, where the service has its own.
        timeout_s: bounds each wait for the server.
        offline: nothing is asked; then a search raises `NotKept` where its answer is not in `store`.
        key: the API key, "" where the engine wants none.
        sites: what is searched. The engine is told, as far as it can be, and what comes back is filtered.
        wait: called before each request; returns when it may be sent.
        purse: what requests are paid from; None where they cost nothing.
    """

    name: ClassVar[str]
    # As people write it.
    label: ClassVar[str]
    address: ClassVar[str] = ""
    path: ClassVar[str]
    method: ClassVar[str] = "GET"
    # Parameters of every request, and no part of what is asked.
    constant: ClassVar[Mapping[str, str]] = {}
    page_size: ClassVar[int]
    max_pages: ClassVar[int]
    bounds: ClassVar[Bounds | None] = None
    # Keys of the service's answers, with their types: what has none of them is not from it.
    marks: ClassVar[Mapping[str, type]]
    # What to do where nobody answers, where the answer is another service's, and where it is no JSON.
    absent: ClassVar[str] = _MEND
    hint: ClassVar[str] = _MEND
    no_json: ClassVar[str] = _MEND

    def __init__(
        self,
        url: str | None,
        timeout_s: float,
        store: Store,
        offline: bool = False,
        *,
        key: str = "",
        sites: Sites | None = None,
        wait: Callable[[], None] | None = None,
        purse: "Purse | None" = None,
    ):
        address = _checked(url or self.address)
        # A SearXNG may well live under a path of that name.
        self._address = address.removesuffix(self.path) if self.address else address
        self._timeout_s = timeout_s
        self._store = store
        self._offline = offline
        self._key = key
        self._secret = Secret(key)
        self.sites = sites or Sites()
        self._wait = wait
        self._purse = purse
        self._turns: dict[str, threading.Lock] = {}

    @abstractmethod
    def asked(self, text: str, language: str, page: int) -> dict[str, Any]:
        """What is asked: the parameters of a GET, the JSON body of a POST. Pages count from 1."""

    @abstractmethod
    def read(self, answer: Mapping[str, Any]) -> Page:
        """The results in an answer, which has at least one of `marks`; all other values may be of any shape.

        Raises:
            SearchFailed: it holds no results though it should, and may another time.
        """

    def headers(self, key: str) -> dict[str, str]:
        """The headers that hold the key."""
        return {}

    def message(self, answer: Any) -> str:
        """What the service says of an error; the shape is checked by the caller."""
        return ""

    def fault(self, status: int, answer: Any) -> Fault | None:
        """What an error means, where its status alone does not say so; the shape is checked by the caller."""
        return None

    def told_to_wait_s(self, headers: Mapping[str, str]) -> float | None:
        """Seconds to wait by headers of the service's own; None where it does not say."""
        return None

    def operators(self) -> tuple[str, str]:
        """The search operators for `sites` that are wanted, and for those that are not."""
        return either(self.sites.include), none_of(self.sites.exclude)

    def search(self, query: str, language: str, limit: int) -> Found:
        """At most `limit` pages for `query`, best first.

        As many pages of results are asked for as `limit` results fill, and one more where some are missing (the
        engine gave fewer than it could, or they are of sites that are not wanted).

        Raises:
            SearchFailed: no answer after several tries, or the query is not taken.
            QuotaExhausted: the key's plan allows nothing more for now.
            UserError: there is no such service, it refuses the key, or the budget is reached.
            NotKept: nothing may be sent, and the answer is not in the store.
        """
        if not query.strip():
            return Found([], 0)
        text = worded(query, *self.operators(), self.bounds)
        seen: set[str] = set()
        hits: dict[str, Hit] = {}
        for number in range(1, self.most_requests(limit) + 1):
            page = self._page(text, language, number)
            new = [hit for hit in page.hits if hit.url not in seen]
            seen.update(hit.url for hit in new)
            hits.update((hit.url, hit) for hit in new if is_web(hit.url) and self.sites.allow(hit.url))
            if not new or not page.more or len(hits) >= limit:
                break
        return Found(list(hits.values())[:limit], number)

    @classmethod
    def most_requests(cls, limit: int) -> int:
        """How many requests a search for `limit` pages takes at most."""
        return min(cls.max_pages, math.ceil(limit / cls.page_size) + 1)

    def _page(self, text: str, language: str, number: int) -> Page:
        asked = self.asked(text, language, number)
        key = "search:" + orjson.dumps([self.name, self._address, asked], option=orjson.OPT_SORT_KEYS).decode()
        # Threads that want the same page take turns, so that one asks and the others find it kept.
        with self._turns.setdefault(key, threading.Lock()):
            answer = self._store.get(key)
            if answer is None:
                if self._offline:
                    raise NotKept(text)
                # Threads are not interrupted: they go on with their next search.
                stopping.check()
                answer = self._secret.out_of(self._ask(asked))
                page = self._read(answer)
                self._store.put(key, answer)
                return page
        return self._read(answer)

    def _read(self, answer: bytes) -> Page:
        hint = self.hint
        try:
            read = parsed(answer)
        except ValueError:
            read, hint = None, self.no_json
        if is_marked(read, self.marks):
            return self.read(read)
        raise UserError(
            f"search.url: {self._address}{self.path} did not answer with {self.label}'s JSON "
            f"but with '{beginning(answer)}': {hint}"
        )

    def _ask(self, asked: dict[str, Any]) -> bytes:
        import requests
        import stamina

        failure: Exception
        try:
            for attempt in stamina.retry_context(on=_may_pass, attempts=_TRIES, timeout=None):
                with attempt:
                    return self._ask_once(asked)
        except _Busy as error:
            failure = SearchFailed(f"{self.label} gave no answer: {error}")
        except requests.ConnectionError as error:
            failure = UserError(
                f"search.url: there is no {self.label} at {self._address} ({type(error).__name__}): "
                f"is the network there? If so, {self.absent}"
            )
        except requests.RequestException as error:
            failure = SearchFailed(f"{self.label} gave no answer: {type(error).__name__}")
        # Not from where it is handled: what requests says holds the whole address, with all that was asked.
        raise failure

    def _ask_once(self, asked: dict[str, Any]) -> bytes:
        import requests

        if self._wait:
            self._wait()
        if self._purse:
            self._purse.admit()
        status = 0
        try:
            with requests.Session() as session, self._sent(session, asked) as response:
                status, headers = response.status_code, response.headers
                content = _content(response)
        finally:
            if self._purse:
                self._purse.settle(status == 200)
        if status != 200:
            raise self._failure(status, headers, content)
        if len(content) > _MOST_BYTES:
            raise SearchFailed(f"{self.label} gave an answer of more than {_MOST_BYTES // 1_000_000} MB")
        return content

    def _sent(self, session: "requests.Session", asked: dict[str, Any]) -> "requests.Response":
        session.trust_env = False
        # The key must not be sent to where a redirect leads. (`allow_redirects` would still read its whole body.)
        session.get_redirect_target = lambda _: None
        return session.request(
            self.method,
            f"{self._address}{self.path}",
            params={**asked, **self.constant} if self.method == "GET" else None,
            json=asked if self.method == "POST" else None,
            headers={"Accept": "application/json", **self.headers(self._key)},
            timeout=self._timeout_s,
            stream=True,
        )

    def _failure(self, status: int, headers: Mapping[str, str], content: bytes) -> Exception:
        """What a response with a status other than 200 stands for."""
        fault, message = None, ""
        try:
            answer = parsed(content)
            fault, message = self.fault(status, answer), self.message(answer)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Not the service's own words, but a proxy's: the status has to do.
            fault = fault or self.fault(status, None)
        message = " ".join(self._secret.out_of_text(str(message)).split())[:_LONGEST_MESSAGE].rstrip(".")
        said = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        match fault or _meaning(status):
            case Fault.BUSY:
                wait_s = _retry_after_s(headers)
                wait_s = self.told_to_wait_s(headers) if wait_s is None else wait_s
                if wait_s is not None and wait_s > _LONGEST_WAIT_S:
                    return SearchFailed(f"{self.label} gave no answer: {said}: it asks to wait {wait_s:,.0f} s")
                return _Busy(said, wait_s)
            case Fault.QUERY:
                return SearchFailed(f"{self.label} did not take the query: {said}")
            case Fault.QUOTA:
                return QuotaExhausted(
                    f"search.api_key_env: what your plan at {self.label} allows is used up ({said}). What was found is "
                    "kept: extend the plan or wait until it is renewed, and give the same command again"
                )
            case Fault.KEY:
                return self.refused(said)
        return UserError(f"search.url: {self._address}{self.path} answered {said}: is that {self.label}? {self.hint}")

    def refused(self, said: str) -> UserError:
        """What to do where the key is refused."""
        return UserError(
            f"search.api_key_env: {self.label} refuses the key ({said}): put a valid one into the environment variable"
        )


class _Busy(Exception):
    """The server asks to be left alone, or has a fault; `wait_s` where it says for how long."""

    def __init__(self, message: str, wait_s: float | None = None):
        super().__init__(message)
        self.wait_s = wait_s


def _may_pass(error: Exception) -> bool | float:
    """Shall it be tried again, and after how many seconds if that is known?"""
    import requests

    if isinstance(error, _Busy):
        return True if error.wait_s is None else error.wait_s
    return isinstance(error, requests.Timeout | requests.ConnectionError)


def _meaning(status: int) -> Fault:
    if status in (401, 403):
        return Fault.KEY
    if status == 402:
        return Fault.QUOTA
    if status in (408, 425, 429) or status >= 500:
        return Fault.BUSY
    if status in (400, 413, 414, 422):
        return Fault.QUERY
    return Fault.SERVICE


def _content(response: "requests.Response") -> bytes:
    """The decompressed body, of which a little more than the bound is read at most."""
    import requests

    content = b""
    try:
        for chunk in response.iter_content(_CHUNK):
            content += chunk
            if len(content) > _MOST_BYTES:
                break
    except requests.RequestException as error:
        # Requests calls a server that falls silent halfway a connection error, as one that is not there.
        raise _Busy(f"the answer broke off ({type(error).__name__})") from None
    return content


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `Retry-After` (RFC 9110, 10.2.3: seconds or a date); None without."""
    import urllib3

    try:
        return urllib3.Retry().parse_retry_after(headers["retry-after"])
    except (KeyError, urllib3.exceptions.InvalidHeader):
        return None


def _checked(url: str) -> str:
    """`url` without a slash at its end.

    Raises:
        UserError: it is no address.
    """
    try:
        good = is_address(url)
    except ValueError:
        good = False
    if not good:
        raise UserError(f"search.url: {url} is no address such as http://localhost:8888")
    return url.rstrip("/")
