"""What is said at the end of `snakemake pull_requests`."""

import pytest

from devqa import tables
from devqa.errors import UserError
from devqa.pull_requests.agents.runs import TIMED_OUT, TOO_OFTEN
from devqa.pull_requests.figures.summary import TABLES, summary
from recalled import benchmark, prediction, recall, stages, written


@pytest.fixture
def made(tmp_path):
    """The files of everything that was made of six questions."""
    rows = benchmark(6)
    given = [prediction(row) for row in rows]
    files = stages(tmp_path, rows)
    found = [
        recall(row, [None] + [True] * (len(row["facts"]) - 1), each) for row, each in zip(rows, given, strict=True)
    ]
    files |= written(tmp_path, given, found)
    for name, table, content in (
        ("blocks", "blocks", [{"status": "ok"}, {"status": "rejected", "reason": "binary"}]),
        ("benchmark", "repository_benchmark", rows),
    ):
        tables.write(content, table, tmp_path / name)
        files[name] = [str(tmp_path / name)]
    return files | {"html": "results/report.html", "dataset": "results/deep_code_bench.parquet"}


def test_each_table_is_counted_by_status_in_the_order_of_the_flow(made):
    lines = summary(made)
    counted = [line for line in lines[:-1] if not line.startswith("FAILED")]
    assert [line.split(":")[0] for line in counted] == list(TABLES)
    assert counted[0] == "pulls: 195 rows (186 ok, 9 rejected)"
    assert "blocks: 2 rows (1 ok, 1 rejected)" in counted
    assert counted[-2] == "predictions: 6 rows (6 ok)"
    assert counted[-1] == "recalled: 6 rows (6 rejected)"
    assert lines[-1] == "Report: results/report.html   Dataset: results/deep_code_bench.parquet (6 questions)"


def test_what_failed_is_said_under_its_table_most_frequent_first(made):
    lines = summary(made)
    place = next(number for number, line in enumerate(lines) if line.startswith("questions:"))
    again = "(asked again with --forcerun pr_question, or when something changes)"
    assert lines[place + 1 : place + 3] == [
        f"FAILED  questions: 15 of 168 rows: error: HTTP 500 {again}",
        f"FAILED  questions: 12 of 168 rows: truncated: too long {again}",
    ]
    assert sum(line.startswith("FAILED") for line in lines) == 2


def test_an_empty_table_has_no_statuses_and_a_broken_one_is_named(made, tmp_path):
    tables.write([], "pulls", tmp_path / "none.parquet")
    lines = summary(made | {"pulls": [str(tmp_path / "none.parquet")]})
    assert lines[0] == "pulls: 0 rows"
    assert [line for line in lines if "no pull requests were found in none" in line]
    (tmp_path / "none.parquet").write_text("nothing")
    with pytest.raises(UserError, match="none.parquet can't be read"):
        summary(made | {"pulls": [str(tmp_path / "none.parquet")]})


@pytest.mark.parametrize(
    ("reason", "way"),
    [
        ("error: given up after 7 attempts", "by the next run"),
        ("truncated: too long", "--forcerun pr_predict"),
        ("it ended with code 3: no key", "by the next run"),
        (f"it ended with code 3{TOO_OFTEN.mark}: no key", "--forcerun pr_command"),
        ("it was killed", "by the next run"),
        ("it printed nothing", "by the next run"),
        ("it printed more than 10 MB: given up", "by the next run"),
        (f"it was killed{TOO_OFTEN.mark}", "--forcerun pr_command"),
        (f"it was ended after 900 s{TIMED_OUT.mark}: killed too often", "a larger timeout_s, or with --forcerun"),
        (f"there is no text at answer_key {'result.' * 20}text in what it printed", "mend answer_key"),
    ],
)
def test_how_failed_answers_come_back_depends_on_who_gave_them(made, tmp_path, reason, way):
    row = {"id": "q", "setting": "command", "model": "m", "repeat": 1, "status": "failed", "reason": reason}
    tables.write([row], "predictions", tmp_path / "failed.parquet")
    lines = summary(made | {"predictions": [str(tmp_path / "failed.parquet")]})
    (failed,) = [line for line in lines if line.startswith("FAILED  predictions")]
    assert way in failed
