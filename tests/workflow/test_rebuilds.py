"""What runs again after an edit, and how many requests that sends: nothing is computed or paid for twice.

Kinds of edits are rows of `CHAINS`, each with the jobs that run and the requests that reach the endpoint. What belongs
to each module, script, template and key of the configuration is in test_rebuild_code.py, test_rebuild_texts.py and
test_rebuild_keys.py, and what copying and moving does in test_rebuild_copies.py.
"""

import copy
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devqa import tables
from replies import reply
from workflow.conftest import Project, configuration, copy_of_the_project, dialogue, write_dialogues
from workflow.test_rebuild_keys import cells

# The steps of a shard, in the order in which data flows, and the jobs of one evaluated model behind them.
STEPS = ("queries", "search", "fetch", "clean", "condense", "generate", "check", "evidence", "verify", "difficulty")
OF_ALL = {"compare": 1, "review_grades": 1, "funnel": 1, "index": 1}
MODEL = {"answer": 1, "judge": 1, "score": 1, "report": 1, **OF_ALL}
COLLECTED = {"merge": 1, "benchmark": 1, "sources": 1, **MODEL}
DIALOGUES, ROWS = 12, 36
DIALOGUES_FILE = "mine/dialogues.jsonl"
LONG_AGO = 1_000_000_000


def from_step(step: str, jobs: int = 1, **others: int) -> dict[str, int]:
    """The jobs of a step and of all behind it, each with `jobs` shards."""
    behind = dict.fromkeys(STEPS[STEPS.index(step) :], jobs)
    return behind | {"review": 1} | COLLECTED | others


def about(dialogues: int) -> dict[str, int]:
    """The requests about so many new dialogues with three pairs each.

    The filter's two models answer, and the one that is evaluated once more: that answer is the same, and judged once.
    """
    pairs = 3 * dialogues
    asked = {"queries": dialogues, "generate": dialogues, "check": pairs, "verify": pairs, "compare": pairs}
    return asked | {"answer": 3 * pairs, "judge": 2 * pairs}


@dataclass
class Row:
    """An edit, the jobs that run by rule, and the requests by step; `same`: the benchmark comes out as it was."""

    edit: str
    make: Callable[[Project], object]
    rules: Mapping[str, int] = field(default_factory=dict)
    requests: Mapping[str, int] = field(default_factory=dict)
    same: bool = False


def dialogues(*numbers: int) -> Callable[[Project], object]:
    return lambda project: write_dialogues(project.folder / DIALOGUES_FILE, numbers)


def another_file_with_an_old_time_stamp(project: Project) -> None:
    """`mv`, which keeps the time stamp: of the thirteen dialogues one is another."""
    other = project.folder / "other.jsonl"
    write_dialogues(other, [*range(DIALOGUES), 78])
    os.utime(other, (LONG_AGO, LONG_AGO))
    other.rename(project.folder / DIALOGUES_FILE)


def source(name: str) -> Callable[[Project], object]:
    def add(project):
        write_dialogues(project.folder / f"{name}.jsonl", (100, 101))
        project.config["dialogues"][name] = {"path": f"{name}.jsonl"}

    return add


def model(label: str) -> Callable[[Project], object]:
    def add(project):
        project.config["models"][label] = project.endpoint.model(model=label)
        project.config["evaluation"]["models"].append(label)

    return add


def limits_and_key(project: Project) -> None:
    for each in project.config["models"].values():
        each |= {"limits": {"concurrency": 3, "timeout_s": 99}, "api_key_env": "HOME"}


