"""Settings, judges and knowledge domains: what is asked when one of them comes or changes, and that the rest stays."""

import copy
import csv
import json
import shutil
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from devqa import tables
from replies import reply
from scripted import Reply
from workflow.conftest import Project, configuration, copy_of_the_project
from workflow.test_bill import Bill, priced
from workflow.test_cache_commands import aged, said

ROWS, REPEATS = 90, 2
DOMAINS = {"model": "worker", "names": {"tools": "version control, containers", "web": "protocols", "data": ""}}
AFTER_GRADES = {"score", "report", "compare", "review_grades", "index", "funnel"}


@pytest.fixture(scope="session")
def evaluated(finished, endpoint, tmp_path_factory) -> Project:
    """The finished project with several settings, a panel of one, and domains. Tests take copies of it."""
    folder = tmp_path_factory.mktemp("evaluated") / "project"
    shutil.copytree(finished.folder, folder, copy_function=shutil.copy2)
    endpoint.reply = reply
    project = Project(folder, endpoint, copy.deepcopy(finished.config))
    project.config["evaluation"] |= {
        "settings": ["plain", "rag", "confidence"],
        "model_settings": {"weak": ["plain"]},
        "panel": ["worker"],
        "domains": DOMAINS,
    }
    run = project.run()
    assert run.code == 0, run.output
    return project


@pytest.fixture
def project(evaluated, endpoint, tmp_path) -> Project:
    """A copy of the evaluated project, which a test may change; the endpoint has forgotten all requests."""
    shutil.copytree(evaluated.folder, tmp_path / "project", copy_function=shutil.copy2)
    endpoint.clear()
    endpoint.reply = reply
    return Project(tmp_path / "project", endpoint, copy.deepcopy(evaluated.config))


def asked_by_model(project: Project) -> Counter[str]:
    return Counter(body["model"] for body in project.endpoint.requests)


def answers(project: Project) -> dict[str, bytes]:
    """Every table of answers as it stands."""
    folder = project.folder / "results/answers"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}


def read(project: Project, table: str, path: str) -> list[dict]:
    return tables.read(project.folder / "results" / path, table)


@pytest.mark.slow
def test_each_model_is_asked_in_its_settings_and_every_judge_grades_all_of_it(evaluated):
    assert sorted(answers(evaluated)) == sorted(
        f"{run}/{repeat}.parquet"
        for run in ("plain/weak", "plain/strong", "rag/strong", "confidence/strong")
        for repeat in (1, 2)
    )
    for table, judge in (("grades", "judge"), ("panel/worker", "worker")):
        files = sorted((evaluated.folder / "results" / table).rglob("*.parquet"))
        assert len(files) == 8
        rows = tables.read(files, "grades")
        assert {(row["judge"], row["status"]) for row in rows} == {(judge, "ok")}
    shown = [row["passages"] for row in read(evaluated, "answers", "answers/rag/strong/1.parquet")]
    found = [row["passages"] for row in read(evaluated, "retrieved", "retrieved.parquet")]
    assert shown == found
    assert all(shown)
    stated = [row["confidence"] for row in read(evaluated, "answers", "answers/confidence/strong/1.parquet")]
    assert all(0 <= each <= 100 for each in stated)
    domains = read(evaluated, "domains", "domains.parquet")
    assert {row["domain"] for row in domains} == {*DOMAINS["names"]}
    rows = read(evaluated, "benchmark", "benchmark.parquet")
    assert len(domains) == len(rows) == ROWS
    assert {tuple(entry["model"] for entry in row["filtered"]) for row in rows} == {("weak", "strong")}


@pytest.mark.slow
def test_an_edited_judge_prompt_regrades_all_settings_and_asks_for_no_answer(project):
    before = answers(project)
    project.edit("prompts/judge/system.j2", "and nothing else", "and nothing more")
    run = project.run()
    assert run.code == 0, run.output
    # The filter's judge is asked about plain answers, which are those of the evaluation here.
    assert asked_by_model(project) == {"judge": 4 * ROWS, "worker": 4 * ROWS}
    assert project.asked() == {"judge": 8 * ROWS}
    assert {"difficulty", "judge", "panel", *AFTER_GRADES} <= set(run.rules)
    assert not {"queries", "generate", "check", "verify"} & set(run.rules)
    assert answers(project) == before


@pytest.mark.slow
def test_a_further_judge_grades_and_nothing_else_happens(project):
    project.config["models"]["second"] = project.endpoint.model(model="second")
    project.config["evaluation"]["panel"].append("second")
    priced(project)
    bill = Bill(project)
    run = project.run()
    assert run.code == 0, run.output
    assert project.asked() == {"judge": 4 * ROWS}
    assert asked_by_model(project) == {"second": 4 * ROWS}
    assert bill.sent("judge", "exact") == bill.most == 4 * ROWS
    assert {rule: run.rules[rule] for rule in run.rules if rule not in AFTER_GRADES} == {"panel": 4}


@pytest.mark.slow
def test_a_setting_that_is_added_to_a_model_is_the_only_one_that_it_is_asked_in(project):
    project.config["evaluation"]["model_settings"]["weak"] = ["plain", "rag"]
    run = project.run()
    assert run.code == 0, run.output
    # The two repeats are alike here, so each judge sees one of them.
    assert project.asked() == {"rag": ROWS * REPEATS, "judge": 2 * ROWS}
    assert asked_by_model(project) == {"weak": ROWS * REPEATS, "judge": ROWS, "worker": ROWS}
    grading = {"answer": 1, "judge": 1, "panel": 1}
    assert {rule: run.rules[rule] for rule in run.rules if rule not in AFTER_GRADES} == grading


