"""The setting `agentic`, in real Snakemake runs: what is sent in rounds, and that nothing of it is sent twice."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from devqa import tables
from replies import reply
from scripted import Reply
from workflow.conftest import SUBJECTS
from workflow.test_bill import Bill
from workflow.test_cache_commands import aged, rows, said

QUESTIONS = 12
ANSWERS = "results/answers/agentic/weak/1.parquet"
PRICE = {"input": 1.0, "output": 4.0}


@pytest.fixture
def agentic(fresh):
    """A project that asks one model the questions of a benchmark from elsewhere; nothing has run yet."""
    benchmark = [
        {
            "id": f"row-{number}",
            "question": f"How does {SUBJECTS[number % len(SUBJECTS)]} work, case {number}?",
            "answer": f"value {number}",
            "language": "en",
            "difficulty": "hard",
            "domain": "tools",
            "source": "elsewhere",
            "dialogue_id": f"d{number // 3}",
        }
        for number in range(QUESTIONS)
    ]
    lines = (json.dumps(row) for row in benchmark)
    (fresh.folder / "benchmark.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    fresh.config["evaluation"] |= {
        "benchmark": {"path": "benchmark.jsonl"},
        "models": ["weak"],
        "settings": ["agentic"],
        "agentic": {"rounds": 3, "results": 4, "page_tokens": 300},
        "repeats": 1,
    }
    for label in ("weak", "judge"):
        fresh.config["models"][label] |= {"price": PRICE, "context": 16_000, "limits": {"retries": 0}}
    return fresh


def run(project, code=0):
    done = project.run("--until", "judge")
    assert (done.code == 0) == (code == 0), done.output
    return done


def answers(project):
    return tables.read(project.folder / ANSWERS, "answers")


def test_one_model_searches_reads_answers_and_is_graded(agentic):
    bill = Bill(agentic)
    assert agentic.endpoint.count == 0
    spent = []

    def counting(body):
        given = reply(body)
        given = given if isinstance(given, Reply) else Reply(given)
        prompt = sum(len(message["content"] or "") for message in body["messages"]) // 4 + 300
        spent.append(prompt * PRICE["input"] + 20 * PRICE["output"])
        usage = {"prompt_tokens": prompt, "completion_tokens": 20}
        return Reply(given.text, tool_calls=given.tool_calls, finish_reason=given.finish_reason, usage=usage)

    agentic.endpoint.reply = counting
    run(agentic)
    assert agentic.asked() == {"agentic": 3 * QUESTIONS, "judge": QUESTIONS}
    assert bill.sent("answer agentic") >= QUESTIONS
    assert agentic.asked().total() <= bill.most
    assert bill.holds(sum(spent) / 1_000_000)
    found = answers(agentic)
    assert len(found) == QUESTIONS
    assert {(row["setting"], row["status"], row["usage"][0]["calls"]) for row in found} == {("agentic", "ok", 3)}
    for row in found:
        assert [(call["round"], call["tool"], call["outcome"]) for call in row["tool_calls"]] == [
            (1, "search", "ok"),
            (2, "open", "ok"),
        ]
        assert [passage["text"] in row["tool_calls"][1]["result"] for passage in row["passages"]] == [True]
        assert row["input_tokens"] == row["usage"][0]["input_tokens"] > 0


@pytest.mark.slow
def test_nothing_is_asked_twice_and_nothing_that_is_read_is_pruned(agentic):
    run(agentic)
    before = (agentic.folder / ANSWERS).read_bytes()
    agentic.endpoint.clear()
    assert run(agentic).rules == {}
    shutil.rmtree(agentic.folder / "results")
    bill = Bill(agentic)
    run(agentic)
    assert agentic.endpoint.count == 0
    assert (agentic.folder / ANSWERS).read_bytes() == before
    assert bill.sent("answer agentic") == 0
    # The commands read every conversation to its end.
    requests, failed, kept, hits = rows(said(agentic, "cache_show"), "agentic")
    assert (requests, failed, kept, hits) == (3 * QUESTIONS, 0, 3 * QUESTIONS, 3 * QUESTIONS)
    aged(agentic)
    assert "No answer goes" in said(agentic, "cache_prune_apply")
    # Other words of the tools are another question, and the old answers go.
    agentic.edit("prompts/answer/agentic/tools.yaml", "Search the web.", "Search the whole web.")
    run(agentic)
    assert agentic.asked()["agentic"] == 3 * QUESTIONS
    aged(agentic)
    assert rows(said(agentic, "cache_prune"), "agentic")[0] == 3 * QUESTIONS
    assert agentic.endpoint.count == agentic.asked()["agentic"] + agentic.asked()["judge"]


def turn(body):
    return sum(message["role"] == "assistant" for message in body["messages"])


@pytest.mark.slow
def test_a_round_that_was_given_up_is_asked_by_the_next_run_and_nothing_else(agentic):
    def unwell(body):
        if body.get("tools") and turn(body) == 1 and "case 1" in body["messages"][1]["content"]:
            return Reply(status=503, error="overloaded")
        return reply(body)

    agentic.endpoint.reply = unwell
    run(agentic)
    failed = [row for row in answers(agentic) if row["status"] == "failed"]
    assert len(failed) == 3  # cases 1, 10 and 11
    assert all("503" in row["reason"] and len(row["tool_calls"]) == 1 for row in failed)
    agentic.endpoint.reply = reply
    agentic.endpoint.clear()
    run(agentic)
    assert agentic.asked() == {"agentic": 2 * len(failed), "judge": len(failed)}
    assert {row["status"] for row in answers(agentic)} == {"ok"}
    agentic.endpoint.clear()
    assert (run(agentic).rules, agentic.endpoint.count) == ({}, 0)


@pytest.mark.slow
def test_after_a_kill_in_the_second_round_only_what_is_left_is_asked(agentic):
    agentic.config["models"]["weak"]["limits"] = {"concurrency": 2}
    answered, enough, hold = [], threading.Event(), threading.Event()

    def slow(body):
        if turn(body) == 1 and len(answered) >= QUESTIONS + 4 and not hold.is_set():
            enough.set()
            return Reply(fault="hang")
        answered.append(json.dumps(body["messages"]))
        return reply(body)

    agentic.endpoint.reply = slow
    process = agentic.process() | {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for key in ("capture_output", "timeout", "text"):
        process.pop(key)
    with subprocess.Popen(agentic.command(2, "--until", "judge"), start_new_session=True, **process) as running:
        assert enough.wait(120)
        time.sleep(0.5)  # answers that were sent are on their way to the cache
        os.killpg(running.pid, signal.SIGKILL)
    hold.set()
    before = set(answered)
    agentic.endpoint.clear()
    agentic.run("--unlock")
    run(agentic)
    again = [json.dumps(body["messages"]) for body in agentic.endpoint.requests]
    assert len(before) == QUESTIONS + 4
    assert not before & set(again)
    assert agentic.asked()["agentic"] == 2 * QUESTIONS - 4
    assert {row["status"] for row in answers(agentic)} == {"ok"}
