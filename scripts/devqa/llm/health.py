"""Is the endpoint up? A job must not spend hours on retries at one that is down."""

import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from devqa.errors import UserError
from devqa.files import replacing
from devqa.llm.faults import Passing

# What meets nothing but rate limits for so long will not be answered within this job.
LIMITED_S = 300.0
# New requests that have failed without one answer between them: as many are no few that fail for reasons of their own.
_FEW = 20
# Where there are no new ones: faults without one answer between them, unless a request runs out of retries before.
_FAULTS = 5
# A job that starts while another has just found the endpoint down looks only this long.
_LOOK_S = 3.0
_FRESH_S = 120.0
_KEPT = "What was answered so far is kept in the cache: run again when the endpoint is up."
_PASSED_OVER = "If it is up and only these requests fail, run again too: the next run passes over them."


class Health:
    """What one job knows about its endpoint.

    That nothing succeeds for a while is the endpoint's fault where there are requests that were not tried before: a
    fair sample. Requests that are left over, because they have failed before or at the end of many that were
    answered, may well fail for reasons of their own: then the endpoint is asked for a sign of life.

    Args:
        label: the model's name in the configuration.
        address: the endpoint's base URL.
        down_after_s: it counts as down when for so long nothing is heard of it, or no request succeeds.
        folder: where a job leaves word for the others that the endpoint is down.
        retrying: all requests of the job have failed before.
        clock: seconds on a clock that never goes back; all moments that are handed in are read from it.
    """

    def __init__(
        self,
        label: str,
        address: str,
        down_after_s: float,
        folder: Path,
        retrying: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._label = label
        self._address = address
        self._down_after_s = down_after_s
        self._mark = folder / "down"
        self._retrying = retrying
        self._clock = clock
        self._patience_s = min(down_after_s, _LOOK_S) if _is_fresh(self._mark) else down_after_s
        self.pause_s = min(1.0, self._patience_s / 4)
        self._heard_at = self._asked_at = clock()
        self._served_at = -math.inf
        self._failing_since = self._limited_since = math.inf
        self._faults = self._sample = 0
        self._exhausted = False
        self._last: Passing | None = None

    def served(self) -> None:
        """A request was answered, if only with an error of its own."""
        if self._served_at == -math.inf:
            self._patience_s = self._down_after_s
            with suppress(OSError):
                self._mark.unlink(missing_ok=True)
        self._heard_at = self._served_at = self._clock()
        self._failing_since = self._limited_since = math.inf
        self._faults = self._sample = 0
        self._exhausted = False

    @property
    def doubtful(self) -> bool:
        """Has something failed since the last answer? Then new requests tell more than those that have failed."""
        return self._failing_since < math.inf

    def failed(self, fault: Passing, first: bool) -> None:
        """An attempt failed in a way that may pass; `first`: it was the first one of its request."""
        now = self._clock()
        self._last = fault
        if fault.heard:
            self._heard_at = now
        if fault.limited:
            # The endpoint is well, there is only too much asked of it.
            self._limited_since = min(self._limited_since, now)
            self._failing_since = math.inf
            self._faults = self._sample = 0
        else:
            self._failing_since = min(self._failing_since, now)
            self._faults += 1
            self._sample += first

    def blames(self, fault: Passing, began: float, before: float, fresh: bool) -> bool:
        """Is it a request's own fault that it has run out of retries? Else it has to be tried on.

        Args:
            fault: its last one.
            began: when it was first tried.
            before: when it was last tried before the attempt that has ended now; that attempt's own beginning where
                it was the first.
            fresh: there are requests that were not tried before.
        """
        if fault.limited and self._clock() - began < LIMITED_S:
            return False
        if self._served_at >= before:
            # Others were answered meanwhile.
            return True
        if self._leftovers(fresh):
            # That no connection is made is no request's fault; `check` finds out whether the endpoint is there.
            return not fault.unreachable or self._clock() - self._failing_since >= 2 * self._patience_s
        self._exhausted = True
        return False

    async def check(self, alive: Callable[[float], Awaitable[bool]], fresh: bool, oldest: float) -> None:
        """Look at what has happened; to be called every `pause_s` seconds.

        Args:
            alive: asks the endpoint for a sign of life within so many seconds.
            fresh: there are requests that were not tried before.
            oldest: when the attempt began that is under way for the longest time; infinity where there is none.

        Raises:
            UserError: the endpoint is down, or lets nothing through.
        """
        now = self._clock()
        leftovers = self._leftovers(fresh)
        if now - self._limited_since >= LIMITED_S and not leftovers:
            raise UserError(
                f"models.{self._label}.limits: {self._address} lets no request through for {LIMITED_S:,.0f} s "
                f"({self._last}): run again later, or ask less of it. What was answered so far is kept in the cache."
            )
        failing = self._failing(now, oldest, fresh)
        if failing and not leftovers:
            raise self._down()
        if failing or now - self._heard_at >= self._patience_s:
            if not await alive(max(1.0, self._patience_s / 4)):
                raise self._down(silent=True)
            self._heard_at = self._clock()
            if failing:
                self._asked_at = self._heard_at

    def _leftovers(self, fresh: bool) -> bool:
        return self._retrying or (not fresh and self._served_at > -math.inf)

    def _failing(self, now: float, oldest: float, fresh: bool) -> bool:
        """Does no request succeed? What went out while there was patience gets the time that it is allowed."""
        enough = self._sample >= _FEW if fresh else self._exhausted or self._faults >= _FAULTS
        patient_until = self._failing_since + self._patience_s
        return enough and now >= max(patient_until, self._asked_at + self._patience_s) and oldest > patient_until

    def _down(self, silent: bool = False) -> UserError:
        # That word can't be left is no reason to say anything else.
        with suppress(OSError, UserError), replacing(self._mark) as temporary:
            temporary.write_text(f"{self._last}\n", encoding="utf-8")
        problem, hint = "no request succeeds at", _PASSED_OVER
        if silent or (self._last and self._last.unreachable):
            problem = "nothing answers at"
            hint = f"If it is up and only slow, models.{self._label}.limits.down_after_s has to be longer."
        last = self._last or "not even to GET /models"
        return UserError(f"models.{self._label}.base_url: {problem} {self._address} ({last}). {_KEPT} {hint}")


def _is_fresh(mark: Path) -> bool:
    try:
        return time.time() - mark.stat().st_mtime < _FRESH_S
    except OSError:
        return False
