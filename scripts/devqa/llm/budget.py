"""What a run may still spend (`budget_usd` in the configuration): a cap over all its jobs.

A job may come to what it has claimed, and the claims of all jobs together stay within the cap. It enlarges its claim
before it looks at those of the others: of two jobs that claim the same money at the same moment at least one
sees the other and gives way. A claim goes beyond what is needed at once by a share of what is free, so that far from
the cap few requests need a new one; what is not needed after all is given back at the next publication.
"""

import asyncio
import logging
import random
import time

from devqa.errors import UserError
from devqa.llm.pricing import money
from devqa.llm.spend import Account, Accounts, dollars, picodollars

_log = logging.getLogger(__name__)

# Seconds between two publications, and after which an unchanged account is published again to show life.
PUBLISH_S = 0.5
ALIVE_S = 10.0
# A new claim takes this part of what is free beside what it is made for.
_AHEAD = 16
# Less than any request costs: what is left of amounts that were set aside one by one and settled as a sum.
NOTHING = picodollars(1e-7)


class BudgetReached(UserError):
    """No further request may be sent in this run.

    Args:
        cap_usd: the budget.
        spent_usd: what all jobs of the run have spent until now.
        left: what was not sent, for people.
    """

    def __init__(self, cap_usd: float, spent_usd: float, left: str = "no further request is sent"):
        super().__init__(
            f"budget_usd: the run's budget of {money(cap_usd)} USD is reached ({money(spent_usd)} USD spent): {left}. "
            "What was answered is kept: raise budget_usd or run again, and `snakemake bill` says what is left"
        )
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd

    def leaving(self, unsent: int, total: int, step: str, model: str) -> "BudgetReached":
        """The same with what was left undone: `unsent` of `total` requests of one step to one model."""
        left = f"{unsent:,} of {total:,} requests of {step} with {model} were not sent"
        return BudgetReached(self.cap_usd, self.spent_usd, left)


class Budget:
    """The money that all jobs of one run may spend together, as one of them sees it.

    While an event loop runs that has admitted requests, what this job has spent and claimed is published twice a
    second at most, and at once where a claim grows.

    Args:
        accounts: those of the run.
        cap_usd: what the run may spend; None without a limit: then spending is only published.
    """

    def __init__(self, accounts: Accounts, cap_usd: float | None):
        self._accounts = accounts
        self._cap_usd = cap_usd
        self._cap = None if cap_usd is None else picodollars(cap_usd)
        self._spent = self._under_way = self._claimed = self._broken_off = 0
        self._reached: BudgetReached | None = None
        self._published: Account | None = None
        self._published_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def admit(self, usd: float) -> None:
        """Return when a request that costs at most `usd` may be sent; it is set aside until `settle`.

        Requests wait in line while something is under way, here or in another job, that may cost less than was set
        aside for it. What costs nothing never waits.

        Raises:
            BudgetReached: it would go over the cap, and nothing that is under way can change that. From then on, no
                request is admitted.
            UserError: the account can't be written, or another's can't be read.
        """
        if not picodollars(usd):
            return
        self._open()
        async with self._line:
            while not self.admit_now(usd):
                await self._room()

    def admit_now(self, usd: float) -> bool:
        """Set aside `usd` for a request and return True, or return False if it does not fit now.

        To be called in an event loop. For senders that gather many requests before they send any.

        Raises:
            BudgetReached: as `admit` found before.
            UserError: the account can't be written, or another's can't be read.
        """
        if self._reached:
            raise self._reached
        amount = picodollars(usd)
        self._open()
        if self._cap is not None and self._spent + self._under_way + amount > self._claimed and not self._claim(amount):
            return False
        self._under_way += amount
        return True

    def settle(self, admitted: float, spent: float) -> None:
        """A request for which `admitted` USD were set aside has cost `spent` USD. To be called in an event loop."""
        if not (admitted or spent):
            return
        self._open()
        self._under_way = max(0, self._under_way - picodollars(admitted))
        self._spent += picodollars(spent)
        self._settled.set()
        if self._publishing.done():
            self._give_back()

    def _open(self) -> None:
        """Begin to publish, once in every event loop."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._line, self._settled = loop, asyncio.Lock(), asyncio.Event()
            if self._cap is not None:
                self._publish()
            self._publishing = loop.create_task(self._keep_published())

    def _claim(self, amount: int) -> bool:
        """Enlarge this job's claim by `amount` at least, if the cap allows it."""
        needed = self._spent + self._under_way + amount
        free = self._cap - needed - self._accounts.others().claimed
        if free < 0:
            return False
        self._claimed = needed + free // _AHEAD
        self._publish()
        if self._claimed + self._accounts.others().claimed <= self._cap:
            return True
        # Another job claims the same money at this moment.
        self._claimed = self._spent + self._under_way
        self._publish()
        return False

    async def _room(self) -> None:
        """Wait until there may be more room than now."""
        others = self._accounts.others()
        if self._under_way <= NOTHING and others.claimed - others.spent <= NOTHING:
            self._reached = BudgetReached(self._cap_usd, dollars(self._spent + others.spent))
            raise self._reached
        self._settled.clear()
        try:
            # At random, so that two jobs that gave way to each other don't meet again.
            async with asyncio.timeout(PUBLISH_S * random.uniform(0.5, 1.5)):  # noqa: S311
                await self._settled.wait()
        except TimeoutError:
            return

    async def _keep_published(self) -> None:
        try:
            while True:
                await asyncio.sleep(PUBLISH_S)
                self._give_back()
        finally:
            # The loop ends. What is still under way was broken off, and nobody will tell what it has cost.
            self._broken_off += self._under_way
            self._under_way = 0
            self._give_back()

    def _give_back(self) -> None:
        """Publish the account without claims that are not needed; where it can't be, another time."""
        self._claimed = self._spent + self._under_way
        try:
            self._publish()
        except UserError as error:
            _log.warning("%s", error)

    def _publish(self) -> None:
        self._claimed = max(self._claimed, self._spent + self._under_way)
        account = Account(self._spent, self._claimed, self._broken_off)
        now = time.monotonic()
        if account != self._published or now - self._published_at >= ALIVE_S:
            self._accounts.publish(account)
            self._published, self._published_at = account, now
