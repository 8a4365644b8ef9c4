"""repository_questions → predictions, in the settings that are one request each."""

import time
from dataclasses import replace

import pytest
from hypothesis import given

from devqa.llm.chat import Request
from devqa.pull_requests.agents.predicting import full_context, ground_truth, no_context, retrieval, seconds
from pulled import ANSWER, benchmark_question, block
from scripted import Reply
from standins import Model, answered, assert_sound, prompt, unusable


def asked(setting, chat, questions=None, repeats=(1,), found=None):
    questions = [benchmark_question(1), benchmark_question(2)] if questions is None else questions
    template = prompt(f"pull_requests/{setting}")
    if setting == "retrieval":
        rows = retrieval(questions, found or {}, chat, template, repeats)
    else:
        rows = {"no_context": no_context, "full_context": full_context}[setting](questions, chat, template, repeats)
    assert_sound(rows, "predictions")
    return rows


def texts(model):
    return [request.messages[-1]["content"] for request in model.requests]


@pytest.mark.parametrize("setting", ["no_context", "full_context", "retrieval"])
def test_each_repeat_has_a_row_for_each_question(setting):
    questions = [benchmark_question(1), benchmark_question(2)]
    model = Model.saying([replace(answered(text=f"answer {number}"), seconds=number / 2) for number in range(4)])
    rows = asked(setting, model, questions, repeats=(1, 2))
    assert [(row["id"], row["repeat"]) for row in rows] == [
        (each["id"], repeat) for repeat in (1, 2) for each in questions
    ]
    assert [(row["answer"], row["seconds"]) for row in rows] == [
        (f"answer {number}", number / 2) for number in range(4)
    ]
    assert {(row["setting"], row["model"], row["input_tokens"]) for row in rows} == {(setting, "stand-in", 100)}
    assert [request.repeat for request in model.requests] == [1, 1, 2, 2]


def test_without_context_the_model_knows_the_name_and_nothing_else():
    row = benchmark_question()
    model = Model.saying([answered()])
    (said,) = asked("no_context", model, [row])
    assert texts(model) == [f"Repository: {row['name']}\nQuestion: {row['question']}"]
    assert said["shown"] == []


def test_the_full_context_is_shown_in_its_order_and_told():
    model = Model.saying([answered()])
    row = benchmark_question()
    (said,) = asked("full_context", model, [row])
    assert [each["node"] for each in said["shown"]] == [each["node"] for each in row["context"]]
    assert {each["score"] for each in said["shown"]} == {None}
    for each in row["context"]:
        assert f'<code id="{each["node"]}">\n{each["text"]}' in texts(model)[0]


def test_what_the_window_has_no_room_for_is_not_shown_and_what_the_question_rests_on_goes_last():
    blocks = [block(f"f{number}", text="x = 1\n" * 300) for number in range(6)]
    row = benchmark_question(context=blocks, nodes=[blocks[5]["node"]])
    model = Model.saying([answered()], context=2_200)
    (said,) = asked("full_context", model, [row])
    nodes = [each["node"] for each in said["shown"]]
    assert nodes == [blocks[0]["node"], blocks[5]["node"]]
    assert [f'id="{each["node"]}"' in texts(model)[0] for each in blocks] == [True, False, False, False, False, True]


def test_what_was_found_is_shown_best_first_with_its_score():
    row = benchmark_question()
    found = {row["id"]: [{**block("till", "b.py"), "score": 3.5}, {**block("sum", "a.py"), "score": 1.0}]}
    model = Model.saying([answered()])
    (said,) = asked("retrieval", model, [row], found=found)
    assert [(each["node"], each["score"]) for each in said["shown"]] == [("till (b.py)", 3.5), ("sum (a.py)", 1.0)]
    assert texts(model)[0].index("till (b.py)") < texts(model)[0].index("sum (a.py)")


def test_a_question_that_finds_nothing_is_asked_all_the_same():
    model = Model.saying([answered()])
    (said,) = asked("retrieval", model, [benchmark_question()])
    assert (said["status"], said["shown"]) == ("ok", [])
    assert "The search has found nothing." in texts(model)[0]


def test_the_true_answer_is_an_answer_and_nobody_is_asked():
    rows = ground_truth([benchmark_question(1), benchmark_question(2)])
    assert_sound(rows, "predictions")
    assert {(row["answer"], row["setting"], row["model"], row["repeat"]) for row in rows} == {
        (ANSWER, "ground_truth", "ground_truth", 1)
    }


@given(unusable())
def test_an_answer_that_can_t_be_used_is_no_answer(said):
    (row,) = asked("no_context", Model.saying([said]), [benchmark_question()])
    assert (row["status"], row["outcome"]) == ("failed", said.outcome)


def test_the_seconds_of_all_or_of_none():
    one, other, unknown = (replace(answered(), seconds=each) for each in (0.5, 1.25, None))
    assert seconds([one, other]) == 1.75
    assert seconds([one, unknown]) is None
    assert seconds([]) is None


def test_an_endpoints_answer_comes_with_its_seconds_and_again_from_the_cache(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = lambda body: Reply("An answer.", delay_s=0.05)
    rows = []
    for _ in range(2):
        with endpoint.chat(tmp_path) as chat:
            rows.append(asked("no_context", chat))
    assert rows[0] == rows[1]
    assert all(row["seconds"] > 0.04 for row in rows[0])
    # Both rows have the same question.
    assert endpoint.count == 1


def test_a_repair_and_a_search_for_the_mode_take_time_as_well(endpoint, tmp_path):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    endpoint.clear()
    endpoint.reply = lambda body: Reply({"a": 1} if len(body["messages"]) > 1 else {"a": "x"}, delay_s=0.05)
    with endpoint.chat(tmp_path, structured="json_schema") as chat:
        (answer,) = chat.ask([Request(({"role": "user", "content": "q"},), schema)])
    assert (answer.calls, answer.data) == (2, {"a": 1})
    assert answer.seconds > 0.08


def test_waiting_for_a_place_is_no_time_of_the_answer(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = lambda body: Reply("ok", delay_s=0.1)
    began = time.monotonic()
    with endpoint.chat(tmp_path, limits={"concurrency": 1}) as chat:
        answers = chat.ask([Request(({"role": "user", "content": str(number)},)) for number in range(6)])
    # One after the other: together they can't have taken longer than all that was done.
    assert 0.4 < sum(answer.seconds for answer in answers) <= time.monotonic() - began
