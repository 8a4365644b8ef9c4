"""One request to a web server, and what comes back, within bounds whatever the server does."""

import gzip
import http.client
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import stamina
import urllib3

from devqa.web.fetching.addresses import Address, check_port
from devqa.web.fetching.connection import Deadline, Guard, Unreached
from devqa.web.pace import Pace

# Waits before a request is sent once more.
WAIT_INITIAL_S = 0.5
WAIT_LONGEST_S = 10.0
WAIT_JITTER_S = 0.5

_CHUNK_BYTES = 65_536
_HEAD_BYTES = 1_024
_LONGEST_TYPE, _LONGEST_ENCODING, _LONGEST_MARK = 200, 20, 1_000
# Who asks to be left alone for longer is left alone for this run.
_LONGEST_RETRY_AFTER_S = 30.0
_PAGE = frozenset((200, 203))
_BUSY = frozenset((408, 429))
# One of these says where an answer ends.
_LENGTHS = frozenset(("Content-Length", "Transfer-Encoding"))
_DAMAGED = (gzip.BadGzipFile, zlib.error, EOFError)
_LOST = (ConnectionError, http.client.IncompleteRead)
# ValueError: what the libraries below make of some nonsense.
_FAULTS = (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError, *_DAMAGED)


class Broken(Exception):
    """No answer that can be used came back; the message says why. `lost`: at once it may go better."""

    def __init__(self, reason: str, lost: bool = False):
        super().__init__(reason)
        self.lost = lost


