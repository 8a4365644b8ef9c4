"""What a run would ask the search engine, where that has a price: one and the same for every request.

In the flow of the bill the engine stands in the place of a model, by the name `search:<engine>`. Each search has one
request for its first page of results and, as they fill up or not, further ones.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from devqa import tables
from devqa.bill.estimate import Cost
from devqa.bill.flow import Line
from devqa.bill.meter import Altered, Missing, Reading, if_readable, stand_in
from devqa.bill.plan import Planned
from devqa.job import Job
from devqa.web.engines.online import OnlineEngine
from devqa.web.engines.opening import open_engine
from devqa.web.store import NotKept

# Where each job's recipe says how many results a search is to find.
_LIMITS = {"search": "results", "evidence": "pages", "retrieve": "pages"}
# What an engine mostly gives on a page of results that promises less.
_ON_A_PAGE = 10
_A_PAGE = Missing(0, 0, 0, False)


class _Search(NamedTuple):
    """What is searched for; `about`: the dialogue, or the row of the benchmark."""

    about: str
    query: str
    language: str


def paid(config: Mapping[str, Any]) -> bool:
    """Will searches be sent that cost something?"""
    search = config["search"]
    return bool(search["price_per_request"]) and search["engine"] != "local" and not config["offline"]


def priced(jobs: Iterable[Planned], config: Mapping[str, Any]) -> list[Planned]:
    """`jobs`, of which those that search have the engine as what they ask; where that is free, without them."""
    if not paid(config):
        return [job for job in jobs if not job.searches]
    return [_asking(job, config) if job.searches else job for job in jobs]


def measured(job: Planned, config: Mapping[str, Any]) -> list[Reading]:
    """What `job`, one of `priced`, would ask: a reading of all first pages of results, and one of all further pages.

    None where an input is not there, or can't be read and will be made again.

    Raises:
        UserError: an input can't be read.
    """
    return if_readable(job, lambda: _measured(job, config))


def cost(line: Line, price_usd: float) -> Cost:
    """What `line` costs at `price_usd` for each request."""
    most = max(line.sent_most, line.sent)
    return Cost(
        step=line.rule,
        model=line.label,
        cached=line.cached,
        sent=line.sent,
        most=most,
        input_tokens=0.0,
        output_tokens=0.0,
        low=len(line.sure) * price_usd,
        usual=line.sent * price_usd,
        high=most * price_usd,
        bases=frozenset(line.bases),
        free=False,
    )


def _asking(job: Planned, config: Mapping[str, Any]) -> Planned:
    """`job` with the engine as what it asks, and how many requests a search takes: mostly, and at most."""
    recipe = json.loads(job.recipe)
    engine, limit = _engine(job, config), _limit(job)
    label = f"search:{engine.name}"
    most = engine.most_requests(limit)
    usually = min(most, math.ceil(limit / max(engine.page_size, _ON_A_PAGE)))
    asked = {"label": label, "endpoint": "", "model": label, "usually": usually, "at_most": most}
    return dataclasses.replace(job, recipe=json.dumps({**recipe, "models": {job.rule: asked}}))


def _measured(job: Planned, config: Mapping[str, Any]) -> list[Reading]:
    asked = json.loads(job.recipe)["models"][job.rule]
    engine, limit, wanted = _engine(job, config), _limit(job), _wanted(job)
    kept = {_key(search, limit): _requests(engine, search, limit) for search in wanted}
    missing = [key for key, requests in kept.items() if requests is None]
    whole = [requests for requests in kept.values() if requests]
    lacking = [search.about for search in wanted if kept[_key(search, limit)] is None]
    usually = sum(whole) / len(whole) if whole else asked["usually"]
    most = len(missing) * (asked["at_most"] - 1)
    first = Reading(
        rule=job.rule,
        role=job.rule,
        label=asked["label"],
        endpoint=asked["endpoint"],
        model=asked["model"],
        # A search without words asks nobody.
        keys=tuple(key for key, requests in kept.items() if requests != 0),
        cached=frozenset(key for key, requests in kept.items() if requests),
        missing=dict.fromkeys(missing, _A_PAGE),
        further=0.0,
        most=0,
        complete=not most,
        altered=Altered(len(lacking), len(set(lacking))),
    )
    pages = [f"{key} {number}" for key, requests in kept.items() for number in range(2, (requests or 0) + 1)]
    further = dataclasses.replace(
        first,
        keys=tuple(pages),
        cached=frozenset(pages),
        missing={},
        further=min(len(missing) * (usually - 1), most),
        most=most,
    )
    return [first, further]


def _wanted(job: Planned) -> list[_Search]:
    """What the job's script searches for."""
    match job.rule:
        case "search":
            rows = tables.read_ok(job.input["queries"], "queries")
            return [_Search(row["dialogue_id"], query, row["language"]) for row in rows for query in row["queries"]]
        case "evidence":
            rows = tables.read_ok(job.input["checked"], "checked")
            return [_Search(row["dialogue_id"], row["question"], row["language"]) for row in rows]
        case _:
            rows = tables.read(job.input["benchmark"], "benchmark")
            return [_Search(row["id"], row["question"], row["language"] or "") for row in rows]


def _requests(engine: OnlineEngine, search: _Search, limit: int) -> int | None:
    """How many requests the search took, of which all answers are kept; None where one is not."""
    try:
        return engine.search(search.query, search.language, limit).requests
    except NotKept:
        return None


def _engine(job: Planned, config: Mapping[str, Any]) -> OnlineEngine:
    return open_engine(Job(stand_in(job, config)))


def _limit(job: Planned) -> int:
    return json.loads(job.recipe)["options"][_LIMITS[job.rule]]


def _key(search: _Search, limit: int) -> str:
    return json.dumps([search.query, search.language, limit])
