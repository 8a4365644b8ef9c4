"""Steps, their causes and what they send, as text."""

import json
from typing import Any

import pytest

from devqa.bill.estimate import Cost
from devqa.bill.plan import Due
from devqa.why.causes import steps
from devqa.why.changes import Template
from devqa.why.page import page
from devqa.why.shards import resharded

LOCAL = {"search": {"engine": "local", "price_per_request": 0}, "offline": False}
ONLINE = {"search": {"engine": "searxng", "price_per_request": 0}, "offline": False}


def recipe(asks: str = "", **parts: Any) -> str:
    models = {asks: {"label": "gpt"}} if asks else {}
    return json.dumps({"options": {}, "models": models, "prompts": {}, "code": {}, **parts})


def due(step: str, wildcards: dict[str, str] | None = None, *, runs: bool = True, **more: Any) -> Due:
    return Due(step, wildcards or {}, runs, **{"recipe": recipe(), **more})


def shard(number: int) -> dict[str, str]:
    return {"source": "mine", "shard": f"{number}-of-30"}


def cost(step: str, sent: float, cached: float, most: float | None = None, model: str = "gpt", basis="exact") -> Cost:
    most = sent if most is None else most
    return Cost(step, model, cached, sent, most, 0, 0, 0, 0, 0, frozenset({basis}), False)


def told(dues: list[Due], *costs: Cost, config=LOCAL) -> list[str]:
    """The lines about the steps."""
    text = page(steps(dues, config), costs, config, {})
    return text.split("\n\n")[1].splitlines()


def test_nothing_to_be_done():
    assert page(steps([due("check", runs=False)], LOCAL), [], LOCAL, {}).startswith("Nothing to be done")


def test_shards_with_the_same_causes_are_one_line():
    prompts = [{"check": {"check/user.j2": content}} for content in ("before", "now")]
    parts = {"recipe": recipe("check", prompts=prompts[1]), "earlier": recipe("check", prompts=prompts[0])}
    jobs = [due("check", shard(number), **parts) for number in range(30)]
    lines = told(jobs, cost("check", 3, 297))
    assert lines == ["check, 30 of 30 shards: 3 of 300 requests will be sent", "    prompts/check/user.j2 has changed"]


def test_jobs_with_causes_of_their_own_are_told_apart():
    jobs = [
        due("answer", {"model": "gpt", "setting": "plain"}, runs=False),
        due("answer", {"model": "new", "setting": "plain"}, absent=("results/new/1", "results/new/2")),
        due("answer", {"model": "gpt", "setting": "plain"}, recipe=recipe(again="x"), earlier=recipe()),
    ]
    assert told(jobs) == [
        "answer, 2 of 3 jobs: sends nothing",
        "    1 of them (new): not made yet: results/new/1, results/new/2",
        "    1 of them (gpt): rows that were given up are asked again",
    ]


def test_only_the_last_of_the_steps_before_are_named_in_the_order_of_the_flow():
    jobs = [
        due("answer", {"setting": "plain"}, after=("benchmark",)),
        due("benchmark", absent=("b",)),
        due("retrieve", after=("benchmark",)),
        due("answer", {"setting": "rag"}, after=("benchmark", "retrieve")),
        due("report", after=("answer", "benchmark", "retrieve")),
    ]
    assert told(jobs) == [
        "benchmark: sends nothing",
        "    not made yet: b",
        "retrieve: sends nothing",
        "    because benchmark runs before it",
        "answer, 2 of 2 jobs: sends nothing",
        "    1 of them (plain): because benchmark runs before it",
        "    1 of them (rag): because retrieve runs before it",
        "report: sends nothing",
        "    because answer runs before it",
    ]


def test_each_cause_has_a_line():
    files = {"files": "now"}
    job = due(
        "ingest",
        recipe=recipe(code={f"{number}.py": "now" for number in range(9)}, **files),
        earlier=recipe(code={f"{number}.py": "before" for number in range(9)}),
        lost=("a",),
        incomplete=("b",),
        unrecorded=("c", "d", "e", "f"),
        outside=("in/1", "in/2"),
        added=tuple("ghijk"),
        removed=("l",),
        after=("x",),
    )
    assert told([job])[1:] == [
        "    code: scripts/0.py, scripts/1.py, scripts/2.py, scripts/3.py, scripts/4.py and 4 more",
        "    gone: a",
        "    a job was stopped while it made b",
        "    there is no record of how these were made: c and 3 more",
        "    the content has changed of one of 2 files: in/1, in/2",
        "    new among its inputs: g, h, i and 2 more",
        "    no longer among its inputs: l",
        "    also because x runs before it",
    ]