CHAINS = {
    # The rows of a chain are edits of one project: each begins where the one before has ended.
    "dialogues": [
        Row("a dialogue added", dialogues(*range(DIALOGUES), 77), from_step("queries", ingest_mine=1), about(1)),
        Row(
            "a dialogue changed, in a file with an old time stamp",
            another_file_with_an_old_time_stamp,
            from_step("queries", ingest_mine=1),
            about(1),
        ),
        Row("a dialogue removed", dialogues(*range(DIALOGUES)), from_step("queries", ingest_mine=1)),
        Row(
            "other shards",
            lambda project: project.config["dialogues"]["mine"].update(shards=2),
            from_step("queries", 2, ingest_mine=1),
            same=True,
        ),
    ],
    "sources": [
        Row("a source added", source("more"), from_step("queries", ingest_more=1), about(2)),
        Row(
            "a source removed",
            lambda project: project.config["dialogues"].pop("more"),
            {"review": 1, **COLLECTED},
        ),
    ],
    "models": [
        Row("a model added", model("new"), MODEL, {"answer": ROWS, "judge": ROWS}, same=True),
        Row(
            "a model removed",
            lambda project: project.config["evaluation"]["models"].remove("new"),
            OF_ALL,
            same=True,
        ),
        Row(
            "a model's price",
            lambda project: project.config["models"]["weak"].update(price={"input": 1, "output": 2}),
            {"report": 1, "funnel": 1, "index": 1},
            same=True,
        ),
        Row("limits and keys of models", limits_and_key, same=True),
        Row(
            "a further repeat",
            lambda project: project.config["evaluation"].update(repeats=2),
            {**MODEL},
            {"answer": ROWS},
            same=True,
        ),
        Row(
            "a model's sampling",
            lambda project: project.config["models"]["weak"].update(sampling={"seed": 7}),
            from_step("difficulty"),
            # Of the filter, and two repeats. They say the same, so nothing is judged again.
            {"answer": 3 * ROWS},
            same=True,
        ),
        Row(
            "the judge's prompt",
            lambda project: project.edit("prompts/judge/system.j2", "and nothing else", "and nothing more"),
            from_step("difficulty"),
            {"judge": 2 * ROWS},
        ),
    ],
}


@pytest.fixture(scope="session")
def small(endpoint, tmp_path_factory) -> Project:
    """A finished project of few jobs: one shard, one evaluated model. Tests take copies of it."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("small") / "project")
    write_dialogues(folder / DIALOGUES_FILE, range(DIALOGUES))
    endpoint.clear()
    endpoint.reply = reply
    project = Project(folder, endpoint, configuration(endpoint, dialogues={"mine": {"path": "mine"}}))
    project.config["evaluation"] |= {"models": ["weak"], "repeats": 1}
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == Counter(from_step("queries", ingest_mine=1, corpus=1))
    assert project.asked() == about(DIALOGUES)
    return project


@pytest.fixture
def edited(small, endpoint, tmp_path) -> Project:
    """A copy of the small project, which a test may change."""
    shutil.copytree(small.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(small.config))


@pytest.mark.slow
@pytest.mark.parametrize("chain", CHAINS)
def test_an_edit_runs_exactly_its_rules_and_sends_exactly_its_requests(chain, edited):
    for row in CHAINS[chain]:
        before = benchmark(edited)
        edited.endpoint.clear()
        row.make(edited)
        run = edited.run()
        assert run.code == 0, f"{row.edit}: {run.output}"
        assert (row.edit, run.rules) == (row.edit, Counter(row.rules))
        assert (row.edit, edited.asked()) == (row.edit, Counter(row.requests))
        assert (row.edit, benchmark(edited) == before) == (row.edit, row.same)
    nothing = edited.run("--dry-run")
    assert (nothing.code, nothing.planned) == (0, {})


def benchmark(project: Project) -> bytes:
    return (project.folder / "results/benchmark.parquet").read_bytes()


def page_with(project: Project, urls: set[str], text: bytes) -> Path:
    """The file of the first of these pages of the example's web that has such a text."""
    files = {file: file.read_bytes() for file in sorted((project.folder / "examples/web").rglob("*.html"))}
    own = [f'<link rel="canonical" href="{url}">'.encode() for url in sorted(urls)]
    return next(file for each in own for file, content in files.items() if each in content and text in content)


def changed_page(project: Project, urls: set[str], old: bytes, new: bytes) -> None:
    """One of the pages has another text: `cp -p`, which keeps the time stamp, of another file over it."""
    file = page_with(project, urls, old)
    other = project.folder / "other.html"
    other.write_bytes(file.read_bytes().replace(old, new))
    os.utime(other, (LONG_AGO, LONG_AGO))
    shutil.copy2(other, file)


def shown(project: Project) -> tuple[dict[str, list], dict[tuple[str, str], None], dict[tuple, None]]:
    """What models are shown: the pages of each dialogue, each pair, and each question with its passages."""
    pages: dict[str, list] = {}
    for row in project.table("condensed"):
        pages.setdefault(row["dialogue_id"], []).append((row["url"], row["text"]))
    pairs = {(row["question"], row["answer"]): None for row in project.table("pairs")}
    evidence = {
        (row["question"], *(each["text"] for each in row["passages"])): None for row in project.table("evidence")
    }
    return pages, pairs, evidence


