"""What sending takes from the budget: what answers cost, and nothing else."""

from collections import Counter

import pytest

from asking import ask, outcomes, text_of
from devqa.config.models import Model, asked_with
from devqa.errors import UserError
from devqa.llm.budget import Budget, BudgetReached
from devqa.llm.cache import Cache
from devqa.llm.chat import Chat
from devqa.llm.spend import Accounts
from faults import GRADE
from scripted import Reply, ScriptedEndpoint

pytestmark = pytest.mark.usefixtures("no_waiting", "no_deadlock")


PRICE = {"input": 1.0, "output": 1.0}
DOLLAR = 1_000_000


def with_budget(server, folder, cap_usd, **more):
    model = Model(**server.model(price=PRICE, sampling={"max_tokens": DOLLAR}, **more))
    budget = Budget(Accounts(folder / "spend"), cap_usd)
    chat = Chat(asked_with("scripted", model), model.model_dump(), Cache(folder / "cache"), "test", budget)
    return chat, budget


def spent(budget):
    return budget._spent / 10**12


def test_a_budget_is_settled_with_what_answers_cost(tmp_path):
    usage = {"prompt_tokens": 0, "completion_tokens": DOLLAR // 10}
    with ScriptedEndpoint(lambda body: Reply(usage=usage)) as server:
        chat, budget = with_budget(server, tmp_path, 5.0)
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(20)])) == {"ok": 20}
    assert spent(budget) == pytest.approx(2.0)
    assert (budget._under_way, budget._broken_off) == (0, 0)


def test_requests_that_fail_give_their_money_back(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(status=400)) as server:
        chat, budget = with_budget(server, tmp_path, 1.5)
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(20)])) == {"error": 20}
    assert (spent(budget), budget._under_way, budget._broken_off) == (0, 0, 0)


def test_requests_that_wait_for_another_attempt_hold_no_money(tmp_path):
    """Else those that wait for money would wait for them, and they for a slot: for ever."""
    failures = Counter()

    def reply(body):
        failures[text_of(body)] += 1
        return (
            Reply(status=503)
            if failures[text_of(body)] < 4
            else Reply(usage={"prompt_tokens": 0, "completion_tokens": 0})
        )

    with ScriptedEndpoint(reply) as server:
        # One request alone may be under way.
        chat, budget = with_budget(server, tmp_path, 1.5, limits={"concurrency": 4})
        with chat:
            assert outcomes(chat.ask([ask(n) for n in range(12)])) == {"ok": 12}
    assert server.peak == 1


def test_what_the_endpoint_did_not_count_costs_as_much_as_it_may_have(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(usage=None)) as server:
        chat, budget = with_budget(server, tmp_path, 3.5)
        with chat, pytest.raises(BudgetReached):
            chat.ask([ask(n) for n in range(20)])
    assert server.count == 3
    assert spent(budget) == pytest.approx(3.0, rel=1e-3)


def test_a_repaired_answer_costs_both(tmp_path):
    def reply(body):
        usage = {"prompt_tokens": 0, "completion_tokens": DOLLAR // 10}
        return Reply({"grade": "A" if len(body["messages"]) > 1 else "Z"}, usage=usage)

    with ScriptedEndpoint(reply) as server:
        chat, budget = with_budget(server, tmp_path, 5.0, structured="json_schema")
        with chat:
            answers = chat.ask([ask(n, GRADE) for n in range(5)])
    assert outcomes(answers) == {"ok": 5}
    assert [answer.calls for answer in answers] == [2] * 5
    assert spent(budget) == pytest.approx(1.0)


def test_what_a_stop_leaves_unsent_holds_no_money(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(status=401, delay_s=0.1)) as server:
        chat, budget = with_budget(server, tmp_path, 100.0, limits={"concurrency": 4, "requests_per_minute": 60})
        with chat, pytest.raises(UserError, match="api_key_env"):
            chat.ask([ask(n) for n in range(20)])
    assert (spent(budget), budget._under_way, budget._broken_off) == (0, 0, 0)


def test_what_was_under_way_when_the_endpoint_died_may_have_cost(tmp_path):
    with ScriptedEndpoint(lambda body: Reply(fault="hang"), models=Reply(fault="hang")) as server:
        chat, budget = with_budget(server, tmp_path, 100.0, limits={"concurrency": 4, "down_after_s": 0.3})
        with chat, pytest.raises(UserError, match="nothing answers"):
            chat.ask([ask(n) for n in range(20)])
    assert budget._broken_off / 10**12 == pytest.approx(4.0, rel=1e-3)