def test_a_cause_that_is_none_of_these_is_told_in_snakemake_s_words():
    assert told([due("check", reason="forced")])[1:] == ["    Snakemake says: forced"]


def test_a_file_that_is_known_to_be_changed_is_the_one_that_is_named():
    job = due("ingest", recipe=recipe(files="x"), earlier=recipe(files="y"), outside=("1", "2"), updated=("2",))
    assert told([job])[1:] == ["    changed: 2"]
    alone = due("ingest", recipe=recipe(files="x"), earlier=recipe(files="y"), outside=("1",))
    assert told([alone])[1:] == ["    the content has changed of 1"]
    # Inputs whose content is the same are no cause.
    assert told([due("ingest", outside=("1", "2"), absent=("3",))])[1:] == ["    not made yet: 3"]


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ([cost("check", 0, 90)], "none of its 90 requests will be sent: the cache has all answers"),
        ([cost("check", 3, 87, 9, basis="present")], "probably 3 of 90 requests will be sent, at most 9"),
        ([cost("check", 0.2, 0, 9, basis="paper")], "probably no requests will be sent, at most 9"),
        ([cost("check", 1, 2), cost("check judge", 4, 8, model="j")], "5 of 15 requests will be sent (gpt 1, j 4)"),
        ([], "sends no requests of its own"),
    ],
)
def test_what_a_step_sends(costs, says):
    assert told([due("check", recipe=recipe("check"), absent=("a",))], *costs)[0].startswith(f"check: {says}")


def test_what_is_not_in_the_bill_is_named():
    jobs = [due("search", absent=("a",)), due("fetch", absent=("b",)), due("clean", absent=("c",))]
    assert [line.split(": ")[1] for line in told(jobs)[::2]] == ["sends nothing"] * 3
    search, fetch, clean = (line.split(": ", 1)[1] for line in told(jobs, config=ONLINE)[::2])
    assert search.startswith("searches that are not in the cache are sent (not counted")
    assert fetch == "pages that are not in the cache are fetched"
    assert clean == "sends nothing"
    assert told(jobs, config={**ONLINE, "offline": True})[0] == "search: sends nothing"
    paid = {"search": {"engine": "brave", "price_per_request": 0.01}, "offline": False}
    assert told(jobs, cost("search", 4, 1), config=paid)[0] == "search: 4 of 5 searches will be sent"
    agentic = [due("answer", recipe=recipe("agentic"), absent=("a",))]
    (line, _) = told(agentic, cost("answer agentic", 4, 1), config=ONLINE)
    assert line == "answer: 4 of 5 requests will be sent; what models search for by themselves is not counted"


def test_the_end_adds_up_and_shows_each_template_once():
    diffs = {Template("a", "1", "2"): ["--- a", "+++ a"], Template("new", None, "2"): []}
    text = page(steps([due("check", absent=("a",))], LOCAL), [cost("check", 3, 7)], LOCAL, diffs)
    assert text.endswith(
        "\n\n--- a\n+++ a\n\nIn all, 3 of 10 requests will be sent. `snakemake bill` says what they cost."
    )
    text = page(steps([due("clean", unrecorded=("a",))], LOCAL), [], LOCAL, {})
    assert "No model is asked anything.\n`snakemake --touch` takes files without a record as they are" in text


def test_other_shards_are_told_by_their_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new, old = [f"results/rated/mine/{n}-of-3.parquet" for n in range(3)], ["results/rated/mine/0-of-2.parquet"]
    assert resharded({"added": [*new, "other"], "removed": old}) == (
        ["dialogues.mine.shards: 2 → 3"],
        {"added": ["other"]},
    )
    # Nothing of an earlier sharding is there.
    assert resharded({"absent": new}) == ([], {"absent": new})
    (tmp_path / "results/rated/mine").mkdir(parents=True)
    (tmp_path / old[0]).touch()
    assert resharded({"absent": new}) == (["dialogues.mine.shards: 2 → 3"], {})
    (tmp_path / new[0]).touch()
    assert resharded({"absent": new[1:]}) == (["dialogues.mine.shards: 2 → 3"], {})
    # Another source is no other sharding.
    assert resharded({"added": ["results/rated/new/0-of-1.parquet"], "removed": old})[0] == []
