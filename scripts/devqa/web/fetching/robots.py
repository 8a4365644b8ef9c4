"""robots.txt: what the owner of a host lets a crawler ask for, and how often (RFC 9309)."""

import re
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from protego import Protego

from devqa.web.fetching.addresses import Address, redirected, web_address
from devqa.web.fetching.connection import Refused, Unreached
from devqa.web.fetching.kept import iso
from devqa.web.fetching.requesting import Bounds, Broken, Budget, Client
from devqa.web.store import Store

# RFC 9309: a copy is used for a day, five redirects are followed, 500 KiB are read.
KEPT_S = 24 * 3600
_REDIRECTS = 5
_BOUNDS = Bounds(500 * 1024, cut=True)
_REDIRECTED = frozenset((301, 302, 303, 307, 308))
_LONGEST_DELAY_S = 30.0
# Hosts whose rules are in memory; those of others are in the store.
_IN_MEMORY = 512
_AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*(?::|\s)\s*(.*)", re.IGNORECASE)


class NoRobots(Exception):
    """robots.txt can't be had, so nothing of the host may be asked for; the message says why."""

    def __init__(self, reason: str, reached: bool):
        super().__init__(f"robots.txt can't be had: {reason}" if reached else reason)
        self.reached = reached


class Rules:
    """What a robots.txt says to the crawler `token`."""

    def __init__(self, text: str, token: str):
        self._parsed = Protego.parse(_for_token(text, token))
        self._token = token

    def allows(self, url: str) -> bool:
        """May the page at `url` be asked for?"""
        return self._parsed.can_fetch(url, self._token)

    @property
    def delay_s(self) -> float:
        """Seconds from one request to the next, at most 30, 0 where nothing is said."""
        rate = self._parsed.request_rate(self._token)
        delays = [self._parsed.crawl_delay(self._token) or 0, rate.seconds / rate.requests if rate else 0]
        return min(_LONGEST_DELAY_S, max(delays))


@dataclass(frozen=True)
class _Copy:
    """A robots.txt as it was had, or the reason why not (`fault`), in which run."""

    time: float
    text: str = ""
    fault: str = ""
    reached: bool = True
    run: str = ""


class Robots:
    """The rules of every host that is asked.

    Safe in threads; two that ask for the same host at the very same moment may both send a request.

    Args:
        client: sends the requests.
        store: keeps what came back: for a day, or what went wrong, for the run.
        token: the name of the crawler, which rules are for.
        timeout_s: how long one robots.txt may take.
        run: the run's name.
        now: the time, in seconds since 1970.
    """

    def __init__(self, client: Client, store: Store, token: str, timeout_s: float, run: str, now: Callable[[], float]):
        self._client = client
        self._store = store
        self._token = token
        self._timeout_s = timeout_s
        self._run = run
        self._now = now
        self._lock = threading.Lock()
        self._known: dict[str, tuple[_Copy, Rules]] = {}

    def rules(self, address: Address) -> Rules:
        """The rules for pages of the same origin as `address`.

        Raises:
            Refused: the address is not one to fetch from.
            NoRobots: the server can't be asked, or has a fault.
        """
        copy, rules = self._known.get(address.origin, (None, None))
        if copy is None or not self._holds(copy):
            copy = self._kept(address.origin)
            if copy is None or not self._holds(copy):
                copy = self._had(address)
                entry = {**asdict(copy), "fetched": iso(copy.time)}
                self._store.put(f"robots:{address.origin}", orjson.dumps(entry))
            rules = Rules(copy.text, self._token)
            with self._lock:
                if len(self._known) >= _IN_MEMORY:
                    self._known.clear()
                self._known[address.origin] = copy, rules
        if copy.fault:
            raise NoRobots(copy.fault, copy.reached)
        return rules

    def _holds(self, copy: _Copy) -> bool:
        # A time in the future is of a clock that has been put back.
        recent = 0 <= self._now() - copy.time < KEPT_S
        return recent and (not copy.fault or copy.run == self._run)

    def _kept(self, origin: str) -> _Copy | None:
        entry = self._store.get(f"robots:{origin}")
        if entry is None:
            return None
        known: dict[str, Any] = orjson.loads(entry)
        return _Copy(**{name: known[name] for name in _Copy.__dataclass_fields__})

    def _had(self, address: Address) -> _Copy:
        def check_whether_it_came() -> None:
            """While this job waited for the host's turn, another one may have had it."""
            copy = self._kept(address.origin)
            if copy is not None and self._holds(copy):
                raise _Came(copy)

        try:
            return _Copy(self._now(), self._asked(f"{address.origin}/robots.txt", check_whether_it_came))
        except _Came as came:
            return came.copy
        except Unreached as error:
            return _Copy(self._now(), fault=str(error), reached=False, run=self._run)
        except Broken as error:
            return _Copy(self._now(), fault=str(error), run=self._run)

    def _asked(self, url: str, before: Callable[[], None]) -> str:
        """The text of robots.txt; "", which allows everything, where there is none."""
        budget = Budget(self._timeout_s)
        answer = self._client.get(web_address(url), _BOUNDS, budget, before=before)
        for _ in range(_REDIRECTS):
            if answer.status not in _REDIRECTED or not answer.location:
                break
            try:
                url = redirected(url, answer.location)
                answer = self._client.get(web_address(url), _BOUNDS, budget)
            except Refused as error:
                raise Broken(f"redirected: {error}") from error
        if answer.status >= 500 or answer.unread:
            raise Broken(answer.unread or f"HTTP {answer.status}")
        return answer.content.decode("utf-8-sig", "replace")


class _Came(Exception):
    """The file is there by now."""

    def __init__(self, copy: _Copy):
        super().__init__(copy.time)
        self.copy = copy


def _for_token(text: str, token: str) -> str:
    """`text` with the names of other crawlers made one.

    Tens of thousands of names over tens of thousands of rules would fill the memory; and RFC 9309 wants whole names
    compared, without version.
    """
    return "\n".join(_own_agent(line.partition("#")[0], token) for line in text.splitlines())


def _own_agent(line: str, token: str) -> str:
    match = _AGENT_LINE.match(line)
    if not match:
        return line
    name = match[1].strip().partition("/")[0].strip().lower()
    # A line without a name ends the group before it all the same.
    return f"User-agent: {name if name in ('', '*', token.lower()) else '-'}"
