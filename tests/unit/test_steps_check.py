"""pairs → checked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.check import CRITERIA, check
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable


def pair(name="p", question="What is the default?"):
    return {"pair_id": name, "dialogue_id": "d", "number": 1, "question": question, "answer": "1m", "status": "ok"}


def judged(*passed):
    return {name: {"reason": f"because {name}", "passed": value} for name, value in zip(CRITERIA, passed, strict=True)}


def test_each_pair_is_judged_on_the_date_in_the_configuration(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = check([pair("b"), pair("a", "Another?")], chat, prompt("check"), "2026-11-01")
    assert_sound(rows, "checked")
    assert [(row["pair_id"], row["status"]) for row in rows] == [("a", "ok"), ("b", "ok")]
    assert all("2026-11-01" in body["messages"][0]["content"] for body in endpoint.requests)


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        ((False, True, True), "not unambiguous"),
        ((True, False, False), "not complex enough, not verifiable"),
        ((False, False, False), "not unambiguous, not complex enough, not verifiable"),
    ],
)
def test_a_criterion_that_is_missed_rejects_and_every_reason_is_kept(passed, reason):
    (row,) = check([pair()], Model.saying([answered(judged(*passed))]), prompt("check"), "2026-11-01")
    assert (row["status"], row["reason"]) == ("rejected", reason)
    assert [(entry["criterion"], entry["passed"], entry["reason"]) for entry in row["criteria"]] == [
        (name, value, f"because {name}") for name, value in zip(CRITERIA, passed, strict=True)
    ]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("{}"), "error"),
        (Reply(judged(True, True, None)), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_a_judge_that_can_t_be_read_neither_passes_nor_rejects(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as chat:
        rows = check([pair()], chat, prompt("check"), "2026-11-01")
    assert_sound(rows, "checked")
    assert (rows[0]["status"], rows[0]["outcome"], rows[0].get("criteria")) == ("failed", outcome, None)


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        check([pair()], Model.saying([]), broken_prompt(tmp_path), "2026-11-01")


USABLE = st.builds(lambda passed: answered(judged(*passed)), st.tuples(*[st.booleans()] * 3))


@given(st.lists(st.one_of(unusable(), USABLE), max_size=6))
def test_no_row_is_lost_or_doubled_and_only_what_passes_all_is_ok(answers):
    pairs = [pair(f"p{number}") for number in range(len(answers))]
    rows = check(pairs[::-1], Model.saying(answers), prompt("check"), "2026-11-01")
    assert_sound(rows, "checked")
    assert [row["pair_id"] for row in rows] == [row["pair_id"] for row in pairs]
    for row, answer in zip(rows, answers, strict=True):
        passed = bool(answer.data) and all(answer.data[name]["passed"] for name in CRITERIA)
        assert (row["status"] == "ok") == passed
