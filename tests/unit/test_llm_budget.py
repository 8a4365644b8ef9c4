"""The cap on what a run spends: never broken, whoever asks in whatever order, and never in the way for nothing."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.models import Model, asked_with
from devqa.errors import UserError
from devqa.llm import budget as budgets
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.roles import chat_for
from devqa.llm.spend import RUN, Account, Accounts, picodollars, remove_old, run_folder, run_total

USD = st.floats(0.001, 3)
# What a request was thought to cost at most, and which part of that it really cost.
REQUESTS = st.lists(st.tuples(USD, st.floats(0, 1)), max_size=25)


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch):
    monkeypatch.setattr(budgets, "PUBLISH_S", 0.01)


def accounts(folder, run="run"):
    return Accounts(run_folder(folder, run))


def total(folder, run="run"):
    return run_total(folder, run)


def in_a_loop(body):
    """Run `body()`, which is no coroutine, where a budget can publish."""

    async def running():
        return body()

    return asyncio.run(running())


class Jobs:
    """Several jobs of one run in one process: a job's step may come at any time that another looks at the accounts."""

    def __init__(self, folder, cap, count=2):
        self.cap = picodollars(cap)
        self.pending = []
        self.budgets = [Budget(Interrupted(run_folder(folder, "run"), self), cap) for _ in range(count)]
        self.open = [[] for _ in range(count)]
        self.busy = set()

    def interrupt(self):
        if not self.pending:
            return
        looks, job, step = self.pending.pop()
        if looks:
            self.pending.append((looks - 1, job, step))
        elif job not in self.busy:
            # A job's own steps run one after the other.
            self.do(job, *step)

    def do(self, job, bound, part):
        """Settle one of the job's requests, or send a new one."""
        budget, under_way = self.budgets[job], self.open[job]
        if part < 0.3 and under_way:
            settled = under_way.pop(int(part * 10) % len(under_way))
            budget.settle(settled, settled * part)
        else:
            self.busy.add(job)
            if budget.admit_now(bound):
                under_way.append(bound)
            self.busy.remove(job)
        assert self.committed() <= self.cap

    def committed(self):
        """What all that was sent may come to."""
        return sum(budget._spent + budget._under_way for budget in self.budgets)


class Interrupted(Accounts):
    def __init__(self, folder, jobs):
        super().__init__(folder)
        self._jobs = jobs

    def others(self):
        self._jobs.interrupt()
        found = super().others()
        self._jobs.interrupt()
        return found


# Few different amounts, so that the cap is often just reached.
STEPS = st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([0.0, 0.1, 0.25, 1.0]))
# After so many moments at which it might: another job does a step.
INTERRUPTIONS = st.tuples(st.integers(0, 4), st.sampled_from([1, 2]), STEPS)


@given(st.lists(STEPS, max_size=6), st.lists(INTERRUPTIONS, max_size=12), st.integers(1, 4))
def test_jobs_never_come_to_more_than_the_cap_however_they_interrupt_each_other(
    tmp_path_factory, steps, interruptions, cap
):
    jobs = Jobs(tmp_path_factory.mktemp("spend"), cap, count=3)
    jobs.pending = interruptions
    in_a_loop(lambda: [jobs.do(0, *step) for step in steps])


async def sent(budget, requests, answered, concurrency=4):
    """Send `requests` as the engine does: admitted, answered after a while, settled."""
    waiting = list(requests)

    async def work():
        while waiting:
            bound, part = waiting.pop()
            await budget.admit(bound)
            await asyncio.sleep(random.random() * 0.002)  # noqa: S311
            answered.append(bound * part)
            budget.settle(bound, bound * part)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())


@given(REQUESTS, st.floats(0.01, 20))
def test_one_job_stays_within_the_cap_and_uses_it(tmp_path_factory, requests, cap):
    folder = tmp_path_factory.mktemp("spend")
    answered = []
    try:
        asyncio.run(sent(Budget(accounts(folder), cap), requests, answered))
    except* BudgetReached:
        # Some request did not fit although everything before it was settled.
        assert sum(answered) + max(bound for bound, _ in requests) > cap * (1 - 1e-9)
    else:
        assert len(answered) == len(requests)
    assert sum(answered) <= cap * (1 + 1e-9)
    assert total(folder).spent == pytest.approx(picodollars(sum(answered)), abs=30)
    assert total(folder).broken_off == 0


