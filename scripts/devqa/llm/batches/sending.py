"""Sending requests through the Batch API: half the price, within a day, and never twice (docs/batch.md)."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

import orjson

from devqa.errors import UserError
from devqa.llm import outcomes, structured
from devqa.llm.batches.desk import Desk
from devqa.llm.batches.results import Reading, Rows
from devqa.llm.batches.rows import MOST_BYTES, portions, request_line
from devqa.llm.batches.service import Batch, Service
from devqa.llm.batches.state import Ticket, Tickets, at_work
from devqa.llm.cache import Record, Shelf
from devqa.llm.channel import Answered, Channel
from devqa.llm.pricing import request_bound_usd
from devqa.llm.requests import Request, body

# A batch that is over the account's limit of enqueued tokens is tried again, first at the pace of polling, later less
# often, for as long as the limit may free itself: batches end within a day.
_QUEUE_FULL = "token_limit_exceeded"
_QUEUE_S = 86_400.0
_QUEUE_LOOK_S = 900.0
# Results are paid for: how often they are fetched until there is one for each request.
_READS = 3


async def send(asks: Mapping[str, Request], channel: Channel, answered: Answered) -> None:
    """Send `asks` (cache key → request) as batches and hand each record to `answered` when its batch has ended.

    What a batch of an earlier run, or of another job, was sent for already is not sent: that batch is waited for.

    Raises:
        UserError: the endpoint can't be used, refuses a batch or is down, the budget is reached, the disk is full.
            Batches that are under way at that moment are still waited for.
    """
    runtime = channel.runtime
    label, timeout_s = channel.asked["label"], runtime["limits"]["timeout_s"]
    async with Service(label, channel.base_url, runtime["api_key_env"], timeout_s) as service:
        await _Sending(asks, channel, answered, service).run()


class _Sending:
    """The batches of one `send`: a task for each, from its ticket to its results."""

    def __init__(self, asks: Mapping[str, Request], channel: Channel, answered: Answered, service: Service):
        limits, batch = channel.runtime["limits"], channel.runtime["batch"]
        self._asks = asks
        self._channel = channel
        self._answered = answered
        self._label: str = channel.asked["label"]
        self._address = service.address
        # A batch takes hours: nothing is tried out.
        self._mode = structured.mode_for(channel.asked["structured"], channel.folder)
        self._most_rows: int = batch["requests"]
        self._poll_s: float = batch["poll_s"]
        self._retries: int = limits["retries"]
        self._tickets = Tickets(channel.folder)
        who = f"{channel.step} with {self._label}"
        self._desk = Desk(service, self._tickets, who, self._poll_s, limits["down_after_s"])
        # Tickets whose results were read: what is still on them waits for a new batch.
        self._read: set[str] = set()
        self._tries: Counter[str] = Counter()
        # Input files may be large: one is built and uploaded at a time.
        self._uploading = asyncio.Lock()
        self._under_way = 0
        self._queue_since: float | None = None
        self._queue_wait_s = self._poll_s
        self._stopped: UserError | None = None

    async def run(self) -> None:
        # What a job that was killed had recorded, but not taken off its tickets.
        held = {key for ticket in self._tickets.all() for key in ticket.rows}
        self._tickets.release(Shelf(self._channel.folder).lookup(held))
        async with asyncio.TaskGroup() as self._group:
            self._place(dict.fromkeys(self._asks))
        if self._stopped:
            raise self._stopped

    def _place(self, rows: Rows) -> None:
        """Have each of `rows` answered: by a batch that was sent for it already, or by a new one."""
        if self._stopped or not rows:
            return
        rows = dict(rows)
        for ticket in self._tickets.all():
            # Whether a key stands for its request or for a mending question is as that batch was sent.
            held = {key: first for key, first in ticket.rows.items() if key in rows}
            if held and ticket.name not in self._read:
                self._start(self._follow(ticket, held))
                rows = {key: first for key, first in rows.items() if key not in held}
        sizes = ((key, len(request_line(key, self._body(key, first)))) for key, first in rows.items())
        for portion in portions(sizes, self._most_rows, MOST_BYTES):
            # Written at once, so that other jobs know.
            ticket = self._tickets.new(self._channel.step, {key: rows[key] for key in portion})
            self._start(self._send_new(ticket))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._group.create_task(self._guarded(work))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """A problem ends one task, and no new batch is sent; those that are under way are paid for."""
        try:
            await work
        except UserError as error:
            if self._stopped is None and self._under_way:
                self._desk.say("no new batch is sent, %d under way are waited for: %s", self._under_way, error)
            self._stopped = self._stopped or error

    async def _follow(self, ticket: Ticket, rows: Rows) -> None:
        """See a batch through that was sent before, by whomever."""
        found = await self._desk.identified(ticket)
        if found is None:
            self._place(rows)
            return
        self._desk.say("batch %s was sent before for %d of the requests", found.batch, len(rows))
        await self._see_through(found, rows, None)

    async def _send_new(self, ticket: Ticket) -> None:
        """Send as much of a new ticket as the budget has room for, and the rest when that has paid its way."""
        try:
            fitting, admitted = await self._admit(ticket.rows)
        except UserError:
            self._tickets.remove(ticket)
            raise
        async with self._uploading:
            if self._stopped:
                self._tickets.remove(ticket)
                self._settle(admitted, 0.0)
                return
            content = b"".join(request_line(key, self._body(key, first)) for key, first in fitting.items())
            created = await self._desk.submit(replace(ticket, rows=fitting), content)
        if created is None:
            self._settle(admitted, 0.0)
            self._place(ticket.rows)
            return
        self._tickets.release(fitting, created)
        await self._see_through(created, fitting, admitted)
        self._place({key: first for key, first in ticket.rows.items() if key not in fitting})

    async def _see_through(self, ticket: Ticket, rows: Rows, admitted: float | None) -> None:
        """Wait for the end of a batch, hand on its results, and have asked again what has none.

        Args:
            admitted: the money that was set aside for it; None if it was sent before, or by another job. Then what
                stopped it may be mended by now: only a batch of our own stops the job.
        """
        reading = Reading(
            rows, self._asks, self._sent_bytes, self._channel.runtime["price"], self._label, self._address
        )
        self._under_way += 1
        try:
            batch = await self._results(ticket, reading)
        finally:
            self._under_way -= 1
        if admitted is not None or not at_work(ticket):
            self._settle(admitted or 0.0, reading.usd)
        self._read.add(ticket.name)
        if batch and batch.status == "failed":
            self._tickets.release(rows)
            if admitted is not None:
                await self._refused(batch)
            self._place(rows)
            return
        self._queue_since, self._queue_wait_s = None, self._poll_s
        await self._go_on(reading, rows, admitted is not None)

    async def _results(self, ticket: Ticket, reading: Reading) -> Batch | None:
        """The ticket's batch when it has ended and its results are handed on; None if it is gone."""
        for _ in range(_READS):
            batch = await self._desk.ended(ticket)
            if batch is None or batch.status == "failed":
                return batch
            await self._desk.read(batch, lambda line: self._take(reading, line))
            if all(reading.waiting.values()):
                break
            await asyncio.sleep(self._poll_s)
        return batch

    def _take(self, reading: Reading, line: bytes) -> None:
        if (settled := reading.take(line)) is not None:
            self._answered(*settled)

    async def _go_on(self, reading: Reading, rows: Rows, own: bool) -> None:
        """What follows from the results of a batch: rounds for what has none, and for answers that may be mended."""
        again: dict[str, Record | None] = dict(reading.mending)
        if not own:
            again |= {key: rows[key] for key in reading.stopped}
        for key, reason in reading.waiting.items():
            self._tries[key] += 1
            if self._tries[key] <= self._retries:
                again[key] = rows[key]
            else:
                reason = f"given up after {self._tries[key]} attempts: {reason or 'no batch had a result for it'}"
                self._answered(key, rows[key] or outcomes.failed(reason, passing=True))
        # The others stay on their ticket until a new one has its batch.
        self._tickets.release(rows.keys() - again.keys())
        if reading.fault and own:
            raise reading.fault
        if len(again) > len(reading.mending):
            self._desk.say("%d requests have no result: they are sent again", len(again) - len(reading.mending))
            await asyncio.sleep(self._poll_s)
        self._place(again)

    async def _refused(self, batch: Batch) -> None:
        """Return when a batch that failed as a whole, so that nothing was executed, may be sent again.

        Raises:
            UserError: it would fail again.
        """
        now = asyncio.get_running_loop().time()
        self._queue_since = self._queue_since or now
        full = any(code == _QUEUE_FULL for code, _ in batch.errors)
        said = "; ".join(f"{code}: {message}" for code, message in batch.errors[:3]) or "it does not say why"
        if not full:
            raise UserError(
                f"models.{self._label}.mode: batch: the endpoint refuses batch {batch.id} ({said}): mend it and run "
                "again. Nothing of it was executed, and what was answered so far is kept in the cache."
            )
        if not self._under_way and now - self._queue_since > _QUEUE_S:
            raise UserError(
                f"models.{self._label}.batch.requests: the account's limit of enqueued tokens had no room for a day "
                f"({said}): lower batch.requests, or run again when other batches of the account have ended."
            )
        self._desk.say("the account's limit of enqueued tokens has no room (%s): tried again later", said)
        await asyncio.sleep(self._queue_wait_s)
        self._queue_wait_s = min(_QUEUE_LOOK_S, 2 * self._queue_wait_s)

    async def _admit(self, rows: Rows) -> tuple[Rows, float]:
        """Set money aside for as many of `rows` as the budget has room for, one at least: these, and how much in USD.

        Raises:
            BudgetReached: there is no room for any, and nothing under way can change that.
        """
        budget = self._channel.budget
        if budget is None:
            return rows, 0.0
        longest = self._channel.asked["sampling"].get("max_tokens") or self._channel.asked["context"]
        fitting: dict[str, Record | None] = {}
        admitted = 0.0
        for key, first in rows.items():
            content = orjson.dumps(self._body(key, first))
            usd = request_bound_usd(content, longest, self._channel.runtime["price"])
            if not fitting:
                await budget.admit(usd)
            elif not budget.admit_now(usd):
                break
            fitting[key] = first
            admitted += usd
        return fitting, admitted

    def _settle(self, admitted: float, spent: float) -> None:
        if self._channel.budget is not None:
            self._channel.budget.settle(admitted, spent)

    def _sent_bytes(self, key: str, first: Record | None) -> int:
        return len(orjson.dumps(self._body(key, first)))

    def _body(self, key: str, first: Record | None) -> dict[str, Any]:
        """What is sent for a key: its request, or the question that shall mend its first answer."""
        request = self._asks[key]
        if first is not None:
            request = structured.repair(request, first) or request
        return body(self._channel.asked, request, self._mode)
