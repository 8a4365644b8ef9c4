"""How fast requests go out: what the configuration allows, and what the endpoint lets through."""

import asyncio
import math
import re
from collections import deque
from collections.abc import Mapping
from types import TracebackType

_MINUTE_S = 60.0
# After a cut by half, full concurrency is back after about fifteen rounds of answers.
_CREEP = 0.05
# No header makes a request wait for longer.
_LONGEST_S = 300.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Spacing:
    """Lets through at most `per_minute` units in any minute, evenly: without a burst that a stricter clock refuses.

    (A leaky bucket with a minute's capacity would let through twice as many in the first minute.)
    """

    def __init__(self, per_minute: float):
        self.per_minute = per_minute
        self._unit_s = _MINUTE_S / per_minute
        self._free_at = 0.0

    async def take(self, units: float = 1.0) -> None:
        """Return when `units` may go; those who ask earlier go earlier."""
        # Paid for before and not after, because another job may have sent a moment ago.
        now = asyncio.get_running_loop().time()
        self._free_at = max(now, self._free_at) + units * self._unit_s
        await asyncio.sleep(self._free_at - now)


class Gate:
    """Bounds how many requests are under way, and adapts the bound to the endpoint: an async context manager.

    A rate limit halves the bound, once for all requests that were under way together; each success lets it creep up
    again, at most to `most`. While the gate is paused nothing new goes through.
    """

    def __init__(self, most: int):
        self.most = most
        self.limit = float(most)
        self.active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cut_at = 0.0
        self._cuts = 0
        self._paused_until: float | None = None

    async def __aenter__(self) -> None:
        if not self._waiting and self._open():
            self.active += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                # It had just been let in.
                self.active -= 1
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            self._wake()
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._leave()

    def widen(self, began: float) -> None:
        """A request that went out at `began` (the event loop's time) succeeded."""
        if began >= self._cut_at:
            self._cuts = 0
        if self.limit < self.most:
            self.limit = min(self.most, self.limit + max(1.0, _CREEP * self.limit) / self.limit)
            self._wake()

    def halve(self, began: float) -> int:
        """A request that went out at `began` (the event loop's time) met a rate limit.

        Returns how often in a row, this time included, the bound was halved without a success of what went out after;
        0 where it was not halved, because it has been since the request went out.
        """
        if began < self._cut_at:
            return 0
        self.limit = max(1.0, self.limit / 2)
        self._cut_at = asyncio.get_running_loop().time()
        self._cuts += 1
        return self._cuts

    def pause(self, seconds: float) -> None:
        """Let nothing new through for `seconds`."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if self._paused_until is None or until > self._paused_until:
            self._paused_until = until
            loop.call_at(until, self._resume, until)

    def _resume(self, until: float) -> None:
        if until == self._paused_until:
            self._paused_until = None
            self._wake()

    def _open(self) -> bool:
        return self.active < int(self.limit) and self._paused_until is None

    def _leave(self) -> None:
        self.active -= 1
        if self._waiting:
            self._wake()

    def _wake(self) -> None:
        while self._waiting and self._open():
            waiter = self._waiting.popleft()
            if not waiter.done():
                self.active += 1
                waiter.set_result(None)


def told_to_wait_s(headers: Mapping[str, str], tokens: int) -> float:
    """Seconds, five minutes at most, until the endpoint has room for one more request; 0 if it has now.

    Its `x-ratelimit-*` headers give limit, what remains, and the time until all of it is back; it comes back evenly
    (https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers).

    Args:
        headers: of a response, names case-insensitive.
        tokens: what a request takes of the limit on tokens.
    """
    return max(_until(headers, "requests", 1), _until(headers, "tokens", tokens))


def _until(headers: Mapping[str, str], kind: str, need: int) -> float:
    remaining = headers.get(f"x-ratelimit-remaining-{kind}")
    if remaining is None:
        return 0.0
    try:
        left, limit = float(remaining), float(headers[f"x-ratelimit-limit-{kind}"])
    except (KeyError, ValueError):
        return 0.0
    need = min(need, limit)
    if not math.isfinite(left) or not math.isfinite(limit) or left >= need or limit <= left:
        return 0.0
    all_back_s = duration_s(headers.get(f"x-ratelimit-reset-{kind}", ""))
    return min(_LONGEST_S, all_back_s * (need - left) / (limit - left))


def duration_s(text: str) -> float:
    """Seconds of a duration such as `6m0s`, `1.2s`, `350ms` or plain seconds; 0 for anything else."""
    parts = _DURATION.findall(text)
    if "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if seconds > 0 else 0.0