def test_without_a_cap_nothing_waits_and_spending_is_published(tmp_path):
    answered = []
    asyncio.run(sent(Budget(accounts(tmp_path), None), [(1.0, 0.5)] * 10, answered))
    assert total(tmp_path) == Account(picodollars(5), picodollars(5), 0)


def test_what_is_free_is_never_held_up_and_leaves_no_file(tmp_path):
    budget = Budget(accounts(tmp_path), 0.001)
    asyncio.run(sent(budget, [(0.0, 1.0)] * 10, answered := []))
    assert len(answered) == 10
    assert not list(tmp_path.iterdir())


def test_a_request_that_does_not_fit_waits_for_one_that_may_cost_less(tmp_path):
    budget = Budget(accounts(tmp_path), 1.0)
    order = []

    async def second():
        await budget.admit(0.8)
        order.append("second")
        budget.settle(0.8, 0.8)

    async def both():
        await budget.admit(0.9)
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.05)
        order.append("first")
        budget.settle(0.9, 0.1)
        await waiting

    asyncio.run(both())
    assert order == ["first", "second"]
    assert total(tmp_path).spent == picodollars(0.9)


def test_the_message_says_what_was_spent_and_what_is_left(tmp_path):
    budget = Budget(accounts(tmp_path), 5.0)
    asyncio.run(sent(budget, [(4.98, 1.0)], []))
    with pytest.raises(BudgetReached) as reached:
        asyncio.run(budget.admit(0.03))
    assert str(reached.value.leaving(1234, 5000, "verify", "gpt")) == (
        "budget_usd: the run's budget of 5.00 USD is reached (4.98 USD spent): 1,234 of 5,000 requests of verify "
        "with gpt were not sent. What was answered is kept: raise budget_usd or run again, and `snakemake bill` says "
        "what is left"
    )


def test_what_a_request_really_cost_counts_even_beyond_what_was_set_aside(tmp_path):
    budget = Budget(accounts(tmp_path), 1.0)

    async def retried():
        await budget.admit(0.1)
        budget.settle(0.1, 0.95)
        await budget.admit(0.1)

    with pytest.raises(BudgetReached, match=r"\(0\.9500 USD spent\)"):
        asyncio.run(retried())


def test_amounts_that_are_settled_as_a_sum_leave_nothing_to_wait_for(tmp_path):
    bounds = [0.1 + number / 7e6 for number in range(1000)]
    budget = Budget(accounts(tmp_path), sum(bounds))

    async def batch():
        for bound in bounds:
            assert budget.admit_now(bound)
        budget.settle(sum(bounds), sum(bounds))
        await budget.admit(1.0)

    with pytest.raises(BudgetReached):
        asyncio.run(batch())


def test_money_of_another_job_that_is_at_work_is_waited_for(tmp_path):
    other = accounts(tmp_path)
    other.publish(Account(spent=0, claimed=picodollars(0.8)))
    budget = Budget(accounts(tmp_path), 1.0)

    async def waiting():
        admitted = asyncio.create_task(budget.admit(0.5))
        await asyncio.sleep(0.05)
        assert not admitted.done()
        other.publish(Account(spent=picodollars(0.4), claimed=picodollars(0.4)))
        await admitted

    asyncio.run(waiting())


def test_what_another_job_has_spent_is_not_waited_for(tmp_path):
    accounts(tmp_path).publish(Account(picodollars(0.8), picodollars(0.8)))
    with pytest.raises(BudgetReached, match=r"\(0\.8000 USD spent\)"):
        asyncio.run(Budget(accounts(tmp_path), 1.0).admit(0.5))


def test_runs_know_nothing_of_each_other(tmp_path):
    accounts(tmp_path, "yesterday").publish(Account(picodollars(9), picodollars(9)))
    asyncio.run(sent(Budget(accounts(tmp_path, "today"), 1.0), [(1.0, 1.0)], answered := []))
    assert answered == [1.0]