@pytest.mark.slow
def test_fewer_passages_are_retrieved_anew_and_only_answers_from_passages_are_asked_for(project):
    before = {row["id"]: row["passages"] for row in read(project, "retrieved", "retrieved.parquet")}
    project.config["evaluation"]["rag"] = {"passages": 2}
    priced(project)
    bill = Bill(project)
    assert bill.sent("answer rag") == ROWS * REPEATS
    run = project.run()
    assert run.code == 0, run.output
    after = {row["id"]: row["passages"] for row in read(project, "retrieved", "retrieved.parquet")}
    changed = sum(before[name] != after[name] for name in before)
    assert changed > 0
    assert all(after[name] == before[name][:2] for name in before)
    assert project.asked() == {"rag": changed * REPEATS, "judge": 2 * changed}
    assert project.endpoint.count <= bill.most
    assert run.rules["retrieve"] == 1
    assert run.rules["answer"] == 1
    assert "domains" not in run.rules


@pytest.mark.slow
def test_an_edited_list_of_domains_sorts_the_questions_anew_and_asks_nothing_else(project):
    project.config["evaluation"]["domains"]["names"]["tools"] = "version control, builds, containers"
    run = project.run()
    assert run.code == 0, run.output
    assert project.asked() == {"domains": ROWS}
    assert not {"answer", "judge", "panel", "compare"} & set(run.rules)


@pytest.mark.slow
def test_pruning_keeps_what_settings_judges_and_domains_read_and_drops_it_with_them(project):
    aged(project)
    assert "No answer goes" in said(project, "cache_prune")
    evaluation = project.config["evaluation"]
    evaluation |= {"panel": [], "domains": None, "settings": ["plain", "confidence"]}
    listed = said(project, "cache_prune")
    goes = {tuple(line.split()[:3]) for line in listed.splitlines() if line.split()[2:3] and line[0].isalpha()}
    assert {("worker", "judge", str(4 * ROWS)), ("worker", "domains", "90"), ("strong", "rag", "180")} <= goes
    assert not any(step in ("answer", "confidence") for _, step, *_ in goes)


class Searxng(BaseHTTPRequestHandler):
    """A SearXNG whose engines do not answer the questions in `silent`, and find nothing for the others."""

    silent: tuple[str, ...] = ()

    def do_GET(self):
        (query,) = parse_qs(urlsplit(self.path).query)["q"]
        unresponsive = [["somewhere", "timeout"]] if query in self.silent else []
        body = json.dumps({"results": [], "unresponsive_engines": unresponsive}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        return


@pytest.fixture
def searxng():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Searxng)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def elsewhere(endpoint, tmp_path, searxng) -> Project:
    """A project with a benchmark of six questions from elsewhere, no dialogues, and a server that searches."""
    folder = copy_of_the_project(tmp_path / "project")
    with (folder / "benchmark.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(f"q{number}", f"What is the default of option {number}?", f"value {number}") for number in range(6)]
        csv.writer(file).writerows([("id", "question", "answer"), *rows])
    endpoint.clear()
    endpoint.reply = reply
    config = configuration(endpoint, search={"engine": "searxng", "url": searxng})
    config["evaluation"] |= {
        "models": ["strong"],
        "settings": ["plain", "rag"],
        "repeats": 1,
        "benchmark": {"path": "benchmark.csv"},
    }
    return Project(folder, endpoint, config)


@pytest.mark.slow
def test_a_question_whose_search_failed_is_searched_for_and_asked_by_the_next_run(elsewhere, monkeypatch):
    questions = [f"What is the default of option {number}?" for number in range(6)]
    monkeypatch.setattr(Searxng, "silent", tuple(questions[:2]))
    priced(elsewhere)
    bill = Bill(elsewhere)
    assert (bill.sent("answer", "exact"), bill.sent("answer rag")) == (6, 6)
    assert elsewhere.endpoint.count == 0
    first = elsewhere.run()
    assert first.code == 0, first.output
    # The other questions find nothing, and are asked all the same.
    assert elsewhere.asked() == {"answer": 6, "rag": 4, "judge": 10}
    rows = read(elsewhere, "answers", "answers/rag/strong/1.parquet")
    failed = [row for row in rows if row["status"] == "failed"]
    assert [row["id"] for row in failed] == ["q0", "q1"]
    assert all("engines answered" in row["reason"] and row["usage"] == [] for row in failed)
    assert [row["status"] for row in read(elsewhere, "grades", "grades/rag/strong/1.parquet")].count("failed") == 2

    monkeypatch.setattr(Searxng, "silent", ())
    elsewhere.endpoint.clear()
    second = elsewhere.run()
    assert second.code == 0, second.output
    assert elsewhere.asked() == {"rag": 2, "judge": 2}
    rows = read(elsewhere, "answers", "answers/rag/strong/1.parquet")
    assert {row["status"] for row in rows} == {"ok"}

    elsewhere.endpoint.clear()
    third = elsewhere.run()
    assert (third.code, third.rules, elsewhere.endpoint.count) == (0, {}, 0)


@pytest.mark.slow
def test_requests_that_a_further_judge_gave_up_are_sent_by_the_next_run(elsewhere):
    for model in elsewhere.config["models"].values():
        model["limits"] = {"retries": 0}
    elsewhere.config["evaluation"] |= {"settings": ["plain"], "panel": ["worker"]}

    def unwell(body):
        return Reply(status=503) if body["model"] == "worker" and "option 3" in str(body) else reply(body)

    elsewhere.endpoint.reply = unwell
    assert elsewhere.run().code == 0
    elsewhere.endpoint.reply = reply
    elsewhere.endpoint.clear()
    run = elsewhere.run()
    assert run.code == 0, run.output
    assert asked_by_model(elsewhere) == {"worker": 1}
    assert run.rules["panel"] == 1
    assert not {"answer", "judge"} & set(run.rules)
