"""How many requests the questions from pull requests send, from what the steps before them do."""

import itertools
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.bill.estimate import cost
from devqa.bill.meter import SCRIPTS, Missing, Reading, measured
from devqa.bill.plan import Planned
from devqa.bill.pull_requests import pull_request_lines
from devqa.bill.sizes import PULLING, size
from devqa.bill.spent import Earlier
from devqa.config.models import Model
from devqa.config.pull_requests import PullRequests
from devqa.llm.cache import Cache
from devqa.recipe import recipe
from standins import PROMPTS

MISSING = Missing(1_000, 300, 100, True)
ROLES = [role for roles in PULLING.values() for role in roles]
BATCH, REPEATS, LATEST = 5, 2, 100
STEP = {"model": "m"}
CONFIG = {
    "pull_requests": PullRequests.model_validate(
        {
            "repositories": {name: {"url": f"https://git.example/{name}", "latest": LATEST} for name in ("one", "two")},
            **dict.fromkeys(("question", "check", "answer", "support"), STEP),
            "facts": {**STEP, "most": 12},
            "evaluation": {
                "models": ["m"],
                "settings": ["ground_truth", "no_context", "agentic"],
                "commands": {"other": {"command": "agent {question}"}},
                "repeats": REPEATS,
                "agentic": {"rounds": 2},
                "judge": {**STEP, "batch": BATCH},
            },
        }
    ).model_dump(mode="json")
}
# Step → the table that it reads, and the one that it makes.
FLOW = {
    "pr_question": ("context", "questions"),
    "pr_check": ("questions", "checked"),
    "pr_answer": ("checked", "answered"),
    "pr_facts": ("answered", "facts"),
}
SCHEMA = {
    "pulls": "pulls",
    "context": "context",
    "questions": "pull_questions",
    "checked": "pull_checked",
    "answered": "pull_answers",
    "facts": "pull_facts",
}


def asked(label="m"):
    return {"label": label, "endpoint": "e", "model": label, "context": 16_384, "sampling": {"max_tokens": 300}}


def job(rule, *, repository="one", setting="", agent="m", basis="exact", pending=()):
    """A job: of a repository, or of an agent in a setting; without one, the judge of the true answers."""
    roles = [f"pr_{setting}"] if rule == "pr_predict" else PULLING[rule]
    options = {"rounds": 2, "result_tokens": 500, "blocks": 5, "block_tokens": 100, "batch": BATCH}
    prompts = {f"pull_requests/{role[3:]}": {"shared/data_only.j2": ""} for role in roles}
    recipe = {"options": options, "models": {role: asked() for role in roles}, "prompts": prompts, "code": {}}
    wildcards = {"repository": repository} if rule in FLOW else {"setting": setting, "agent": agent} if setting else {}
    repeats = REPEATS if setting else 1
    files = [f"{setting}/{agent}/{number}" for number in range(repeats)]
    output = {"predictions" if rule == "pr_predict" else "recalled": files}
    given = {"predictions": files}
    return Planned(rule, wildcards, given, output, json.dumps(recipe), 1, {}, True, basis, False, tuple(pending))


def reading(job, keys, missing, role=None, further=0.0, most=0):
    role = role or (f"pr_{job.wildcards['setting']}" if job.rule == "pr_predict" else PULLING[job.rule][0])
    names = tuple(f"{role} {sorted(job.wildcards.items())} {number}" for number in range(keys))
    lacking = dict.fromkeys(names[:missing], MISSING)
    return Reading(
        job.rule, role, "m", "e", "m", names, frozenset(names[missing:]), lacking, further, most, not most, None
    )


def written(results, table, repository, ok, others=0):
    """A repository's table with so many rows that go on, and others."""
    rows = [
        {"pull_id": f"{repository}#{number}", "status": "ok" if number < ok else "rejected", "reason": ""}
        for number in range(ok + others)
    ]
    tables.write(rows, SCHEMA[table], results / f"pull_requests/{table}/{repository}.parquet")


