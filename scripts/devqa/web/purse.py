"""What a run may still spend on searches (`budget_usd` in the configuration), asked for by several threads at a time.

The searches of a job have an account of their own beside that of its models. All accounts of a run together stay within
the cap, because a claim is published before those of others are looked at (`devqa.llm.budget`). Each request costs the
same, so nothing is claimed ahead.
"""

import logging
import random
import threading
import time
from typing import TYPE_CHECKING

from devqa.errors import UserError
from devqa.llm.budget import ALIVE_S, NOTHING, PUBLISH_S, BudgetReached
from devqa.llm.spend import Account, Accounts, dollars, own_run_folder, picodollars

if TYPE_CHECKING:
    from devqa.job import Job

_log = logging.getLogger(__name__)


class Purse:
    """The money that one job may spend on requests to a search engine. Safe in threads.

    Args:
        accounts: those of the run; this job's own is published through it.
        price_usd: of one request.
        cap_usd: what the run may spend; None without a limit: then spending is only published.
    """

    def __init__(self, accounts: Accounts, price_usd: float, cap_usd: float | None):
        self._accounts = accounts
        self._price = picodollars(price_usd)
        self._cap_usd = cap_usd
        self._cap = None if cap_usd is None else picodollars(cap_usd)
        self._spent = self._under_way = 0
        self._reached: BudgetReached | None = None
        # Held wherever the figures above are looked at; told when a request is settled.
        self._settled = threading.Condition()
        self._showing_life = False

    def admit(self) -> None:
        """Return when one request may be sent; its price is set aside until `settle`.

        Waits while something is under way, here or in another job, that may turn out to cost nothing.

        Raises:
            BudgetReached: it would go over the cap, and nothing that is under way can change that. From then on, no
                request is admitted.
            UserError: the account can't be written, or another's can't be read.
        """
        with self._settled:
            while not self._admitted():
                # At random, so that two jobs that gave way to each other don't meet again.
                self._settled.wait(PUBLISH_S * random.uniform(0.5, 1.5))  # noqa: S311
            self._under_way += self._price
            self._show_life()

    def settle(self, charged: bool) -> None:
        """A request that was admitted has ended; `charged`: it has to be paid for."""
        with self._settled:
            self._under_way -= self._price
            self._spent += self._price if charged else 0
            self._settled.notify_all()
            try:
                self._publish(self._under_way)
            except UserError as error:
                # What is published says more than is spent: the cap holds.
                _log.warning("%s", error)

    def _admitted(self) -> bool:
        """Claim the price of one more request, if the cap allows it."""
        if self._reached:
            raise self._reached
        claimed = self._under_way + self._price
        if self._cap is None:
            self._publish(claimed)
            return True
        # Published anew, because who is dead is told by the time of this account.
        self._publish(self._under_way)
        others = self._accounts.others()
        if self._spent + claimed + others.claimed > self._cap:
            if not self._under_way and others.claimed - others.spent <= NOTHING:
                spent = dollars(self._spent + others.spent)
                self._reached = BudgetReached(self._cap_usd, spent, "no further search is sent")
                raise self._reached
            return False
        self._publish(claimed)
        if self._spent + claimed + self._accounts.others().claimed <= self._cap:
            return True
        # Another job claims the same money at this moment.
        self._publish(self._under_way)
        return False

    def _publish(self, under_way: int) -> None:
        self._accounts.publish(Account(self._spent, self._spent + under_way))

    def _show_life(self) -> None:
        """Publish now and then as long as a request is under way, however long that takes."""
        if not self._showing_life:
            self._showing_life = True
            threading.Thread(target=self._keep_published, daemon=True).start()

    def _keep_published(self) -> None:
        while True:
            time.sleep(ALIVE_S)
            with self._settled:
                if not self._under_way:
                    self._showing_life = False
                    return
                try:
                    self._publish(self._under_way)
                except UserError as error:
                    _log.warning("%s", error)


def open_purse(this: "Job") -> Purse | None:
    """What pays the searches of a job; None where they cost nothing, or nothing may be sent.

    Raises:
        UserError: there is a budget, but the run has no name by which its jobs could find each other.
    """
    price_usd, cap_usd = this.config["search"]["price_per_request"], this.config["budget_usd"]
    if not price_usd or this.offline:
        return None
    folder = own_run_folder(this.cache, cap_usd)
    return Purse(Accounts(folder), price_usd, cap_usd) if folder else None
