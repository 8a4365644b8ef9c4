"""benchmark → domains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.domains import domains, schema
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

NAMES = {"languages": "syntax and semantics", "shell": "", "C++ & co.": 'what\'s "odd"'}


def question(name):
    return {"id": name, "question": f"What of {name}?", "answer": "1m"}


def domains_of(chat, *questions, names=NAMES):
    rows = domains(questions, chat, prompt("domains"), names)
    assert_sound(rows, "domains")
    return rows


def test_every_question_gets_one_of_the_names(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = domains_of(chat, *(question(str(number)) for number in range(9)))
    assert [row["id"] for row in rows] == [str(number) for number in range(9)]
    assert {row["domain"] for row in rows} == {*NAMES}
    assert all(row["usage"][0]["calls"] == 1 for row in rows)
    body = endpoint.requests[0]
    assert body["response_format"]["json_schema"]["schema"] == schema(NAMES)
    told = body["messages"][0]["content"]
    assert '- languages: syntax and semantics\n- shell\n- C++ & co.: what\'s "odd"\n' in told
    # The answer of the benchmark would give away more than what is asked.
    assert "1m" not in str(body["messages"])


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"domain": "cooking"}, "error"),
        ("shell", "error"),
        (Reply(None, refusal="no"), "refused"),
        (Reply({"domain": "shell"}, finish_reason="length"), "truncated"),
        (Reply(" "), "empty"),
    ],
)
def test_an_answer_that_can_t_be_used_leaves_the_domain_open(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as chat:
        (row,) = domains_of(chat, question("a"))
    assert (row["domain"], row["outcome"], row["status"]) == (None, outcome, "failed")
    assert row["reason"].startswith(f"{outcome}: ")


def test_no_questions_no_requests():
    assert domains_of(Model.saying([])) == []


def test_variables_that_no_step_gives_are_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        domains([question("a")], Model.saying([]), broken_prompt(tmp_path), NAMES)


SAID = st.sampled_from([*NAMES]).map(lambda name: answered({"domain": name}))


@given(st.lists(st.one_of(unusable(), SAID), max_size=6))
def test_rows_in_are_rows_out_whatever_the_model_says(said):
    rows = domains_of(Model.saying(said), *(question(str(number)) for number in range(len(said))))
    assert len(rows) == len(said)
    for row, answer in zip(rows, said, strict=True):
        assert (row["domain"] in NAMES) == (answer.outcome == "ok") == (row["status"] == "ok")