def benchmark(results, facts):
    """The benchmark's questions, each with so many facts."""
    rows = [{"id": str(number)} for number in range(len(facts))]
    tables.write(rows, "repository_questions", results / "pull_requests/questions.parquet")
    some = [[{"number": number, "fact": "f", "importance": "vital"} for number in range(count)] for count in facts]
    both = [{**row, "facts": each} for row, each in zip(rows, some, strict=True)]
    tables.write(both, "repository_facts", results / "pull_requests/facts.parquet")


@pytest.fixture
def results(tmp_path):
    """Two repositories, of which all tables are there: 40 and 20 questions, 18 and 9 of them in the benchmark."""
    for repository, half in (("one", 1), ("two", 2)):
        written(tmp_path, "pulls", repository, 60 // half, 40 // half)
        written(tmp_path, "context", repository, 40 // half, 20 // half)
        written(tmp_path, "questions", repository, 40 // half)
        written(tmp_path, "checked", repository, 20 // half, 20 // half)
        written(tmp_path, "answered", repository, 20 // half)
        written(tmp_path, "facts", repository, 18 // half, 2 // half)
    benchmark(tmp_path, [4] * 17 + [7] * 10)
    return tmp_path


def lines_of(results, *measured, earlier=None):
    found = pull_request_lines(list(measured), earlier or Earlier(), CONFIG, results)
    return {line.role: line for line in found}


def sums(line):
    return len(line.sure), len(line.likely), round(line.cached, 3), round(line.further, 3), round(line.most, 3)


def after(rule, repository="one", **tables_there):
    """The jobs behind `rule` of one repository, which find all their answers on what there is."""
    names = list(FLOW)
    for name in names[names.index(rule) + 1 :]:
        behind = job(name, repository=repository, basis="present", pending=[f"{FLOW[name][0]}/{repository}"])
        keys = tables_there[FLOW[name][0]]
        yield behind, [reading(behind, keys, 0, role) for role in PULLING[name]]


HERE = {"questions": 40, "checked": 20, "answered": 20}


def test_what_is_there_is_counted(results):
    first, second = job("pr_facts"), job("pr_facts", repository="two")
    lines = lines_of(
        results,
        (first, [reading(first, 20, 5), reading(first, 15, 2, "pr_support", 4.2, 5)]),
        (second, [reading(second, 10, 0), reading(second, 10, 0, "pr_support")]),
    )
    assert list(lines) == ["pr_facts", "pr_support"]
    assert sums(lines["pr_facts"]) == (5, 0, 25, 0, 0)
    assert lines["pr_facts"].bases == {"exact"}
    # What a second call lacks because of the first one.
    assert sums(lines["pr_support"]) == (2, 0, 23, 4.2, 5)
    assert lines["pr_support"].bases == {"exact", "present"}


def test_new_questions_are_checked_and_answered_anew_and_no_others(results):
    first = job("pr_question")
    lines = lines_of(results, (first, [reading(first, 40, 10)]), *after("pr_question", **HERE))
    assert sums(lines["pr_question"]) == (10, 0, 30, 0, 0)
    # A quarter of what there is comes out new; at most one request for each pull request with a context.
    assert sums(lines["pr_check"]) == (0, 0, 30, 10, 40)
    assert sums(lines["pr_answer"]) == (0, 0, 15, 5, 40)
    assert sums(lines["pr_facts"]) == (0, 0, 15, 5, 40)
    assert all(lines[role].bases == {"present"} for role in ("pr_check", "pr_answer", "pr_facts", "pr_support"))


def test_an_edited_check_may_open_questions_and_renews_none(results):
    first = job("pr_check")
    lines = lines_of(results, (first, [reading(first, 40, 40)]), *after("pr_check", **HERE))
    assert sums(lines["pr_check"]) == (40, 0, 0, 0, 0)
    assert sums(lines["pr_answer"]) == (0, 0, 20, 0, 40)


def judged(setting, agent="m", keys=54, basis="present"):
    behind = job("pr_recall", setting=setting, agent=agent, basis=basis, pending=["facts.parquet"])
    return behind, [reading(behind, keys, 0)] if keys else []


def predicted(setting, keys=54):
    behind = job("pr_predict", setting=setting, basis="present", pending=["questions.parquet"])
    return behind, [reading(behind, keys, 0)]


def test_edited_facts_are_looked_for_again_and_nobody_answers_again(results):
    """All facts of one repository, which has two thirds of the benchmark."""
    first = job("pr_facts")
    edited = (first, [reading(first, 20, 20), reading(first, 0, 0, "pr_support", 20.0, 20)])
    truth = job("pr_recall", basis="present", pending=["facts.parquet"])
    lines = lines_of(results, edited, predicted("no_context"), judged("no_context"), (truth, [reading(truth, 27, 0)]))
    assert sums(lines["pr_no_context"])[:4] == (0, 0, 54, 0)
    assert sums(lines["pr_judge"])[:4] == (0, 0, 27, 54)
    # At most 30 questions, two repeats and the true answer, three calls of five facts each for twelve.
    assert sums(lines["pr_judge"])[4] == (20 + 9) * (REPEATS + 1) * math.ceil(12 / BATCH)


def test_an_edited_prompt_of_the_judge_is_counted(results):
    first = job("pr_recall", setting="no_context")
    lines = lines_of(results, (first, [reading(first, 64, 60)]))
    assert list(lines) == ["pr_judge"]
    assert sums(lines["pr_judge"]) == (60, 0, 4, 0, 0)


def test_a_new_command_has_its_answers_graded(results):
    """37 calls for the facts of 27 questions, twice; the judge has other answers in the cache."""
    earlier = Earlier()
    shelf = Cache("").shelf("e", "m").folder.name
    record = {"step": "pr_judge", "outcome": "ok", "input_tokens": 1, "output_tokens": 1}
    for _ in range(1_000):
        earlier.add(shelf, record)
    new = job("pr_recall", setting="command", agent="other", basis="missing", pending=["command/other/0"])
    lines = lines_of(results, (new, []), earlier=earlier)
    assert sums(lines["pr_judge"])[:4] == (0, 0, 0, 37 * REPEATS)
    assert lines["pr_judge"].bases == {"present"}


def test_what_a_command_says_may_be_as_long_as_the_judge_can_read(results):
    agent = judged("no_context", keys=0, basis="missing")
    command = judged("command", "other", keys=0, basis="missing")
    line, mixed = (lines_of(results, *jobs)["pr_judge"] for jobs in ([agent], [agent, command]))
    assert (line.unbounded, mixed.unbounded) == (0, mixed.most / 2)
    request = size("pr_judge", asked(), agent[0].recipe, CONFIG, PROMPTS)
    price = {"input": 1_000_000.0, "output": 0.0, "cached_input": 0.0}
    highs = [cost(each, None, None, replace(request, structured=False), price).high for each in (line, mixed)]
    assert highs[0] == line.most * request.input_most
    assert highs[1] == highs[0] + line.most * asked()["context"]
    assert request.input_most < asked()["context"]


def test_conversations_go_on(results):
    new = job("pr_predict", setting="agentic", basis="missing", pending=["questions.parquet"])
    line = lines_of(results, (new, []))["pr_agentic"]
    assert line.further == pytest.approx(27 * REPEATS * (1 + 0.7 + 0.49))
    assert line.most == 27 * REPEATS * 3


def everything_missing():
    for rule in FLOW:
        for repository in ("one", "two"):
            yield job(rule, repository=repository, basis="missing", pending=[FLOW[rule][0]]), []
    for setting in ("no_context", "agentic"):
        yield job("pr_predict", setting=setting, basis="missing", pending=["questions.parquet"]), []
        yield job("pr_recall", setting=setting, basis="missing", pending=["facts.parquet"]), []
    yield job("pr_recall", basis="missing", pending=["facts.parquet"]), []


def test_a_first_run_is_reckoned_from_the_pull_requests(tmp_path):
    lines = lines_of(tmp_path, *everything_missing())
    assert list(lines) == [role for role in ROLES if role not in ("pr_full_context", "pr_retrieval")]
    questions = [lines[role].further for role in ("pr_question", "pr_check", "pr_answer", "pr_facts")]
    assert all(before >= then > 0 for before, then in itertools.pairwise(questions))
    assert questions[0] == pytest.approx(2 * LATEST * 0.6 * 0.9)
    assert all(line.most == 2 * LATEST for role, line in lines.items() if role in FLOW)
    assert lines["pr_no_context"].further == pytest.approx(questions[3] * 0.95 * REPEATS)
    assert lines["pr_judge"].most == 2 * LATEST * math.ceil(12 / BATCH) * (2 * REPEATS + 1)
    assert all(line.bases == {"guess"} for line in lines.values())


def test_what_the_cache_knows_is_not_sent_again(tmp_path):
    earlier = Earlier()
    for _ in range(30):
        earlier.add(
            Cache("").shelf("e", "m").folder.name,
            {"step": "pr_question", "outcome": "ok", "input_tokens": 1, "output_tokens": 1},
        )
    line = lines_of(tmp_path, *everything_missing(), earlier=earlier)["pr_question"]
    assert line.cached == 30
    assert line.cached + line.further == pytest.approx(2 * LATEST * 0.6 * 0.9)


def test_the_rows_of_one_repository_tell_of_another(tmp_path):
    written(tmp_path, "pulls", "one", 20, 60)
    written(tmp_path, "context", "one", 10, 10)
    new = job("pr_question", repository="two", basis="missing", pending=["context/two"])
    line = lines_of(tmp_path, (new, []))["pr_question"]
    assert sums(line) == (0, 0, 0, LATEST * 20 / 80 * 10 / 20, LATEST)
    assert line.bases == {"present"}


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=4, max_size=4), st.booleans())
def test_no_line_says_less_than_nothing_or_more_than_it_can_be(tmp_path_factory, counts, present):
    results = tmp_path_factory.mktemp("results")
    measured = []
    for (rule, _), (keys, missing) in zip(FLOW.items(), counts, strict=True):
        each = job(rule, basis="present" if present and rule != "pr_question" else "exact")
        measured.append((each, [reading(each, keys, min(keys, missing), role) for role in PULLING[rule]]))
    for line in lines_of(results, *measured).values():
        assert line.cached >= 0
        assert line.further >= 0
        assert line.sent <= line.sent_most
        assert line.bases


def test_without_pull_requests_there_are_no_lines(tmp_path):
    assert pull_request_lines([], Earlier(), {"pull_requests": None}, tmp_path) == []


@pytest.mark.parametrize("basis", ["exact", "present"])
@pytest.mark.parametrize("setting", ["retrieval", "agentic"])
def test_a_repository_without_its_clone_is_neither_fetched_nor_an_obstacle(setting, basis, tmp_path):
    """What would be asked about it is reckoned then."""
    question = {"id": "q", "repository": "one", "name": "a/one", "commit": "0" * 40, "question": "Why?", "context": []}
    files = {"questions": str(tmp_path / "questions.parquet"), "blocks": [str(tmp_path / "one.parquet")]}
    tables.write([question], "repository_questions", files["questions"])
    tables.write([], "blocks", files["blocks"][0])
    origin = {"label": "one", "path": "", "url": "https://git.example/one", "name": ""}
    options = {"origins": {"one": origin}, "blocks": 5, "block_tokens": 90}
    if setting == "agentic":
        options |= {"rounds": 2, "calls": 2, "result_tokens": 90}
    models = {f"pr_{setting}": {**asked(), "structured": "auto"}}
    whole = recipe(SCRIPTS.parent, "pr_predict.py", options, models, [f"pull_requests/{setting}"])
    output = {"predictions": [str(tmp_path / "predictions.parquet")]}
    wildcards = {"setting": setting, "agent": "m"}
    predict = Planned("pr_predict", wildcards, files, output, whole, 1, {}, True, basis, False)
    model = Model(base_url="http://127.0.0.1:9/v1").model_dump(mode="json")
    config = {**CONFIG, "models": {"m": model}, "cache_dir": str(tmp_path / "cache")}
    assert measured(predict, config | {"offline": False, "budget_usd": None}) == []
    assert not (tmp_path / "cache/repositories").exists()


@pytest.mark.parametrize("role", ROLES)
def test_the_length_of_each_request_can_be_told(role):
    rule = next(rule for rule, roles in PULLING.items() if role in roles)
    told = size(role, asked(), job(rule, setting=role[3:] if rule == "pr_predict" else "").recipe, CONFIG, PROMPTS)
    assert 60 < told.input < told.input_most <= 16_384
    assert 0 < told.output < told.output_most == 300
    assert told.structured == (rule != "pr_predict")
