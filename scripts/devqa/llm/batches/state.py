"""What is known about batches that were sent, on disk: so that nothing is sent twice, whatever happens to a job.

    <the model's folder of the cache>/batches/<unique name>.json

A ticket is written before anything is sent, again when the batch is about to be created, and again with the batch's
id. It holds the keys of the requests that the batch was sent for, as long as no results of theirs are recorded. Any
job that asks for one of them waits for that batch. Tickets are replaced atomically and read without locks.
"""

import logging
import os
import socket
import time
import uuid
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import orjson

from devqa.errors import UserError
from devqa.files import content, replacing
from devqa.llm.cache import Record

_log = logging.getLogger(__name__)

# Endpoints keep input and results of a batch for 30 days
# (https://platform.openai.com/docs/api-reference/files/create, `expires_after`).
_KEPT_S = 30 * 86_400.0
# Longer than it takes to upload or to create: a live job that has begun leaves no ticket without an id for so long.
_ABANDONED_S = 900.0
# For a batch whose creator is known to have died: until then its request may still be on its way.
_SETTLING_S = 5.0


@dataclass(frozen=True)
class Ticket:
    """One batch.

    Attributes:
        name: its unique name, which the batch carries as its metadata `devqa`.
        step: the step that asked.
        rows: the keys of its requests that are not recorded yet. A key whose first answer did not follow its schema
            has that answer's record: what was sent is the question that shall mend it.
        stage: `uploading`: no batch can exist yet. `creating`: one may. `created`: it has the id `batch`.
        host, pid: the process that sent it.
        written: when the ticket was last changed by it, in seconds since the epoch.
    """

    name: str
    step: str
    rows: dict[str, Record | None]
    stage: Literal["uploading", "creating", "created"] = "uploading"
    batch: str = ""
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    written: float = field(default_factory=time.time)


class Tickets:
    """All tickets of one model.

    Args:
        folder: the model's part of the cache.
    """

    def __init__(self, folder: Path):
        self._folder = folder / "batches"

    def new(self, step: str, rows: dict[str, Record | None]) -> Ticket:
        """A ticket for `rows`, written.

        Raises:
            UserError: it can't be written.
        """
        return self.write(Ticket(uuid.uuid4().hex, step, dict(rows)))

    def write(self, ticket: Ticket) -> Ticket:
        """`ticket` with the time of now, written.

        Raises:
            UserError: it can't be written.
        """
        ticket = replace(ticket, written=time.time())
        self._put(ticket)
        return ticket

    def read(self, name: str) -> Ticket | None:
        """The ticket of that name as it is now; None when it is gone.

        Raises:
            UserError: it can't be read.
        """
        path = self._path(name)
        try:
            return Ticket(**orjson.loads(content(path)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"{path} can't be read: {error.strerror}") from error
        except (orjson.JSONDecodeError, TypeError):
            _log.warning("%s is damaged: it is passed over, and its requests count as not sent", path)
            return None

    def all(self) -> list[Ticket]:
        """All tickets, the newest first. Those whose results no endpoint keeps any longer are removed.

        Raises:
            UserError: one can't be read.
        """
        tickets = [self.read(path.stem) for path in self._folder.glob("[!.]*.json")]
        found = []
        for ticket in filter(None, tickets):
            if time.time() - ticket.written > _KEPT_S:
                self.remove(ticket)
            else:
                found.append(ticket)
        return sorted(found, key=lambda ticket: (ticket.written, ticket.name), reverse=True)

    def remove(self, ticket: Ticket) -> bool:
        """Remove `ticket`; False when someone else has. Of several who try, one gets True."""
        try:
            self._path(ticket.name).unlink()
        except FileNotFoundError:
            return False
        return True

    def release(self, keys: Collection[str], holder: Ticket | None = None) -> None:
        """Take `keys` off all tickets but `holder`: they are recorded, or `holder` answers for them now.

        A ticket without keys is removed. When two jobs do this to one ticket at once, a key may stay on it: it is
        taken off when it is next asked for.

        Raises:
            UserError: a ticket can't be written.
        """
        keys = set(keys)
        for ticket in self.all():
            if ticket.name == (holder and holder.name) or keys.isdisjoint(ticket.rows):
                continue
            rest = {key: first for key, first in ticket.rows.items() if key not in keys}
            if rest:
                self._put(replace(ticket, rows=rest))
            else:
                self.remove(ticket)

    def _put(self, ticket: Ticket) -> None:
        with replacing(self._path(ticket.name)) as temporary:
            temporary.write_bytes(orjson.dumps(asdict(ticket)))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def abandoned(ticket: Ticket) -> bool:
    """Has the process that wrote `ticket`, which has no batch yet, left it for good?"""
    age = time.time() - ticket.written
    if ticket.host == socket.gethostname() and not _is_running(ticket.pid):
        return ticket.stage == "uploading" or age > _SETTLING_S
    return age > _ABANDONED_S


def at_work(ticket: Ticket) -> bool:
    """Is another process on this machine, the one that sent `ticket`'s batch, still there to account for it?"""
    return ticket.host == socket.gethostname() and ticket.pid != os.getpid() and _is_running(ticket.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Somebody else's.
        return True
    return True
