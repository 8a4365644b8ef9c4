"""The benchmark in DeepCodeBench's published shape, and the ledger of pull requests."""

import pyarrow.parquet as pq
import pytest

from devqa import ledger, tables
from devqa.errors import UserError
from devqa.pull_requests.figures import funnel
from devqa.pull_requests.figures.export import exported
from recalled import PRICES, REPOSITORIES, benchmark, prediction, question, recall, stages, unanswered, written


def test_a_question_has_the_published_columns():
    row = question(3, ["vital", "okay"], n_found_files=2)
    (found,) = exported([row])
    assert found["facts"] == ["Fact 1 of question 3.", "Fact 2 of question 3."]
    assert (found["id"], found["question"], found["answer"]) == (row["id"], row["question"], row["answer"])
    assert found["metadata"] == {
        "commit": row["commit"],
        "difficulty": "moderate",
        "found_stats": {"path": 2},
        "includes_code": False,
        "includes_location_hints": False,
        "is_core_question": True,
        "n_context_files": 1,
        "n_context_nodes": 2,
        "n_files_pr": 3,
        "pr": 3,
        "repo": "https://github.com/acme/cli.git",
        "scope": "deep",
        "type": "open_question",
    }


def test_what_has_no_address_or_number_has_a_name_and_null(tmp_path):
    rows = [question(0, url="", number=None), question(1)]
    for name in ("one", "two"):
        tables.write(exported(rows), "deep_code_bench", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    found = pq.read_table(tmp_path / "one")
    assert found.schema.equals(tables.SCHEMAS["deep_code_bench"])
    metadata = [each["metadata"] for each in found.to_pylist()]
    assert (metadata[0]["repo"], metadata[0]["pr"]) == ("acme/cli", None)
    assert metadata[1]["pr"] == 1


@pytest.fixture
def ledgered(tmp_path):
    """Files of all stages, of 12 questions with two answers each, and how many questions there are."""
    rows = benchmark(12)
    given = [prediction(row, repeat=repeat) for row in rows for repeat in (1, 2)]
    failed = {"status": "failed", "outcome": "error", "reason": "error: exit code 1: no key", "usd": 0.5, "usage": []}
    given[0] |= failed
    counts = [
        unanswered(each)
        if each is given[0]
        else recall(rows[place // 2], [True] * len(rows[place // 2]["facts"]), each)
        for place, each in enumerate(given)
    ]
    return stages(tmp_path, rows) | written(tmp_path, given, counts), len(rows)


def test_each_stage_takes_what_the_one_before_let_pass(ledgered):
    files, questions = ledgered
    rows = funnel.funnel(files, questions, PRICES)
    assert all(tuple(row) and set(row) == set(funnel.COLUMNS) for row in rows)
    assert set(funnel.COLUMNS) == {*ledger.COLUMNS, "repository"}
    for repository in REPOSITORIES:
        own = [row for row in rows if row["repository"] == repository]
        passed = None
        for stage in funnel.STAGES:
            groups = [row for row in own if row["stage"] == stage]
            assert {row["rows_in"] for row in groups} == {sum(row["rows_out"] for row in groups)}
            assert passed in (None, groups[0]["rows_in"])
            passed = groups[0]["rows_out"]
        assert passed == 4
    agents = {(row["stage"], row["status"], row["reason"]): row for row in rows if not row["repository"]}
    assert agents["predictions", "ok", ""]["rows_in"] == 24
    assert agents["recalled", "failed", "there is no answer"]["rows_out"] == 1


def test_a_repository_without_pull_requests_has_rows_of_zeros(ledgered, tmp_path):
    files, questions = ledgered
    for stage, table in funnel.STAGES.items():
        tables.write([], table, tmp_path / stage / "quiet.parquet")
        files[stage] = [*files[stage], str(tmp_path / stage / "quiet.parquet")]
    rows = funnel.funnel(files, questions, PRICES)
    quiet = [row for row in rows if row["repository"] == "quiet"]
    assert [row["stage"] for row in quiet] == list(funnel.STAGES)
    assert all(set(row) == set(funnel.COLUMNS) for row in quiet)
    assert {(row["status"], row["rows_in"], row["rows_out"], row["usd"]) for row in quiet} == {("ok", 0, 0, 0.0)}
    assert [row for row in rows if row not in quiet] == funnel.funnel(
        {name: [path for path in paths if "quiet" not in path] for name, paths in files.items()}, questions, PRICES
    )


def test_the_cost_is_that_of_tokens_and_what_commands_say(ledgered):
    files, questions = ledgered
    rows = {(row["stage"], row["status"]): row for row in funnel.funnel(files, questions, PRICES)}
    # 1,000 tokens in at 1 USD and 100 out at 4 USD for a million.
    assert rows["predictions", "ok"]["usd"] == pytest.approx(23 * 0.0014)
    assert rows["predictions", "failed"]["usd"] == 0.5
    assert rows["predictions", "failed"]["reason"] == "error: exit code N"


def test_a_ledger_that_does_not_add_up_is_refused(ledgered, tmp_path):
    files, questions = ledgered
    path = files["checked"][0]
    tables.write(tables.read(path, "pull_checked")[1:], "pull_checked", path)
    with pytest.raises(UserError, match=r"checked was given \d+ rows and has \d+; delete .*checked/cli.parquet"):
        funnel.funnel(files, questions, PRICES)


def test_a_benchmark_of_other_questions_is_refused(ledgered):
    files, questions = ledgered
    with pytest.raises(UserError, match="12 answers have facts and the benchmark has 13"):
        funnel.funnel(files, questions + 1, PRICES)
    path = files["predictions"][0]
    tables.write(tables.read(path, "predictions")[1:], "predictions", path)
    with pytest.raises(UserError, match="predictions was given 24 rows and has 23"):
        funnel.funnel(files, questions, PRICES)
