"""One batch at the endpoint: handing it in, finding it again, waiting for its end, fetching its results."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from devqa.errors import UserError
from devqa.llm.batches.service import Batch, Service, patiently
from devqa.llm.batches.state import Ticket, Tickets, abandoned
from devqa.llm.faults import Passing

_log = logging.getLogger(__name__)

T = TypeVar("T")

# How long an endpoint may be out of reach while paid work is under way there.
PATIENCE_S = 3600.0
# How long it may answer with faults that pass, such as a rate limit, before a batch is under way.
_BUSY_S = 600.0
# How often a batch that another process is about to create is looked for.
_LOOK_S = 2.0


class Desk:
    """Where the batches of one job are handed in and fetched.

    Args:
        service: the endpoint.
        tickets: of the model.
        who: the step and the model, for the log.
        poll_s: seconds between two looks at a batch.
        down_after_s: for how long an endpoint that gets a batch may be out of reach.
    """

    def __init__(self, service: Service, tickets: Tickets, who: str, poll_s: float, down_after_s: float):
        self._service = service
        self._tickets = tickets
        self._who = who
        self._poll_s = poll_s
        self._down_after_s = down_after_s

    def say(self, message: str, *values: object) -> None:
        """A line for the log, and on a terminal for the screen."""
        _log.info(f"%s: {message}", self._who, *values)

    async def submit(self, ticket: Ticket, content: bytes) -> Ticket | None:
        """`ticket` with the id of its batch, which is created of the input file `content`.

        None when someone else has taken the ticket over, because it looked abandoned: nothing was created.

        Raises:
            UserError: the endpoint does not take the batch. The ticket is removed, unless a batch may exist.
        """
        if self._tickets.read(ticket.name) is None:
            return None
        ticket = self._tickets.write(ticket)
        try:
            file = await self._handing_in(lambda: self._service.upload(ticket.name, content))
            if self._tickets.read(ticket.name) is None:
                return None
            ticket = self._tickets.write(replace(ticket, stage="creating"))
            batch = await self._handing_in(self._creating(ticket.name, file))
        except UserError:
            self._tickets.remove(ticket)
            raise
        except Passing as fault:
            if ticket.stage == "uploading":
                self._tickets.remove(ticket)
            raise self._down(fault) from None
        self.say("batch %s submitted: %d requests", batch.id, len(ticket.rows))
        return self._tickets.write(replace(ticket, stage="created", batch=batch.id))

    async def identified(self, ticket: Ticket) -> Ticket | None:
        """`ticket`, which some process has written, with the id of its batch; None if there is no batch.

        Raises:
            UserError: the endpoint can't be asked.
        """
        while not ticket.batch:
            if abandoned(ticket):
                return await self._recovered(ticket)
            await asyncio.sleep(min(self._poll_s, _LOOK_S))
            again = self._tickets.read(ticket.name)
            if again is None:
                return None
            ticket = again
        return ticket

    async def ended(self, ticket: Ticket) -> Batch | None:
        """The ticket's batch when it has ended; None if the endpoint knows it no longer.

        Raises:
            UserError: the endpoint does not tell.
        """
        said = ""
        while True:
            batch = await self._waiting(lambda: self._service.retrieve(ticket.batch))
            if batch is None:
                _log.warning("%s: the endpoint does not know batch %s any longer", self._who, ticket.batch)
                return None
            if (state := _state(batch)) != said:
                self.say("batch %s: %s", batch.id, state)
                said = state
            if batch.ended:
                return batch
            await asyncio.sleep(self._poll_s)

    async def read(self, batch: Batch, take: Callable[[bytes], None]) -> None:
        """Hand each line of the batch's results to `take`; after a broken connection once more from the start.

        Raises:
            UserError: the endpoint does not hand them out.
        """

        async def read(file: str) -> None:
            async for line in self._service.lines(file):
                take(line)

        for file in batch.files:
            await self._waiting(lambda file=file: read(file))

    def _creating(self, name: str, file: str) -> Callable[[], Awaitable[Batch]]:
        """Creates a batch, but not once more if an attempt that looked like a failure has created it."""
        tried = False

        async def create() -> Batch:
            nonlocal tried
            if tried and (found := await self._service.find(name)):
                return found
            tried = True
            return await self._service.create(name, file)

        return create

    async def _recovered(self, ticket: Ticket) -> Ticket | None:
        """The ticket of a process that is gone."""
        if ticket.stage == "creating":
            found = await self._waiting(lambda: self._service.find(ticket.name))
            if found:
                return self._tickets.write(replace(ticket, stage="created", batch=found.id))
        self._tickets.remove(ticket)
        return None

    async def _handing_in(self, call: Callable[[], Awaitable[T]]) -> T:
        return await patiently(call, self._down_after_s, _BUSY_S)

    async def _waiting(self, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` returns, with the patience that paid work deserves."""
        try:
            return await patiently(call, PATIENCE_S, PATIENCE_S)
        except Passing as fault:
            raise UserError(
                f"models.{self._service.label}.base_url: {self._service.address} is out of reach ({fault}). "
                "Batches that were sent go on there, and what was answered is kept: give the same command again to "
                "pick them up."
            ) from None

    def _down(self, fault: Passing) -> UserError:
        return UserError(
            f"models.{self._service.label}.base_url: {self._service.address} takes no batch ({fault}). "
            "What was answered so far is kept in the cache: run again when the endpoint is up."
        )


def _state(batch: Batch) -> str:
    counts = f", {batch.done} of {batch.total} done, {batch.failed} failed" if batch.total else ""
    return f"{batch.status}{counts}"