def test_a_dead_job_s_money_is_free_again(tmp_path):
    """Killed, with nobody to settle what it had under way: its file is as old as that."""
    dead = accounts(tmp_path)
    dead.publish(Account(picodollars(0.25), picodollars(1.0)))
    (file,) = run_folder(tmp_path, "run").iterdir()
    os.utime(file, (1, 1))
    asyncio.run(sent(Budget(accounts(tmp_path), 1.0), [(0.75, 1.0)], []))
    assert total(tmp_path) == Account(picodollars(1.0), picodollars(1.0), picodollars(0.75))


def test_a_job_that_waits_long_stays_alive(tmp_path, monkeypatch):
    monkeypatch.setattr(budgets, "ALIVE_S", 0.02)
    budget = Budget(accounts(tmp_path), 1.0)

    async def long():
        await budget.admit(0.5)
        (file,) = run_folder(tmp_path, "run").iterdir()
        os.utime(file, (1, 1))
        while file.stat().st_mtime == 1:
            await asyncio.sleep(0.01)
        budget.settle(0.5, 0.5)

    asyncio.run(long())


def test_what_is_broken_off_with_its_loop_is_told_and_holds_up_nobody(tmp_path):
    budget = Budget(accounts(tmp_path), 1.0)
    asyncio.run(budget.admit(0.7))
    assert total(tmp_path) == Account(0, 0, picodollars(0.7))
    asyncio.run(sent(budget, [(0.9, 1.0)], []))
    asyncio.run(sent(Budget(accounts(tmp_path), 1.0), [(0.1, 1.0)], []))
    assert total(tmp_path) == Account(picodollars(1.0), picodollars(1.0), picodollars(0.7))


def test_what_is_settled_while_the_loop_ends_counts_too(tmp_path):
    budget = Budget(accounts(tmp_path), None)

    async def interrupted():
        await budget.admit(0.7)
        try:
            await asyncio.sleep(1000)
        finally:
            budget.settle(0.7, 0.4)

    async def ending():
        tasks.append(asyncio.create_task(interrupted()))
        await asyncio.sleep(0.01)

    tasks = []
    asyncio.run(ending())
    assert total(tmp_path).spent == picodollars(0.4)


def test_what_was_admitted_elsewhere_can_be_settled(tmp_path):
    """A batch that an earlier run has sent is paid for when its answers come."""
    budget = Budget(accounts(tmp_path), 1.0)
    in_a_loop(lambda: budget.settle(0, 0.4))
    assert total(tmp_path) == Account(picodollars(0.4), picodollars(0.4), 0)


def test_a_file_that_is_no_account_is_named(tmp_path):
    folder = run_folder(tmp_path, "run")
    folder.mkdir(parents=True)
    (folder / "x.json").write_text("nonsense")
    with pytest.raises(UserError, match=r"x\.json is no account"):
        asyncio.run(Budget(accounts(tmp_path), 1.0).admit(0.5))


def test_a_run_whose_accounts_are_taken_away_says_so(tmp_path):
    budget = Budget(accounts(tmp_path), 1.0)

    async def robbed():
        await budget.admit(0.5)
        shutil.rmtree(run_folder(tmp_path, "run"))
        await budget.admit(0.5)

    with pytest.raises(UserError, match="where the run's jobs keep account, can't be read"):
        asyncio.run(robbed())


class Told:
    """Stands in for a `Chat`: what a job's role was given."""

    def __init__(self, asked, runtime, cache, step, budget=None, retrying=False):
        self.price, self.budget = runtime["price"], budget


def role_of(tmp_path, cap, **more):
    model = Model(base_url="http://127.0.0.1:9/v1", **more)
    this = SimpleNamespace(
        asked={"check": asked_with("m", model)},
        config={"models": {"m": model.model_dump()}, "budget_usd": cap},
        chat=Told,
        cache=tmp_path,
        retrying=False,
        resources={},
        chats=[],
    )
    return chat_for(this, "check")


def test_a_job_has_one_budget_and_the_prices_of_its_models_modes(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN, "run")
    price = {"input": 2.0, "output": 8.0}
    online, batch = (role_of(tmp_path, 5.0, price=price, mode=mode) for mode in ("online", "batch"))
    assert online.price == {"input": 2.0, "output": 8.0, "cached_input": 2.0}
    assert batch.price == {"input": 1.0, "output": 4.0, "cached_input": 1.0}
    assert online.budget is batch.budget is not None
    assert role_of(tmp_path, 5.0).budget is None
    asyncio.run(sent(online.budget, [(1.0, 1.0)], []))
    assert total(tmp_path).spent == picodollars(1.0)


