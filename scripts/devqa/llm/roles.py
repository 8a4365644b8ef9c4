"""The model that plays a role in a job, ready to be asked."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from devqa.job import Job
from devqa.llm.budget import Budget
from devqa.llm.cache import responses
from devqa.llm.chat import Chat
from devqa.llm.pricing import Price, effective_price, is_free
from devqa.llm.shares import resource_names, share
from devqa.llm.spend import RUN, Accounts, own_run_folder
from devqa.serving.address import address_file


def chat_for(this: Job, role: str, number: int | None = None) -> Chat:
    """The `Chat` for `role` of the job's recipe, or for its `number`th where several models play it."""
    asked = this.asked[role] if number is None else this.asked[role][number]
    runtime = runtime_of(this, asked["label"])
    budget = budget_of(this, runtime["price"])
    chat = (this.chat or Chat)(asked, runtime, responses(this.cache), role, budget)
    this.chats.append(chat)
    return chat


def runtime_of(this: Job, label: str) -> dict[str, Any]:
    """How this job reaches model `label`: its configuration, with the job's share of its limits.

    `price` is what tokens cost in the model's mode. `address_file` is added: where this run's server of a served
    model is announced.
    """
    models = this.config["models"]
    runtime = dict(models[label])
    runtime["price"] = effective_price(runtime["price"], runtime["mode"])
    part = this.resources.get(resource_names(models).get(label, ""))
    if part is not None:
        runtime["limits"] = share(runtime["limits"], part)
    if runtime["runtime"] == "served":
        runtime["address_file"] = address_file(this.cache, os.environ.get(RUN, ""), label)
    return runtime


def budget_of(this: Job, price: Price) -> Budget | None:
    """What this job's run may still spend on a model of `price`; None for one that is free.

    Raises:
        UserError: there is a budget, but the run has no name by which its jobs could find each other.
    """
    cap_usd = this.config["budget_usd"]
    folder = None if is_free(price) else own_run_folder(this.cache, cap_usd)
    return _budget(folder, cap_usd) if folder else None


@cache
def _budget(folder: Path, cap_usd: float | None) -> Budget:
    """One for all models of a job: it has one account."""
    return Budget(Accounts(folder), cap_usd)
