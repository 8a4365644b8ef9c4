"""Sending requests one by one, many at a time: as fast as the limits say, each as often as it takes."""

import asyncio
import heapq
import itertools
import logging
import math
import random
from collections.abc import Mapping
from typing import Any

import orjson

from devqa import stopping
from devqa.errors import UserError
from devqa.llm import outcomes, structured
from devqa.llm.cache import Record
from devqa.llm.channel import Answered, Channel
from devqa.llm.faults import NoStructuredOutput, Passing, RowFault
from devqa.llm.health import Health
from devqa.llm.pacing import Gate, Spacing, told_to_wait_s
from devqa.llm.pricing import record_usd, request_bound_usd
from devqa.llm.requests import Request, body
from devqa.llm.responses import completion
from devqa.llm.structured import Structured
from devqa.llm.transport import Transport
from devqa.tokens import estimate

_log = logging.getLogger(__name__)

# Back-off where the endpoint names none: 1, 2, 4 … seconds plus jitter. Six retries outlast a minute's rate limit.
WAIT_INITIAL_S = 1.0
WAIT_JITTER_S = 1.0
WAIT_LONGEST_S = 60.0
# What is waited for is said when nothing has come for so long.
_SILENCE_S = 30.0
# Requests that wait for their next attempt let others go first, but not without end: at an endpoint that is down all
# would be tried at once.
_PUT_OFF_PER_SLOT = 4
_MOST_PUT_OFF = 100


async def send(asks: Mapping[str, Request], channel: Channel, answered: Answered) -> None:
    """Send `asks` (cache key → request) and hand each record to `answered` as it comes.

    Raises:
        UserError: the endpoint can't be used or is down, the budget is reached, the disk is full. Requests that are
            under way at that moment are still waited for, unless the endpoint is down.

    Where the process is told to stop (`devqa.stopping`), nothing more is sent, and this returns with what has come.
    """
    limits, label = channel.runtime["limits"], channel.asked["label"]
    async with Transport(label, channel.base_url, channel.runtime["api_key_env"], limits["timeout_s"]) as transport:
        await _Sending(asks, channel, answered, transport).run()


class _Errand:
    """One request on its way to an answer."""

    def __init__(self, key: str, request: Request):
        self.key = key
        self.request = request
        # When it was first tried, last but once, and last; how often that failed, and how often for a rate limit.
        self.began: float | None = None
        self.before = self.posted = 0.0
        # How long the last attempt took until its response was read.
        self.took_s = 0.0
        self.attempts = self.limited = 0
        self.fault: Passing | None = None
        self.admitted: float | None = None
        # An answer that was paid for, but can't be used: what is asked now shall mend it.
        self.first: Record | None = None

    def goes(self, now: float) -> None:
        """It is sent at the moment `now`."""
        self.before = now if self.began is None else self.posted
        self.began = now if self.began is None else self.began
        self.posted = now


