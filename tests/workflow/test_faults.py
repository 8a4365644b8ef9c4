"""What goes wrong: one clear message, a non-zero exit, nothing lost."""

import gzip
import os
import signal
import subprocess
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from replies import reply, step_of
from scripted import Reply
from workflow.conftest import write_dialogues


def test_kill_9_in_mid_batch_loses_no_answer(fresh):
    """The next run sends only the requests that had not been answered."""
    write_dialogues(fresh.folder / "mine/dialogues.jsonl", range(40))
    fresh.config["dialogues"]["mine"]["shards"] = 1
    fresh.config["models"]["worker"]["limits"] = {"concurrency": 4}
    answered, enough, hold = [], threading.Event(), threading.Event()

    def slow(body):
        if len(answered) >= 20 and not hold.is_set():
            enough.set()
            return Reply(fault="hang")
        answered.append(body["messages"][-1]["content"])
        return reply(body)

    fresh.endpoint.reply = slow
    arguments = ("--until", "queries")
    process = fresh.process() | {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for key in ("capture_output", "timeout", "text"):
        process.pop(key)
    with subprocess.Popen(fresh.command(2, *arguments), start_new_session=True, **process) as running:
        assert enough.wait(60)
        time.sleep(0.5)  # answers that were sent are on their way to the cache
        os.killpg(running.pid, signal.SIGKILL)
    hold.set()
    before = set(answered)
    fresh.endpoint.clear()
    fresh.run("--unlock")
    run = fresh.run(*arguments)
    assert run.code == 0, run.output
    again = [body["messages"][-1]["content"] for body in fresh.endpoint.requests]
    assert len(before) == 20
    assert not before & set(again)
    assert len(again) == len(set(again)) == 20
    assert {row["status"] for row in fresh.table("queries")} == {"ok"}


def test_rows_that_fail_are_kept_and_asked_again_alone(fresh):
    def sometimes(body):
        return Reply(text=None) if step_of(body) == "queries" and "number 3:" in str(body["messages"]) else reply(body)

    fresh.endpoint.reply = sometimes
    assert fresh.run("--until", "queries").code == 0
    rows = {row["dialogue_id"]: row for row in fresh.table("queries")}
    assert [row["status"] for row in rows.values()].count("failed") == 1
    assert rows[f"{3:032x}"]["reason"].startswith("empty")
    fresh.endpoint.reply = reply
    fresh.endpoint.clear()
    assert fresh.run("--until", "queries", "--forcerun", "queries").code == 0
    assert fresh.endpoint.count == 1
    assert {row["status"] for row in fresh.table("queries")} == {"ok"}


def test_a_dead_endpoint_stops_with_one_message(fresh):
    fresh.config["models"]["worker"] = {"base_url": "http://127.0.0.1:9/v1", "limits": {"down_after_s": 1}}
    run = fresh.run("--until", "queries")
    assert run.code != 0
    assert "models.worker.base_url: nothing answers at http://127.0.0.1:9/v1" in run.output
    assert "ERROR  queries: models.worker.base_url" in run.output
    assert "Traceback" not in run.output


def test_a_refused_key_stops_with_one_message_and_stays_secret(fresh):
    fresh.endpoint.reply = lambda body: Reply(status=401, error="bad key sk-secret-123")
    fresh.config["models"]["worker"]["api_key_env"] = "WORKER_KEY"
    run = fresh.run("--until", "queries", environment={"WORKER_KEY": "sk-secret-123"})
    assert run.code != 0
    assert "models.worker.api_key_env" in run.output
    assert "sk-secret-123" not in run.output
    for file in fresh.folder.rglob("*"):
        assert not file.is_file() or b"sk-secret-123" not in file.read_bytes(), file


def test_a_missing_key_is_refused_before_any_job_starts(fresh):
    fresh.config["models"]["worker"]["api_key_env"] = "NO_SUCH_KEY"
    run = fresh.run()
    assert run.code != 0
    assert "NO_SUCH_KEY is not set (needed by steps.queries.model" in run.output
    assert not run.rules
    # Hidden files hold no results.
    assert not list((fresh.folder / "results").glob("[!.]*"))


def test_braces_in_the_configuration_are_no_wildcards(fresh):
    fresh.config["models"]["worker"]["extra_body"] = {"stop": "{stop}"}
    fresh.config["models"]["worker"]["model"] = "org/name:{tag}"
    run = fresh.run("--until", "queries")
    assert run.code == 0, run.output
    assert {body["stop"] for body in fresh.endpoint.requests} == {"{stop}"}


def test_files_with_braces_in_their_names_are_refused(fresh):
    (fresh.folder / "mine/dialogues.jsonl").rename(fresh.folder / "mine/d{1}.jsonl")
    (fresh.folder / "examples/web/{x}.html").write_text("<p>text</p>")
    run = fresh.run("--dry-run")
    assert run.code != 0
    for key in ("dialogues.mine.path: mine/d{1}.jsonl", "search.corpus: examples/web/{x}.html"):
        assert f"{key} has braces in its name" in run.output


@pytest.mark.slow
def test_the_end_of_a_run_names_what_failed(fresh):
    fresh.endpoint.reply = lambda body: Reply(text=None)
    run = fresh.run()
    assert run.code == 0, run.output
    assert "benchmark.parquet (0 rows)" in run.output
    assert "FAILED  queries: 6 of 6 rows: empty: the answer is empty" in run.output
    assert "--forcerun" in run.output
    assert (fresh.folder / "results/reports/leaderboard.csv").read_text().startswith("model,setting,")


# Sections that are wrong by themselves, and those that don't fit the rest.
BAD_CONFIGURATIONS = {
    "values": [
        ("evaluation", {"modles": []}, "evaluation.modles: unknown key; did you mean 'models'?"),
        ("search", {"engine": "bing"}, "search.engine: input should be 'local', 'searxng', "),
        ("models", {"worker": {"base_url": None}}, "models.worker: base_url is missing"),
    ],
    "references": [
        ("dialogues", {"mine": {"path": "no/such.jsonl"}}, "dialogues.mine.path: 'no/such.jsonl' does not exist"),
        ("dialogues", {"zip": {"path": "mine/d.zip"}}, "dialogues.zip.path: 'mine/d.zip' is not of a supported format"),
        (
            "steps",
            {"queries": {"model": "wrker"}},
            "steps.queries.model: there is no model 'wrker' under models; did you mean",
        ),
    ],
}


@pytest.mark.parametrize("kind", BAD_CONFIGURATIONS)
def test_a_bad_configuration_is_refused_with_one_message(fresh, kind):
    (fresh.folder / "mine/d.zip").write_bytes(b"PK")
    for section, change, _ in BAD_CONFIGURATIONS[kind]:
        fresh.config[section] = {**fresh.config.get(section, {}), **change}
    run = fresh.run("--dry-run")
    assert run.code != 0
    for _, _, says in BAD_CONFIGURATIONS[kind]:
        assert f"\n  {says}" in run.output
    assert "Traceback" not in run.output


def bad_dialogues(folder):
    """A file for each way in which no dialogue can be read: source → (path, the beginning of what is said of it)."""
    whole = (folder / "dialogues.jsonl").read_bytes()
    packed = gzip.compress(whole)
    (folder / "corrupt.parquet").write_bytes(b"PAR1 nonsense PAR1")
    pq.write_table(pa.table({"a": [1]}), folder / "foreign.parquet")
    (folder / "truncated.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (folder / "unusable.jsonl").write_text("{}\nnonsense\n")
    (folder / "empty.jsonl").write_text("")
    return {
        "corrupt": ("mine/corrupt.parquet", "mine/corrupt.parquet can't be read as Parquet"),
        "foreign": ("mine/foreign.parquet", "mine/foreign.parquet has no column with dialogues"),
        "truncated": ("mine/truncated.jsonl.gz", "mine/truncated.jsonl.gz can't be read after line 0"),
        "unusable": ("mine/unusable.jsonl", "dialogues.unusable: no dialogue in it can be used (rejected"),
        "empty": ("mine/empty.jsonl", "dialogues.empty: no dialogue in it can be used (there are no records)"),
    }


def test_bad_dialogues_are_refused_with_one_message_each_that_names_them(fresh):
    bad = bad_dialogues(fresh.folder / "mine")
    fresh.config["dialogues"] = {source: {"path": path} for source, (path, _) in bad.items()}
    run = fresh.run("--until", *(f"ingest_{source}" for source in bad))
    assert run.code != 0
    for source, (_, says) in bad.items():
        assert sum(line.startswith(f"ERROR  ingest_{source}: {says}") for line in run.output.splitlines()) == 1
    assert "Traceback" not in run.output
    assert not list((fresh.folder / "results").rglob("*.parquet"))


def an_empty_folder(folder):
    (folder / "pages").mkdir()
    return "pages"


def a_corpus_without_text(folder):
    pq.write_table(pa.table({"url": ["http://a.example"]}), folder / "pages.parquet")
    return "pages.parquet"


def a_corrupt_corpus(folder):
    (folder / "pages.parquet").write_bytes(b"nonsense")
    return "pages.parquet"


@pytest.mark.parametrize("make", [an_empty_folder, a_corpus_without_text, a_corrupt_corpus])
def test_a_bad_corpus_is_refused_with_one_message_that_names_it(fresh, make):
    fresh.config["search"] = {"corpus": make(fresh.folder)}
    run = fresh.run("--until", "corpus")
    assert run.code != 0
    assert fresh.config["search"]["corpus"] in run.output
    assert "Traceback" not in run.output


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("prompts/check/system.j2", "{% if %}", "prompts/check/system.j2, line 1"),
        ("prompts/check/demonstrations.yaml", "- {given: 1}", "prompts/check/demonstrations.yaml: entry 1"),
        ("prompts/check/user.j2", "{{ qestion }}", "prompts/check/user.j2: 'qestion' is undefined"),
    ],
)
def test_a_broken_prompt_is_named(project, path, text, says):
    (project.folder / path).write_text(text)
    run = project.run("--until", "check")
    assert run.code != 0
    assert says in run.output
    assert "Traceback" not in run.output
    assert project.endpoint.count == 0


def test_broken_records_are_rejected_and_the_rest_goes_on(fresh):
    with (fresh.folder / "mine/dialogues.jsonl").open("a") as file:
        file.write('{"broken\n\n{"conversation_hash": "x", "conversation": []}\n')
    assert fresh.run("--until", "queries").code == 0
    assert len(fresh.table("dialogues")) == 8
    assert [row["status"] for row in fresh.table("dialogues")].count("rejected") == 2
    assert len(fresh.table("queries")) == 6