@pytest.mark.slow
def test_an_edited_page_sends_only_requests_that_show_it(edited):
    expected = Counter(from_step("search", corpus=1))
    corpus, sources = (tables.read(edited.folder / f"results/{name}.parquet", name) for name in ("corpus", "sources"))
    found = {each["url"] for row in edited.table("search") for each in row["results"]}
    found |= {each["url"] for row in edited.table("evidence") for each in row["passages"]}
    changed_page(edited, {row["url"] for row in corpus if row["status"] == "ok"} - found, b" the ", b" teh ")
    run = edited.run()
    assert (run.code, run.rules, edited.asked()) == (0, expected, {}), run.output

    before = shown(edited)
    changed_page(edited, {row["url"] for row in sources if row["referenced_by"]}, b"</p>", b" That holds still.</p>")
    run = edited.run()
    assert (run.code, run.rules) == (0, expected), run.output
    after = shown(edited)
    conversations = sum(before[0][name] != after[0][name] for name in after[0])
    pairs, evidence = (len(now.keys() - then.keys()) for now, then in zip(after[1:], before[1:], strict=True))
    assert 0 < conversations < DIALOGUES
    assert 0 < pairs <= evidence < ROWS
    assert edited.asked() == {
        "generate": conversations,
        "check": pairs,
        "verify": evidence,
        "compare": evidence,
        "answer": 3 * pairs,
        "judge": 2 * pairs,
    }


def test_a_finished_project_has_every_output(finished):
    for path in ("benchmark.parquet", "review.parquet", "funnel.csv", "reports/index.html", "reports/leaderboard.csv"):
        assert (finished.folder / "results" / path).stat().st_size > 0
    for model in ("weak", "strong"):
        report = json.loads((finished.folder / f"results/reports/{model}.json").read_text())
        assert len(report["rows"]) == 90
        assert (finished.folder / f"results/reports/{model}.html").exists()
        # The filter's models have left their word on every row of the benchmark that is built here.
        audit = json.loads((finished.folder / f"results/statistics/{model}.json").read_text())["settings"]["plain"][
            "audit"
        ]
        assert [each["left_out"] for each in audit] == [None, "strong", "weak"]
        assert audit[0]["rows"] >= max(each["rows"] for each in audit[1:]) > 0


def test_an_edited_prompt_reruns_its_step_and_what_follows(project):
    project.edit("prompts/verify/answer/system.j2", "from the documents alone", "only from the documents")
    run = project.run()
    assert run.code == 0, run.output
    twice = ("verify", "difficulty", "answer", "judge", "score", "report")
    once = ("review", "merge", "benchmark", "sources", *OF_ALL)
    assert run.rules == Counter({**dict.fromkeys(twice, 2), **dict.fromkeys(once, 1)})
    # Every pair is asked about anew; the answers come out the same, so nobody compares, answers or judges again.
    assert project.asked() == {"verify": 90}


def test_a_new_model_is_the_only_one_that_is_asked(project):
    project.config["models"]["new"] = project.endpoint.model(model="new")
    project.config["evaluation"]["models"].append("new")
    run = project.run()
    assert run.code == 0, run.output
    assert run.rules == MODEL
    # Two samples of each answer; they are the same here, so the judge sees each once.
    assert project.asked() == {"answer": 180, "judge": 90}
    assert {body["model"] for body in project.endpoint.requests} <= {"new", "judge"}


@pytest.mark.slow
def test_a_new_dialogue_is_the_only_one_that_is_asked_about(project):
    write_dialogues(project.folder / "mine/dialogues.jsonl", [*range(30), 30])
    run = project.run()
    assert run.code == 0, run.output
    # Two filter models once, two models twice: three questions each. Repeats are alike here, and judged once.
    assert project.asked() == {**about(1), "answer": 3 * 2 + 3 * 2 * 2}
    text = dialogue(30)["conversation"][0]["content"]
    (query,) = [body for body in project.endpoint.requests if "queries" in str(body.get("response_format"))]
    assert text in query["messages"][-1]["content"]


@pytest.mark.slow
def test_a_dry_run_tells_the_truth(project):
    project.edit("prompts/check/system.j2", "Answer in JSON.", "Answer as JSON.")
    planned = project.run("--dry-run")
    assert project.endpoint.count == 0
    assert planned.planned
    assert project.run().rules == planned.planned


def test_the_documentation_has_a_row_for_each_of_these():
    said = {row[0].strip() for row in cells("Edits")}
    assert said >= {row.edit for chain in CHAINS.values() for row in chain}