class _Sending:
    """The requests of one `send`: those not yet tried, those put off, and the workers that send them."""

    def __init__(self, asks: Mapping[str, Request], channel: Channel, answered: Answered, transport: Transport):
        limits, self._label = channel.runtime["limits"], channel.asked["label"]
        concurrency = limits["concurrency"]
        if channel.runtime["runtime"] == "llama.cpp":
            concurrency = min(concurrency, channel.runtime["slots"])
        self._channel = channel
        self._answered = answered
        self._transport = transport
        self._untried = len(asks)
        self._new = iter(asks.items())
        self._put_off: list[tuple[float, int, _Errand]] = []
        self._most_put_off = max(_MOST_PUT_OFF, _PUT_OFF_PER_SLOT * concurrency)
        self._order = itertools.count()
        self._retries: int = limits["retries"]
        self._gate = Gate(concurrency)
        self._requests = _spacing(limits["requests_per_minute"])
        self._tokens = _spacing(limits["tokens_per_minute"])
        self._structured = Structured(channel.asked["structured"], channel.folder)
        self._now = asyncio.get_running_loop().time
        self._finished = self._now()
        down_after_s, folder = limits["down_after_s"], channel.folder
        self._health = Health(self._label, transport.address, down_after_s, folder, channel.retrying, self._now)
        self._workers: list[asyncio.Task[None]] = []
        # What is under way, by task, the oldest first.
        self._posting: dict[asyncio.Task[Any] | None, _Errand] = {}
        self._unsettled: set[_Errand] = set()
        self._stopped: UserError | stopping.Stopped | None = None

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        with stopping.gently(lambda hurry: loop.call_soon_threadsafe(self._told_to_stop, hurry)):
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch())
                count = min(self._gate.most, self._untried)
                self._workers = [group.create_task(self._work()) for _ in range(count)]
                await asyncio.wait(self._workers)
                watch.cancel()
        if self._stopped:
            self._leave()
        if isinstance(self._stopped, UserError):
            raise self._stopped

    async def _work(self) -> None:
        try:
            while (errand := await self._next()) is not None:
                if (record := await self._try(errand)) is not None:
                    self._finish(errand, record)
        except UserError as error:
            self._stop(error)

    def _told_to_stop(self, hurry: bool) -> None:
        """Send nothing more, and wait a little for what is being answered, unless there is a hurry."""
        if hurry:
            self._break_off()
            return
        _log.warning(
            "%s with %s: told to stop: nothing more is sent, %s requests under way have %g s",
            self._channel.step,
            self._label,
            len(self._posting),
            stopping.GRACE_S,
        )
        self._stop(stopping.Stopped())
        asyncio.get_running_loop().call_later(stopping.GRACE_S, self._break_off)

    def _stop(self, error: UserError | stopping.Stopped) -> None:
        """Send nothing more, but wait for what is being answered: it is paid for."""
        self._stopped = self._stopped or error
        for worker in self._workers:
            if worker not in self._posting and worker is not asyncio.current_task():
                worker.cancel()

    async def _watch(self) -> None:
        """Stop everything when the endpoint turns out to be down."""
        try:
            said = self._now()
            while True:
                await asyncio.sleep(self._health.pause_s)
                if self._now() - max(said, self._finished) >= _SILENCE_S:
                    said = self._now()
                    self._say_what_is_waited_for()
                oldest = min((errand.posted for errand in self._posting.values()), default=math.inf)
                await self._health.check(self._transport.alive, self._untried > 0, oldest)
        except UserError as error:
            self._stopped = self._stopped or error
            self._break_off()

    def _break_off(self) -> None:
        """Wait no longer for what is being answered."""
        for worker in self._workers:
            worker.cancel()
        for errand in self._posting.values():
            # It may be charged all the same: what was set aside for it stays so.
            errand.admitted = None

    def _say_what_is_waited_for(self) -> None:
        faults = [errand.fault for errand in self._unsettled if errand.fault]
        last = f", the last after: {faults[-1]}" if faults else ""
        _log.warning(
            "%s with %s waits: nothing came for %.0f s; %s under way, %s tried again later%s",
            self._channel.step,
            self._label,
            self._now() - self._finished,
            len(self._posting),
            len(self._put_off),
            last,
        )

    def _leave(self) -> None:
        """Keep account of what the stop has left unsettled: the next run must know what was tried, and what it cost."""
        for errand in list(self._unsettled):
            if errand.fault or errand.first:
                self._finish(errand, outcomes.failed(f"given up when the job stopped: {errand.fault}", passing=True))
            else:
                self._release(errand)

    async def _next(self) -> _Errand | None:
        """What to send now, waiting for what was put off where there is nothing else; None when nothing is left."""
        if self._stopped:
            return None
        now = self._now()
        if self._is_turn_of_new(now):
            if (new := next(self._new, None)) is not None:
                self._untried -= 1
                errand = _Errand(*new)
                self._unsettled.add(errand)
                return errand
            if not self._put_off:
                return None
        due, _, errand = heapq.heappop(self._put_off)
        if due > now:
            await asyncio.sleep(due - now)
        return errand

    def _is_turn_of_new(self, now: float) -> bool:
        if not self._put_off:
            return True
        none_due = self._put_off[0][0] > now
        return (none_due or self._health.doubtful) and len(self._put_off) < self._most_put_off

    async def _try(self, errand: _Errand) -> Record | None:
        """The record of `errand` if this attempt has settled it, else None: it is put off."""
        try:
            record = await self._ask(errand)
        except Passing as fault:
            return self._later(errand, fault)
        except RowFault as fault:
            return outcomes.failed(str(fault), fault.outcome)
        if record is None:
            self._put(errand, 0.0)
        return record

    async def _ask(self, errand: _Errand) -> Record | None:
        """The record of the answer; None if the request has to be asked again in another form."""
        if not self._structured.known(errand.request):
            async with self._structured.finding_out:
                if not self._structured.known(errand.request):
                    return await self._ask_in(self._structured.mode, errand)
        return await self._ask_in(self._structured.mode, errand)

    async def _ask_in(self, mode: str, errand: _Errand) -> Record | None:
        request = errand.request
        content = orjson.dumps(body(self._channel.asked, request, mode))
        await self._admit(errand, content)
        try:
            record = outcomes.read(await self._post(errand, content), request.held_to, request.offers_tools)
        except NoStructuredOutput as fault:
            return self._step_down(mode, request, fault)
        self._settle(errand, record)
        record |= {"sent_bytes": len(content), "seconds": errand.took_s}
        if not self._structured.learn(request, mode, record):
            self._keep(errand, record)
            return None
        if errand.first is not None:
            return _repaired(errand.first, record)
        if (question := structured.repair(request, record)) is not None:
            self._keep(errand, record)
            errand.request = question
            return None
        return record

    def _step_down(self, mode: str, request: Request, fault: NoStructuredOutput) -> None:
        if request.schema is None or mode == structured.MODES[-1]:
            # Nothing of the kind was asked for.
            raise RowFault(str(fault))
        if not self._structured.step_down(mode):
            raise UserError(f"models.{self._label}.structured: {fault}: set another way, or auto")

    async def _post(self, errand: _Errand, content: bytes) -> dict[str, Any]:
        tokens = estimate(content.decode()) + self._longest() if self._tokens else 1
        async with self._gate:
            if self._requests:
                await self._requests.take()
            if self._tokens:
                # A request that is larger than a minute's tokens goes after a minute: the endpoint has the last word.
                await self._tokens.take(min(tokens, self._tokens.per_minute))
            task = asyncio.current_task()
            errand.goes(self._now())
            self._posting[task] = errand
            try:
                response = await self._transport.post(content)
                errand.took_s = round(self._now() - errand.posted, 3)
                parsed = completion(response, self._label, self._transport.address)
            except Passing as fault:
                self._met(errand, fault)
                raise
            except (RowFault, NoStructuredOutput):
                self._health.served()
                raise
            finally:
                del self._posting[task]
        self._health.served()
        self._gate.widen(errand.posted)
        if wait_s := told_to_wait_s(response.headers, tokens):
            self._gate.pause(wait_s)
        return parsed

    def _met(self, errand: _Errand, fault: Passing) -> None:
        self._health.failed(fault, first=errand.fault is None)
        if fault.limited:
            cuts = self._gate.halve(errand.posted)
            # The first cut may be enough; a limit by the minute needs patience.
            wait_s = _back_off_s(cuts - 1) if cuts > 1 else 0.0
            if wait_s := max(wait_s, fault.wait_s or 0.0):
                self._gate.pause(wait_s)

    def _later(self, errand: _Errand, fault: Passing) -> Record | None:
        errand.fault = fault
        fresh = self._untried > 0
        if self._exhausted(errand, fault) and self._health.blames(fault, errand.began, errand.before, fresh):
            attempts = errand.attempts + errand.limited
            return outcomes.failed(f"given up after {attempts} attempts: {fault}", passing=True)
        wait_s = fault.wait_s
        if wait_s is None:
            wait_s = _back_off_s(errand.limited if fault.limited else errand.attempts)
        self._put(errand, wait_s)
        return None

    def _exhausted(self, errand: _Errand, fault: Passing) -> bool:
        """Count the fault: are there no retries left? Rate limits, which other requests cause, take none of them."""
        if fault.limited:
            errand.limited += 1
            return errand.limited > self._retries
        errand.attempts += 1
        return errand.attempts > self._retries

    def _put(self, errand: _Errand, wait_s: float) -> None:
        self._release(errand)
        heapq.heappush(self._put_off, (self._now() + wait_s, next(self._order), errand))

    def _finish(self, errand: _Errand, record: Record) -> None:
        self._release(errand)
        if errand.first is not None and not record.get("repaired"):
            # The question that was to mend the first answer got none: what the first one took counts all the same.
            record = {**errand.first, "passing": record.get("passing", False)}
        self._unsettled.discard(errand)
        self._finished = self._now()
        self._answered(errand.key, record)

    def _longest(self) -> int:
        """Tokens of the longest answer, by which providers count."""
        return self._channel.asked["sampling"].get("max_tokens") or 0

    def _keep(self, errand: _Errand, record: Record) -> None:
        """Keep an answer that can't be used, before the request is asked in another form."""
        errand.first = record if errand.first is None else _repaired(errand.first, record)
        errand.began, errand.attempts, errand.limited = None, 0, 0

    async def _admit(self, errand: _Errand, content: bytes) -> None:
        """Set money aside for one attempt."""
        if self._channel.budget is None:
            return
        longest = self._longest() or self._channel.asked["context"]
        usd = request_bound_usd(content, longest, self._channel.runtime["price"])
        await self._channel.budget.admit(usd)
        errand.admitted = usd

    def _settle(self, errand: _Errand, record: Record) -> None:
        """Tell the budget what an answer has cost; where the endpoint did not count, what it may have cost at most."""
        if errand.admitted is not None:
            usd = record_usd(record, self._channel.runtime["price"]) if record["counted"] else errand.admitted
            self._channel.budget.settle(errand.admitted, usd)
            errand.admitted = None

    def _release(self, errand: _Errand) -> None:
        """Nothing was answered. What waits for its next attempt must not hold the money that others wait for."""
        if errand.admitted is not None:
            self._channel.budget.settle(errand.admitted, 0.0)
            errand.admitted = None


def _repaired(first: Record, second: Record) -> Record:
    """The record of an answer that was asked for twice, with the seconds of both."""
    return {**structured.repaired(first, second), "seconds": round(first["seconds"] + second["seconds"], 3)}


def _back_off_s(times: int) -> float:
    """How long to wait after something has failed so many times in a row."""
    # Powers beyond this one are longer than any wait.
    doubled = WAIT_INITIAL_S * 2.0 ** min(times - 1, 20)
    return min(WAIT_LONGEST_S, doubled) + WAIT_JITTER_S * random.random()  # noqa: S311 -- no secret


def _spacing(per_minute: int | None) -> Spacing | None:
    return Spacing(per_minute) if per_minute else None
