"""The money for searches: never more than the cap, whoever asks, and never in the way for nothing."""

import asyncio
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.llm import budget as budgets
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.spend import RUN, Account, Accounts, picodollars, run_folder, run_total
from devqa.web import purse as purses
from devqa.web.purse import Purse, open_purse

PRICE = 0.005


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch):
    monkeypatch.setattr(purses, "PUBLISH_S", 0.005)
    monkeypatch.setattr(budgets, "PUBLISH_S", 0.005)


class Till:
    """What all searches of a run may come to at this moment, and came to at most."""

    def __init__(self):
        self.amount = self.most = 0
        self._lock = threading.Lock()

    def add(self, usd):
        with self._lock:
            self.amount += picodollars(usd)
            self.most = max(self.most, self.amount)


class Slow(Accounts):
    """Accounts during whose reading and writing other threads come to do their part."""

    def publish(self, account):
        super().publish(account)
        threading.Event().wait(random.uniform(0, 0.001))

    def others(self):
        found = super().others()
        threading.Event().wait(random.uniform(0, 0.001))
        return found


def purse(folder, cap=None, price=PRICE, kind=Accounts):
    return Purse(kind(run_folder(folder, "run")), price, cap)


def searches(purse, charged, till, price=PRICE, threads=3):
    """Send one request for each of `charged` as an engine does; how many were not admitted."""

    def search(is_charged):
        try:
            purse.admit()
        except BudgetReached:
            return 1
        # Set aside after it is admitted, and given back before it is settled: the till never says too much.
        till.add(price)
        till.add(0 if is_charged else -price)
        purse.settle(is_charged)
        return 0

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(search, charged))


@settings(max_examples=12)
@given(st.lists(st.lists(st.booleans(), max_size=10), min_size=2, max_size=2), st.integers(1, 12))
def test_two_jobs_never_come_to_more_than_the_cap_together_and_send_all_that_fits(tmp_path_factory, jobs, fitting):
    folder, till, cap = tmp_path_factory.mktemp("spend"), Till(), fitting * PRICE
    purses_of_both = [purse(folder, cap, kind=Slow) for _ in jobs]
    with ThreadPoolExecutor(len(jobs)) as pool:
        left = sum(pool.map(lambda each, charged: searches(each, charged, till), purses_of_both, jobs))
    assert till.most <= picodollars(cap)
    account = run_total(folder, "run")
    assert (account.spent, account.broken_off) == (till.amount, 0)
    # Refused is only what would have gone over the cap.
    assert till.amount == (picodollars(cap) if left else sum(map(sum, jobs)) * picodollars(PRICE))


def test_of_two_jobs_that_see_the_same_money_at_the_same_moment_one_gets_it(tmp_path):
    looking = threading.Barrier(2)

    class Together(Accounts):
        """At first, nobody goes on before both have looked."""

        looks = 0

        def others(self):
            found = super().others()
            self.looks += 1
            if self.looks == 1:
                looking.wait(10)
            return found

    till = Till()
    both = [purse(tmp_path, PRICE, kind=Together) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        left = sum(pool.map(lambda each: searches(each, [True], till, threads=1), both))
    assert (left, till.amount) == (1, picodollars(PRICE))


def test_searches_and_models_share_the_cap(tmp_path):
    cap, till = 0.1, Till()
    budget = Budget(Slow(run_folder(tmp_path, "run")), cap)

    async def asking():
        async def ask():
            await budget.admit(0.004)
            till.add(0.004)
            await asyncio.sleep(0)
            till.add(-0.001)
            budget.settle(0.004, 0.003)

        return await asyncio.gather(*(ask() for _ in range(40)), return_exceptions=True)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(asyncio.run, asking())
        left = searches(purse(tmp_path, cap, kind=Slow), [True] * 40, till)
        refused = [outcome for outcome in asked.result() if outcome is not None]
    assert left
    assert refused
    assert {type(outcome) for outcome in refused} == {BudgetReached}
    assert till.most <= picodollars(cap)
    assert run_total(tmp_path, "run").spent == till.amount
    # What is left is less than either costs.
    assert picodollars(cap) - till.amount < picodollars(PRICE)


def test_the_message_is_about_searches_and_every_later_one_is_refused_at_once(tmp_path):
    mine = purse(tmp_path, 2 * PRICE)
    assert searches(mine, [True, True, True], Till(), threads=1) == 1
    with pytest.raises(BudgetReached) as refused:
        mine.admit()
    assert str(refused.value).startswith(
        "budget_usd: the run's budget of 0.0100 USD is reached (0.0100 USD spent): no further search is sent. "
        "What was answered is kept: raise budget_usd"
    )


def test_a_request_that_is_under_way_in_another_job_is_waited_for(tmp_path):
    mine, other = purse(tmp_path, PRICE), purse(tmp_path, PRICE)
    other.admit()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mine.admit)
        with pytest.raises(TimeoutError):
            waiting.result(0.05)
        # It has cost nothing after all.
        other.settle(charged=False)
        waiting.result(10)
    mine.settle(charged=True)
    with pytest.raises(BudgetReached):
        other.admit()


