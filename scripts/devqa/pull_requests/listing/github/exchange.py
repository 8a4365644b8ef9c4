"""One request to GitHub's REST API, and what comes of it.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

import email.utils
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import orjson

if TYPE_CHECKING:
    import requests

_TIMEOUT_S = 60.0
_MOST_BYTES = 100_000_000
_CHUNK = 1 << 20
_MOST_REDIRECTS = 5
_LONGEST_MESSAGE = 300
_PORTS = {"http": 80, "https": 443}


class Reply(NamedTuple):
    """What was answered; `next` is the address of the next page, "" without one."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    next: str

    def message(self) -> str:
        """What GitHub says of an error, in one line."""
        try:
            said = orjson.loads(self.body)["message"]
        except (ValueError, KeyError, TypeError):
            said = ""
        return " ".join(f"HTTP {self.status} {said}".split())[:_LONGEST_MESSAGE].rstrip(".")


class Busy(Exception):
    """The server has a fault that will pass."""


class Limited(Exception):
    """Nothing more may be asked before `wait_s` seconds are over; None where it does not say how many."""

    def __init__(self, message: str, wait_s: float | None):
        super().__init__(message)
        self.wait_s = wait_s


class Odd(Exception):
    """An answer that GitHub does not give."""


def exchange(session: "requests.Session", address: str, headers: Mapping[str, str]) -> Reply:
    """Send one GET; a repository that was renamed is followed to its new address on the same server.

    Raises:
        Busy: a fault that will pass.
        Limited: a rate limit.
        Odd: no answer of GitHub's.
        requests.RequestException: nobody answers.
    """
    for _ in range(_MOST_REDIRECTS):
        reply, target = _sent(session, address, headers)
        if target and same_server(target, address):
            address = target
            continue
        break
    if reply.status == 408 or reply.status >= 500:  # noqa: PLR2004 -- HTTP
        raise Busy(reply.message())
    if reply.status in (403, 429) and _is_limit(reply):
        raise Limited(reply.message(), wait_s(reply.headers))
    return reply


def same_server(one: str, other: str) -> bool:
    """Do two addresses belong to one server? The token goes to no other."""
    return _server(one) == _server(other)


def wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the headers of a limit: `retry-after`, or until `x-ratelimit-reset` by the server's own clock;
    None where they don't say.
    """
    retry_after, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if retry_after.isdecimal():
        return float(retry_after)
    if headers.get("x-ratelimit-remaining") != "0" or not reset.isdecimal():
        return None
    try:
        now = email.utils.parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        now = time.time()
    return max(0.0, float(reset) - now) + 1


def _sent(session: "requests.Session", address: str, headers: Mapping[str, str]) -> tuple[Reply, str]:
    """The reply, and where it sends us, "" if nowhere."""
    import requests

    with session.get(address, headers=headers, timeout=_TIMEOUT_S, stream=True, allow_redirects=False) as response:
        body = b""
        try:
            for chunk in response.iter_content(_CHUNK):
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise Busy(f"an answer of more than {_MOST_BYTES // 1_000_000} MB")
        except requests.RequestException as error:
            raise Busy(f"the answer broke off ({type(error).__name__})") from None
        status, following = response.status_code, response.links.get("next", {}).get("url", "")
        location = response.headers.get("location", "") if status in (301, 302, 307, 308) else ""
        reply = Reply(status, response.headers, body, _led(status, address, following))
        return reply, _led(status, address, location)


def _server(address: str) -> tuple[str, str | None, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.username, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _led(status: int, address: str, target: str) -> str:
    """Where an answer from `address` leads, "" if nowhere."""
    if not target:
        return ""
    try:
        found = urljoin(address, target)
        _server(found)
    except ValueError:
        raise Odd(f"HTTP {status}, which leads to an address that is none") from None
    return found


def _is_limit(reply: Reply) -> bool:
    """A refusal may be for good (403: the token lacks a right), or for a while."""
    headers = reply.headers
    return (
        reply.status == 429  # noqa: PLR2004 -- HTTP
        or "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in reply.message().lower()
    )