class Budget:
    """Seconds that may be spent on the network for one page: on all its redirects and tries together."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._left = seconds

    @contextmanager
    def running(self) -> Iterator[Deadline]:
        """Time that counts.

        Raises:
            Broken: it is used up, before or within the block.
        """
        started = time.monotonic()
        with Deadline(self._left) as deadline:
            try:
                yield deadline
            except _FAULTS as error:
                if deadline.passed or _first(_causes(error), TimeoutError):
                    raise self._out() from error
                raise _broken(error) from error
            finally:
                self._left = max(0.0, self._left - (time.monotonic() - started))
            # A body without a length looks complete when its socket is shut.
            if deadline.passed:
                raise self._out()

    def _out(self) -> Broken:
        return Broken(f"time-out: no whole answer within {self.seconds:g} s")


class Bounds(NamedTuple):
    """What is read of a page.

    Attributes:
        bytes: its longest length, decompressed.
        cut: a longer one is cut off there, else it is refused.
        of_type, of_bytes: why a page of this type (header, URL) or with these first bytes is not read further.
    """

    bytes: int
    cut: bool = False
    of_type: Callable[[str, str], str | None] = lambda content_type, url: None
    of_bytes: Callable[[bytes], str | None] = lambda head: None


@dataclass(frozen=True)
class Answer:
    """What a server answered: the status, headers, and of a page its content or `unread`, why that was not read."""

    status: int
    content_type: str = ""
    location: str = ""
    etag: str = ""
    last_modified: str = ""
    content: bytes = b""
    unread: str = ""


class Client:
    """Sends requests, one at a time for each thread, to hosts whose turn it is.

    Args:
        options: section `fetch` of the configuration.
        guard: opens the connections.
        pace: when a host may be asked; None where that is all the same.
    """

    def __init__(self, options: Mapping[str, Any], guard: Guard, pace: Pace | None):
        contact = f" (+{options['contact']})" if options["contact"] else ""
        self._headers = {
            "User-Agent": f"{options['user_agent']}{contact}",
            "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip",
        }
        self._tries = 1 + options["retries"]
        self._per_second = options["host_requests_per_second"]
        self._guard = guard
        self._pace = pace

    def get(
        self,
        address: Address,
        bounds: Bounds,
        budget: Budget,
        delay_s: float = 0,
        headers: Mapping[str, str] | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> Answer:
        """What is at `address`, without following redirects; tried again where that may help.

        Requests to the host are at least `delay_s` seconds apart. Waiting for its turn costs nothing of `budget`, and
        when it comes, `before` is called and may raise what there is to say against sending the request.

        Raises:
            Refused: the address is not one to fetch from.
            Unreached, Broken: no answer.
        """
        if not self._guard.permits(address.host):
            check_port(address)
        attempts = stamina.retry_context(
            on=_pause,
            attempts=self._tries,
            timeout=None,
            wait_initial=WAIT_INITIAL_S,
            wait_max=WAIT_LONGEST_S,
            wait_jitter=WAIT_JITTER_S,
        )
        try:
            for attempt in attempts:
                with attempt:
                    self._wait(address.host, delay_s)
                    before()
                    return self._once(address, bounds, budget, {**self._headers, **(headers or {})})
        except _Busy as busy:
            return busy.answer
        raise AssertionError("retry_context either returns or raises")

    def _wait(self, host: str, delay_s: float) -> None:
        if self._pace is None:
            return
        if delay_s * self._per_second > 1:
            self._pace.wait(host, 1 / delay_s)
        # Also then: other requests to the host, such as for robots.txt, go by this one alone.
        self._pace.wait(host, self._per_second)

    def _once(self, address: Address, bounds: Bounds, budget: Budget, headers: Mapping[str, str]) -> Answer:
        with budget.running() as deadline, self._guard.pool(deadline) as pool:
            response = pool.request(
                "GET",
                address.url,
                headers=headers,
                timeout=deadline.left_s,
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            try:
                answer = _answer(response, address.url, bounds)
            finally:
                response.close()
        if answer.status in _BUSY or answer.status >= 500:
            raise _Busy(answer, response.headers.get("Retry-After"))
        return answer


class _Busy(Exception):
    """The server can't or won't answer now."""

    def __init__(self, answer: Answer, retry_after: str | None):
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer
        self.retry_after = retry_after


def _pause(error: Exception) -> bool | float:
    """Seconds until it may go better; True: some; False: it will not."""
    if isinstance(error, _Busy):
        if error.retry_after is None:
            return True
        try:
            seconds = urllib3.Retry().parse_retry_after(error.retry_after)
        except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
            return True
        return seconds if seconds <= _LONGEST_RETRY_AFTER_S else False
    return (isinstance(error, Broken) and error.lost) or (isinstance(error, Unreached) and error.passing)


def _answer(response: urllib3.BaseHTTPResponse, url: str, bounds: Bounds) -> Answer:
    headers = response.headers
    content_type = _plain(headers.get("Content-Type", ""))[:_LONGEST_TYPE]
    content, unread = b"", ""
    if response.status in _PAGE:
        content, unread = _content(response, url, content_type, bounds)
    return Answer(
        response.status,
        content_type,
        headers.get("Location", ""),
        _mark(headers.get("ETag", "")),
        _mark(headers.get("Last-Modified", "")),
        content,
        unread,
    )


def _content(response: urllib3.BaseHTTPResponse, url: str, content_type: str, bounds: Bounds) -> tuple[bytes, str]:
    """The body, decompressed, or why it was not read to its end."""
    if reason := bounds.of_type(content_type, url):
        return b"", reason
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        return b"", f"an encoding that was not asked for: {_plain(encoding)[:_LONGEST_ENCODING]}"
    # It decompresses no more than is read, and knows when the end is missing.
    stream = gzip.GzipFile(fileobj=response, mode="rb") if encoding.endswith("gzip") else response
    content = bytearray()
    while chunk := stream.read(_CHUNK_BYTES):
        is_head = len(content) < _HEAD_BYTES
        content += chunk
        if is_head and (reason := bounds.of_bytes(bytes(content[:_CHUNK_BYTES]))):
            return b"", reason
        if len(content) > bounds.bytes:
            return (bytes(content[: bounds.bytes]), "") if bounds.cut else (b"", f"longer than {bounds.bytes} bytes")
    if not content and not response.headers.keys() & _LENGTHS:
        # As it is when the connection is lost between two headers.
        raise ConnectionError("no content")
    return bytes(content), ""


def _plain(value: str) -> str:
    """A header's value without what can't be seen, such as the line ends of values on several lines."""
    return "".join(filter(str.isprintable, value))


def _mark(value: str) -> str:
    """A header's value as it can be sent back, "" where it can't."""
    return value if value.isascii() and value.isprintable() and len(value) <= _LONGEST_MARK else ""


def _broken(error: BaseException) -> Broken:
    """A short reason, without the address of an object or the URL's query in it."""
    causes = _causes(error)
    if fault := _first(causes, ssl.SSLError):
        return Broken(f"no safe connection: {fault}")
    if fault := _first(causes, _DAMAGED):
        return Broken(f"the compressed content is damaged: {fault}")
    if fault := _first(causes, _LOST):
        return Broken(f"the connection was lost: {fault}", lost=True)
    return Broken(f"the answer can't be read: {type(causes[-1]).__name__}")


def _first(causes: Sequence[BaseException], kind: type[BaseException] | tuple[type[BaseException], ...]) -> str:
    """The name of the first of `causes` that is of a kind, "" where none is."""
    return next((type(cause).__name__ for cause in causes if isinstance(cause, kind)), "")


def _causes(error: BaseException) -> list[BaseException]:
    """The errors that led to `error`, the innermost last."""
    causes = [error]
    while inner := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(inner)
    return causes