def test_one_s_own_request_is_waited_for_too(tmp_path):
    mine = purse(tmp_path, PRICE)
    mine.admit()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mine.admit)
        mine.settle(charged=True)
        with pytest.raises(BudgetReached):
            waiting.result(10)


def test_what_a_dead_job_had_under_way_is_free_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr("devqa.llm.spend.DEAD_AFTER_S", 0.1)
    # It never says anything again.
    Accounts(run_folder(tmp_path, "run")).publish(Account(0, picodollars(PRICE), 0))
    mine = purse(tmp_path, PRICE)
    mine.admit()
    mine.settle(charged=True)
    account = run_total(tmp_path, "run")
    assert (account.spent, account.broken_off) == (picodollars(PRICE), picodollars(PRICE))


def test_a_request_that_takes_long_shows_life_until_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(purses, "ALIVE_S", 0.01)
    shown = threading.Semaphore(0)

    class Watched(Accounts):
        def publish(self, account):
            super().publish(account)
            shown.release()

    mine = purse(tmp_path, 1.0, kind=Watched)
    before = set(threading.enumerate())
    mine.admit()
    (showing,) = set(threading.enumerate()) - before
    while shown.acquire(blocking=False):
        pass
    assert all(shown.acquire(timeout=10) for _ in range(3))
    mine.settle(charged=True)
    showing.join(10)
    assert not showing.is_alive()
    mine.admit()
    assert set(threading.enumerate()) - before


def test_without_a_cap_spending_is_published_and_nothing_is_refused(tmp_path):
    assert searches(purse(tmp_path), [True] * 9 + [False] * 3, Till()) == 0
    assert run_total(tmp_path, "run") == Account(9 * picodollars(PRICE), 9 * picodollars(PRICE), 0)


def test_an_account_that_can_t_be_written_stops_the_next_request_and_loses_no_answer(tmp_path, caplog):
    full = []

    class Full(Accounts):
        def publish(self, account):
            if full:
                raise UserError("the account can't be written: make room")
            super().publish(account)

    mine = purse(tmp_path, 2 * PRICE, kind=Full)
    mine.admit()
    full.append(True)
    mine.settle(charged=True)
    assert "can't be written" in caplog.text
    with pytest.raises(UserError, match="can't be written"):
        mine.admit()
    full.clear()
    # The one that was refused holds nothing back.
    assert searches(mine, [True, True], Till()) == 1


@pytest.fixture
def job(tmp_path):
    config = {"search": {"price_per_request": PRICE}, "budget_usd": 1.0}
    return SimpleNamespace(config=config, cache=tmp_path, offline=False)


def test_a_job_s_purse_is_that_of_its_run(job, tmp_path, monkeypatch):
    monkeypatch.setenv(RUN, "run")
    mine = open_purse(job)
    mine.admit()
    mine.settle(charged=True)
    (file,) = run_folder(tmp_path, "run").iterdir()
    assert json.loads(file.read_text())["spent"] == picodollars(PRICE)


def test_what_is_free_or_not_sent_needs_no_purse(job, monkeypatch):
    monkeypatch.setenv(RUN, "run")
    job.offline = True
    assert open_purse(job) is None
    job.offline = False
    job.config["search"]["price_per_request"] = 0
    assert open_purse(job) is None


def test_without_the_run_s_name_a_cap_can_t_hold(job, monkeypatch):
    monkeypatch.delenv(RUN, raising=False)
    with pytest.raises(UserError, match=f"budget_usd: the environment variable {RUN} has not reached this job"):
        open_purse(job)
    job.config["budget_usd"] = None
    assert open_purse(job) is None
