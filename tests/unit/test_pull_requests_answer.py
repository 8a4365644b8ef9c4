"""pull_checked → pull_answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulled
from devqa.errors import UserError
from devqa.pull_requests.questions.answering import NOT_ANSWERABLE, answers
from devqa.tokens import estimate
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

PROMPT = prompt("pull_requests/answer")


def answer(chat, *checked, context=None):
    rows = answers(checked, context or [pulled.context(row["number"]) for row in checked], chat, PROMPT)
    assert_sound(rows, "pull_answers")
    return rows


def said(text=pulled.ANSWER, answerable=True):
    return answered({"reason": "because", "answerable": answerable, "answer": text})


def test_the_answer_comes_from_the_question_and_its_code_alone():
    model = Model.saying([said(f"  {pulled.ANSWER}\n")])
    (row,) = answer(model, pulled.checked())
    assert (row["status"], row["question"], row["answer"]) == ("ok", pulled.QUESTION, pulled.ANSWER)
    (request,) = model.requests
    shown = request.messages[-1]["content"]
    assert pulled.QUESTION in shown
    assert all(block["text"].strip() in shown for block in pulled.context()["blocks"])
    # What only the description says is not in the repository.
    assert "Customers complained" not in str(request.messages)
    assert "Take the best discount" not in str(request.messages)


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (said("Who knows.", False), "rejected", NOT_ANSWERABLE),
        (said("", False), "rejected", NOT_ANSWERABLE),
        (said(" ** "), "failed", "the model left the answer empty"),
    ],
)
def test_what_is_not_answered_has_no_answer(reply, status, reason):
    (row,) = answer(Model.saying([reply]), pulled.checked())
    assert (row["status"], row["reason"], row.get("answer")) == (status, reason, None)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("NOT ANSWERABLE"), "error"),
        (Reply({"reason": "", "answerable": None, "answer": ""}), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_an_answer_that_can_t_be_used_is_none(endpoint, tmp_path, reply, outcome):
    endpoint.reply = lambda body: reply
    with endpoint.chat(tmp_path) as chat:
        (row,) = answer(chat, pulled.checked())
    assert (row["status"], row["outcome"], row.get("answer")) == ("failed", outcome, None)


def test_blocks_that_the_question_rests_on_are_the_last_to_go():
    blocks = [pulled.block(f"step{number}", f"shop/{number}.py", "x = compute(y)\n" * 20) for number in range(40)]
    model = Model(lambda request: said(), context=2_048)
    answer(model, pulled.checked(nodes=[blocks[39]["node"]]), context=[pulled.context(blocks=blocks)])
    (request,) = model.requests
    shown = request.messages[-1]["content"]
    assert shown.index(blocks[0]["node"]) < shown.index(blocks[39]["node"])
    assert blocks[38]["node"] not in shown
    assert sum(estimate(message["content"]) for message in request.messages) <= 2_048 - model.max_tokens


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        answers([pulled.checked()], [pulled.context()], Model.saying([]), broken_prompt(tmp_path))


@given(st.lists(st.one_of(unusable(), st.builds(said, st.sampled_from(["Ten.", "", " "]), st.booleans())), max_size=6))
def test_rows_in_are_rows_out_whatever_the_model_says(given_):
    checked = [pulled.checked(number) for number in range(len(given_))]
    rows = answer(Model.saying(given_), *checked[::-1])
    assert [row["pull_id"] for row in rows] == [row["pull_id"] for row in checked]
    for row, reply in zip(rows, given_, strict=True):
        good = reply.outcome == "ok" and reply.data["answerable"] and reply.data["answer"].strip()
        assert (row["status"] == "ok") == bool(good)
        assert bool(row.get("answer")) == bool(good)