def test_a_budget_needs_a_run_that_its_jobs_know(tmp_path, monkeypatch):
    monkeypatch.delenv(RUN, raising=False)
    price = {"input": 2.0}
    with pytest.raises(UserError, match=f"budget_usd: the environment variable {RUN} has not reached this job"):
        role_of(tmp_path, 5.0, price=price)
    assert role_of(tmp_path, None, price=price).budget is None


def test_accounts_of_old_runs_are_removed_and_no_others(tmp_path):
    for run in ("old", "new"):
        accounts(tmp_path, run).publish(Account(1, 1))
    os.utime(run_folder(tmp_path, "old"), (1, 1))
    remove_old(tmp_path)
    assert [folder.name for folder in (tmp_path / "spend").iterdir()] == ["new"]
    remove_old(tmp_path / "nowhere")


# Sends requests of 0.01 USD, each of which costs all of it or, by chance, half, until there is no more money.
_CHILD = """
import asyncio, random, sys
from pathlib import Path
from devqa.llm import budget as budgets
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.spend import Accounts
budgets.PUBLISH_S = 0.02
budget, chance = Budget(Accounts(Path(sys.argv[1])), 1.0), random.Random(int(sys.argv[2]))

async def work():
    while True:
        await budget.admit(0.01)
        await asyncio.sleep(chance.random() * 0.004)
        cost = chance.choice([0.01, 0.005])
        budget.settle(0.01, cost)
        print(cost, flush=True)

async def main():
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(work())

try:
    asyncio.run(main())
except* BudgetReached:
    pass
"""


def child(folder, code, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(run_folder(folder, "run")), *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_budget(tmp_path):
    children = [child(tmp_path, _CHILD, str(number)) for number in range(3)]
    costs = [float(line) for process in children for line in process.communicate()[0].split()]
    assert [process.returncode for process in children] == [0] * 3
    assert sum(costs) <= 1.0 + 1e-9
    # They go on until not even one more request fits.
    assert sum(costs) > 1.0 - 0.01 - 1e-9
    assert total(tmp_path) == Account(picodollars(sum(costs)), picodollars(sum(costs)), 0)


_HANGING = """
import asyncio, sys
from pathlib import Path
from devqa.llm.budget import Budget
from devqa.llm.spend import Accounts

async def main():
    budget = Budget(Accounts(Path(sys.argv[1])), 1.0)
    await budget.admit(0.2)
    budget.settle(0.2, 0.2)
    await budget.admit(0.8)
    print("sent", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


def test_the_money_of_a_killed_process_is_waited_for_and_then_free(tmp_path, monkeypatch):
    monkeypatch.setattr(budgets, "ALIVE_S", 0.05)
    monkeypatch.setattr("devqa.llm.spend.DEAD_AFTER_S", 0.5)
    process = child(tmp_path, _HANGING)
    assert process.stdout.readline() == "sent\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    asyncio.run(sent(Budget(accounts(tmp_path), 1.0), [(0.7, 1.0)], answered := []))
    assert answered == [0.7]
    # What the killed process had settled just before was not yet published: it is told with what was broken off.
    found = total(tmp_path)
    assert found.spent + found.broken_off == picodollars(1.7)


def test_few_publications_are_made_far_from_the_cap(tmp_path, monkeypatch):
    monkeypatch.setattr(budgets, "PUBLISH_S", 3600)
    written = []
    monkeypatch.setattr(
        Accounts, "publish", lambda self, account, real=Accounts.publish: written.append(real(self, account))
    )
    asyncio.run(sent(Budget(accounts(tmp_path), 10.0), [(0.001, 1.0)] * 5000, [], concurrency=50))
    assert len(written) < 200


def test_an_account_is_one_small_file(tmp_path):
    asyncio.run(sent(Budget(accounts(tmp_path), 10.0), [(0.001, 1.0)] * 50, []))
    (file,) = run_folder(tmp_path, "run").iterdir()
    assert orjson.loads(file.read_bytes()).keys() == {"spent", "claimed", "broken_off"}
