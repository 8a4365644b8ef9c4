"""Verdicts about dialogues and pairs: none is lost over a reason that is too long, and none costs a second call."""

import pytest

from devqa.config.study import TASKS
from devqa.steps.check import CRITERIA, check
from devqa.steps.reasons import LONGEST
from devqa.steps.verify import verify
from devqa.study.classifying import CRITERIA as SUITABLE
from devqa.study.classifying import suitability, tasks
from devqa.study.filtering import about_development
from replies import step_of
from standins import assert_sound, prompt

LONG = "because it is so, " * 30
CUT = LONG[:LONGEST].rstrip()
PAIR = {"pair_id": "p", "dialogue_id": "d", "number": 1, "question": "What is it?", "answer": "1m", "status": "ok"}
PASSAGES = [{"url": "https://e", "title": "t", "text": "It is a minute.", "score": 1.0}]
DIALOGUE = {
    "dialogue_id": "d",
    "source": "mine",
    "language": "en",
    "model": "gpt-4",
    "origin": "a.jsonl:1",
    "turns": 2,
    "characters": 100,
    "text": "What does git stash do?",
    "status": "ok",
    "reason": "",
}
KNOWLEDGE = next(iter(TASKS))


def checked(chat):
    (row,) = check([PAIR], chat, prompt("check"), "2026-11-01")
    assert {entry["reason"] for entry in row["criteria"]} == {CUT}
    return row, "checked"


def compared(chat):
    (row,) = verify([PAIR | {"passages": PASSAGES}], chat, prompt("verify/answer"), prompt("verify/compare"))
    assert row["explanation"] == CUT
    return row, "verified"


def filtered(chat):
    return about_development([DIALOGUE], chat, prompt("study/filter"), 600)[0], "filtered"


def classified(chat):
    rows = tasks([DIALOGUE | {"stratum": "en", "weight": 1.0}], chat, prompt("study/tasks"), TASKS, KNOWLEDGE, 600)
    return rows[0], "classified"


def held(chat):
    row = DIALOGUE | {"weight": 1.0, "task": KNOWLEDGE, "code_centred": False, "usage": []}
    (row,) = suitability([row], chat, prompt("study/suitability"), KNOWLEDGE, 600)
    assert row["single_answer"] is True
    return row, "classified"


REPLIES = {
    "check": {name: {"reason": LONG, "passed": True} for name in CRITERIA},
    "verify": {"passages": [1], "enough_evidence": True, "answer": "a minute"},
    "compare": {"reason": LONG, "same": True},
    "study_filter": {"reason": LONG, "about_development": True},
    "study_tasks": {"reason": LONG, "task": KNOWLEDGE, "code_centred": False},
    "study_suitability": {name: {"reason": LONG, "met": True} for name in SUITABLE},
}


@pytest.mark.parametrize(("step", "calls"), [(checked, 1), (compared, 2), (filtered, 1), (classified, 1), (held, 1)])
def test_a_reason_that_is_too_long_is_cut_and_costs_no_second_call(endpoint, tmp_path, step, calls):
    endpoint.clear()
    endpoint.reply = lambda body: REPLIES[step_of(body)]
    with endpoint.chat(tmp_path) as chat:
        row, table = step(chat)
    assert_sound([row], table)
    assert (row["status"], endpoint.count) == ("ok", calls)
    endpoint.reply = lambda body: "ok"
