"""The bill's searches: counted to the request where what is searched for is known, with nothing sent."""

import copy
import dataclasses
import json
from typing import Any

import pytest
import yaml

from devqa import tables
from devqa.bill import searches
from devqa.bill.flow import Line
from devqa.bill.meter import SCRIPTS, Altered, Missing
from devqa.bill.plan import Planned
from devqa.config import root
from devqa.errors import UserError
from devqa.recipe import asked_models, recipe
from devqa.web.store import Store
from searching import Service, engine, numbered

ROOT = SCRIPTS.parent
ENGINE = "search:brave"
LIMIT = 30
INPUTS = {"search": "queries", "evidence": "checked", "retrieve": "benchmark"}


@pytest.fixture
def service():
    with Service(numbered("brave", 20)) as running:
        yield running


@pytest.fixture
def config(tmp_path, monkeypatch, service) -> dict[str, Any]:
    """The default configuration with a search engine that has a price, and no key in the environment."""
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    raw = copy.deepcopy(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    raw["cache_dir"] = str(tmp_path / "cache")
    raw["search"] = {"engine": "brave", "url": service.url, "price_per_request": 0.005}
    validated = root.load(raw).dumped()
    monkeypatch.chdir(tmp_path)
    return validated


def job(rule: str, rows: list[dict[str, Any]], tmp_path, **more: Any) -> Planned:
    """A job of `rule` that is given `rows`."""
    table = INPUTS[rule]
    ok = {} if table == "benchmark" else {"status": "ok", "reason": ""}
    tables.write([{**ok, **row} for row in rows], table, tmp_path / f"{table}.parquet")
    options = {"engine": "brave", "results" if rule == "search" else "pages": LIMIT}
    planned = Planned(
        rule=rule,
        wildcards={},
        input={table: str(tmp_path / f"{table}.parquet")},
        output={},
        recipe=recipe(ROOT, f"{rule}.py", options),
        threads=1,
        resources={},
        runs=True,
        basis="exact",
        unsettled=False,
    )
    return dataclasses.replace(planned, **more)


def queries(*of_dialogues: str) -> list[dict[str, Any]]:
    return [
        {"dialogue_id": str(number), "language": "en", "queries": text.split()}
        for number, text in enumerate(of_dialogues)
    ]


def keep(config: dict[str, Any], service: Service, *wanted: str, limit: int = LIMIT) -> None:
    """Search for `wanted` on loopback; the answers stay in the cache."""
    searcher = engine("brave", service.url, Store(f"{config['cache_dir']}/web"))
    for query in wanted:
        searcher.search(query, "en", limit)
    service.asked.clear()


def measured(planned: Planned, config: dict[str, Any]):
    """The readings of a job as the bill comes to them: with the engine in a model's place."""
    (asking,) = searches.priced([planned], config)
    return searches.measured(asking, config)


def figures(readings):
    return [
        (len(each.keys), len(each.cached), len(each.missing), pytest.approx(each.further), each.most)
        for each in readings
    ]


def test_every_search_that_is_not_kept_is_a_request_and_perhaps_more(config, service, tmp_path):
    readings = measured(job("search", queries("a b", "c"), tmp_path), config)
    # Thirty results fill two pages of twenty; a third is asked for where some are missing.
    assert figures(readings) == [(3, 0, 3, 0, 0), (0, 0, 0, 3, 6)]
    assert {(each.rule, each.role, each.label) for each in readings} == {("search", "search", ENGINE)}
    assert readings[0].altered == Altered(3, 2)
    assert service.asked == []


def test_what_is_kept_is_counted_in_requests_and_tells_how_many_the_others_take(config, service, tmp_path):
    keep(config, service, "a", "b")
    first, further = measured(job("search", queries("a b", "c d"), tmp_path), config)
    assert figures([first, further]) == [(4, 2, 2, 0, 0), (2, 2, 0, 2, 4)]
    assert first.altered == Altered(2, 1)
    keep(config, service, "c", "d")
    readings = measured(job("search", queries("a b", "c d"), tmp_path), config)
    assert figures(readings) == [(4, 4, 0, 0, 0), (4, 4, 0, 0, 0)]
    assert readings[0].altered == Altered(0, 0)


def test_a_search_of_which_only_the_first_page_is_kept_lacks_one_request_at_least(config, service, tmp_path):
    keep(config, service, "a", limit=10)
    assert figures(measured(job("search", queries("a"), tmp_path), config))[0] == (1, 0, 1, 0, 0)


def test_equal_searches_are_sent_once(config, tmp_path):
    readings = measured(job("search", queries("a b", "b a"), tmp_path), config)
    assert figures(readings)[0] == (2, 0, 2, 0, 0)
    assert readings[0].altered == Altered(4, 2)


@pytest.mark.parametrize("rule", ["evidence", "retrieve"])
def test_questions_are_searched_for_as_they_are(config, service, tmp_path, rule):
    keep(config, service, "What is 1?")
    about = {"id": "1"} if rule == "retrieve" else {"dialogue_id": "1"}
    rows = [{**about, "question": f"What is {number}?", "language": "en"} for number in (1, 2, 2)]
    rows.append({**about, "question": "What is 1?", "language": None if rule == "retrieve" else "ru"})
    readings = measured(job(rule, rows, tmp_path), config)
    assert figures(readings)[0] == (3, 1, 2, 0, 0)
    assert service.asked == []


def test_pairs_that_were_rejected_are_not_searched_for(config, tmp_path):
    rows = [
        {"dialogue_id": "1", "question": "What is 1?", "language": "en", "status": status}
        for status in ("rejected", "failed")
    ]
    assert figures(measured(job("evidence", rows, tmp_path), config)) == [(0, 0, 0, 0, 0)] * 2


def test_an_engine_with_one_page_of_results_is_counted_to_the_request(config, tmp_path):
    config["search"] |= {"engine": "tavily"}
    readings = measured(job("search", queries("a b"), tmp_path), config)
    assert figures(readings) == [(2, 0, 2, 0, 0), (0, 0, 0, 0, 0)]


def test_an_engine_that_promises_nothing_of_its_pages_mostly_fills_them(config, tmp_path):
    config["search"] |= {"engine": "searxng"}
    readings = measured(job("search", queries("a b"), tmp_path), config)
    assert figures(readings) == [(2, 0, 2, 0, 0), (0, 0, 0, 4, 18)]


@pytest.mark.parametrize(
    "free",
    [{"search": {"price_per_request": 0}}, {"search": {"engine": "local"}}, {"offline": True}],
)
def test_where_searches_cost_nothing_their_jobs_are_left_out(config, tmp_path, free):
    changed = {**config, **free, "search": {**config["search"], **free.get("search", {})}}
    asking = job("search", queries("a"), tmp_path)
    check = dataclasses.replace(asking, rule="check", recipe=json.dumps({"options": {}, "models": {"check": {}}}))
    imported = dataclasses.replace(asking, rule="import_benchmark", recipe=json.dumps({"options": {}, "models": {}}))
    assert searches.priced([asking, check, imported], changed) == [check, imported]
    first, *others = searches.priced([asking, check, imported], config)
    assert others == [check, imported]
    (asked,) = asked_models(first.recipe)
    assert (asked["role"], asked["label"], asked["usually"], asked["at_most"]) == ("search", ENGINE, 2, 3)


def test_a_model_that_searches_by_itself_is_still_a_model(config, tmp_path):
    agentic = dataclasses.replace(
        job("search", queries("a"), tmp_path),
        rule="answer",
        recipe=json.dumps({"options": {"engine": "brave", "results": 5}, "models": {"agentic": {"label": "m"}}}),
    )
    assert not agentic.searches
    assert searches.priced([agentic], config) == [agentic]


def test_a_table_that_is_not_there_or_will_be_made_again_is_no_obstacle(config, tmp_path):
    asking = job("search", queries("a"), tmp_path)
    assert measured(dataclasses.replace(asking, basis="missing"), config) == []
    (tmp_path / "queries.parquet").write_bytes(b"nonsense")
    assert measured(dataclasses.replace(asking, basis="present"), config) == []
    with pytest.raises(UserError, match=r"queries.parquet can't be read"):
        measured(asking, config)


def test_requests_cost_their_price_and_certain_ones_at_least():
    line = Line("search", "search", ENGINE, {}, "", cached=40.0, further=5.0, most=20.0, bases={"exact", "present"})
    line.sure = dict.fromkeys("abc", Missing(0, 0, 0, False))
    line.likely = dict.fromkeys("de", Missing(0, 0, 0, False))
    cost = searches.cost(line, 0.5)
    assert (cost.step, cost.model, cost.free, cost.bases) == ("search", ENGINE, False, {"exact", "present"})
    assert (cost.cached, cost.sent, cost.most) == (40, 10, 25)
    assert (cost.low, cost.usual, cost.high) == (1.5, 5, 12.5)
    assert (cost.input_tokens, cost.output_tokens) == (0, 0)
