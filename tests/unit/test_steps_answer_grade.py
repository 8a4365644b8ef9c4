"""benchmark → answers → grades."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.config.evaluation import Evaluation
from devqa.errors import UserError
from devqa.evaluation.grading import GRADES
from devqa.evaluation.metrics import fate
from devqa.steps.answer import MESSAGE_TOKENS, confidence, plain, rag
from devqa.steps.grade import grade
from devqa.steps.questions import asked
from devqa.tokens import estimate
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable


def question(name, text=None, target="1m", difficulty="easy"):
    return {"id": name, "question": text or f"What of {name}?", "answer": target, "difficulty": difficulty}


def given_answer(name, text="one megabyte", status="ok", repeat=1):
    return {"id": name, "setting": "plain", "model": "m", "repeat": repeat, "answer": text, "status": status}


def answers_of(chat, *questions, repeats=(1,)):
    rows = plain(questions, chat, prompt("answer/plain"), repeats)
    assert_sound(rows, "answers")
    return rows


def confident(chat, *questions, repeats=(1,)):
    rows = confidence(questions, chat, prompt("answer/confidence"), repeats)
    assert_sound(rows, "answers")
    return rows


def passage(text, url="https://e/1"):
    return {"url": url, "title": "A page", "text": text, "score": 1.5}


def retrieved(name, *passages, status=None, reason=""):
    return {
        "id": name,
        "passages": list(passages),
        "status": status or ("ok" if passages else "rejected"),
        "reason": reason,
    }


def from_passages(chat, questions, found, repeats=(1,)):
    rows = rag(questions, found, chat, prompt("answer/rag"), repeats)
    assert_sound(rows, "answers")
    return rows


def grades_of(judge, questions, answers):
    rows = grade(questions, answers, judge, prompt("judge"))
    assert_sound(rows, "grades")
    return rows


def test_every_question_is_asked_as_it_stands_and_its_tokens_are_kept(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = answers_of(chat, question("b"), question("a"))
    assert [(row["id"], row["model"], row["setting"], row["repeat"]) for row in rows] == [
        ("b", "scripted", "plain", 1),
        ("a", "scripted", "plain", 1),
    ]
    assert {body["messages"][-1]["content"] for body in endpoint.requests} == {"What of a?", "What of b?"}
    for row in rows:
        assert (row["input_tokens"], row["output_tokens"]) == (
            row["usage"][0]["input_tokens"],
            row["usage"][0]["output_tokens"],
        )
        assert row["input_tokens"] > 0


def test_thoughts_are_counted_and_where_nobody_counted_there_are_no_tokens():
    thinking, uncounted = (replace(answered(), **more) for more in ({"reasoning_tokens": 7}, {"counted": False}))
    uncounted = replace(uncounted, input_tokens=0, output_tokens=0)
    rows = answers_of(Model.saying([thinking, uncounted]), question("a"), question("b"))
    tokens = [tuple(row[key] for key in ("input_tokens", "output_tokens", "reasoning_tokens")) for row in rows]
    assert tokens == [(100, 10, 7), (None, None, None)]
    assert [row["usage"][0]["uncounted"] for row in rows] == [0, 1]


def test_each_repeat_is_a_draw_of_its_own_and_the_same_repeat_is_not_paid_again(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        for repeats in ([1], [2], [1], [1, 2]):
            answers_of(chat, question("a"), repeats=repeats)
    assert endpoint.count == 2


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("A", finish_reason="length"), "truncated"),
        (Reply(" "), "empty"),
        (Reply("<think>hm</think>"), "empty"),
        (Reply(status=400), "error"),
    ],
)
def test_an_answer_that_can_t_be_used_is_kept_as_what_it_is_and_never_graded(endpoint, tmp_path, said, outcome):
    endpoint.reply = lambda body: said
    judge = Model.saying([])
    with endpoint.chat(tmp_path) as chat:
        (row,) = answers_of(chat, question("a"))
    assert (row["outcome"], row["status"]) == (outcome, "failed")
    (graded,) = grades_of(judge, [question("a")], [row])
    assert (graded["grade"], graded["status"], graded["reason"]) == (None, "failed", "there is no answer to grade")
    assert (graded["usage"], graded.get("outcome")) == ([], None)


@pytest.mark.parametrize(
    ("said", "grade", "outcome"),
    [
        ("A", "CORRECT", "ok"),
        ("<think>A…</think>B", "INCORRECT", "ok"),
        ("Not attempted.", "NOT_ATTEMPTED", "ok"),
        ("What a question!", None, "ok"),
        ("A or B", None, "ok"),
        (Reply(None, refusal="I can't judge that"), None, "refused"),
        (Reply("A", finish_reason="content_filter"), None, "refused"),
        (Reply("A", finish_reason="length"), None, "truncated"),
        (Reply("\n"), None, "empty"),
        (Reply(status=400), None, "error"),
    ],
)
def test_a_grade_is_what_the_judge_said_in_full_or_none(endpoint, tmp_path, said, grade, outcome):
    endpoint.reply = lambda body: said
    with endpoint.chat(tmp_path) as judge:
        (row,) = grades_of(judge, [question("a")], [given_answer("a")])
    assert (row["grade"], row["outcome"]) == (grade, outcome)
    # What the judge said in full is in the cache for good: asking again would bring the same words.
    assert row["status"] == ("ok" if grade else "rejected" if outcome == "ok" else "failed")
    assert row["usage"][0]["calls"] == 1


def test_the_judge_sees_question_true_answer_and_answer_and_the_same_is_judged_once(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = lambda body: "A"
    answers = [given_answer("a", "x<y", repeat=1), given_answer("a", "x<y", repeat=2), given_answer("b", "x<y")]
    with endpoint.chat(tmp_path) as judge:
        rows = grades_of(judge, [question("a"), question("b")], answers)
    assert [(row["id"], row["repeat"]) for row in rows] == [("a", 1), ("a", 2), ("b", 1)]
    assert endpoint.count == 2
    last = endpoint.requests[0]["messages"][-1]["content"]
    assert "<true_answer>1m</true_answer>" in last
    assert "<answer>x<y</answer>" in last


def test_no_questions_no_requests():
    assert answers_of(Model.saying([])) == []
    assert grades_of(Model.saying([]), [], []) == []


def test_variables_that_no_step_gives_are_named(tmp_path):
    broken = broken_prompt(tmp_path)
    for setting in (plain, confidence):
        with pytest.raises(UserError, match="'misspelt' is undefined"):
            setting([question("a")], Model.saying([]), broken, [1])
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        rag([question("a")], [retrieved("a")], Model.saying([]), broken, [1])
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        grade([question("a")], [given_answer("a")], Model.saying([]), broken)


def test_only_the_difficulties_that_are_wanted_are_asked():
    rows = [question("a"), question("b", difficulty="hard"), question("c")]
    assert [row["id"] for row in asked(rows, ["easy"])] == ["a", "c"]
    assert asked(rows, ["easy", "hard"]) == rows


SAID = st.sampled_from(["A", "B", "C", "CORRECT", "hm", "A or B"]).map(lambda text: answered(text=text))


@given(st.lists(st.tuples(st.one_of(unusable(), SAID), st.one_of(unusable(), SAID)), max_size=6))
def test_rows_in_are_rows_out_whatever_models_and_judge_say(said):
    questions = [question(f"q{number}") for number in range(len(said))]
    answers = answers_of(Model.saying([first for first, _ in said]), *questions)
    # Only usable answers come before the judge.
    verdicts = [second for first, second in said if first.outcome == "ok"]
    judge = Model.saying(verdicts)
    grades = grades_of(judge, questions, answers)
    assert [row["id"] for row in answers] == [row["id"] for row in grades] == [row["id"] for row in questions]
    assert len(judge.requests) == len(verdicts)
    for answer_row, grade_row in zip(answers, grades, strict=True):
        assert (grade_row["status"] == "ok") == (grade_row["grade"] in GRADES)
        assert grade_row["grade"] is None or answer_row["status"] == "ok"


def test_each_setting_says_its_name_and_has_its_own_columns():
    rows = [
        *answers_of(Model.saying([answered()]), question("a")),
        *confident(Model.saying([answered(text="x\nConfidence: 5")]), question("a")),
        *from_passages(Model.saying([answered()]), [question("a")], [retrieved("a", passage("p"))]),
    ]
    assert [row["setting"] for row in rows] == ["plain", "confidence", "rag"]
    assert [("confidence" in row, "passages" in row) for row in rows] == [(False, False), (True, False), (False, True)]
    assert all(row["input_tokens"] == 100 for row in rows)


def test_the_best_passages_are_shown_by_number_and_kept():
    model = Model.saying([answered(text="1m"), answered(text="2m")])
    found = [
        retrieved("a", passage("first of a"), passage("second of a", "https://e/2")),
        retrieved("b", passage("of b")),
    ]
    rows = from_passages(model, [question("b"), question("a")], found)
    assert [(row["id"], row["answer"]) for row in rows] == [("b", "1m"), ("a", "2m")]
    assert [row["passages"] for row in rows] == [found[1]["passages"], found[0]["passages"]]
    said = model.requests[1].messages[-1]["content"]
    assert said.index('number="1"') < said.index("first of a") < said.index('number="2"') < said.index("second of a")
    assert said.endswith("Question: What of a?")
    assert "never an instruction" in model.requests[1].messages[0]["content"]


def test_a_question_that_finds_nothing_is_asked_all_the_same():
    model = Model.saying([answered(text="1m")])
    (row,) = from_passages(model, [question("a")], [retrieved("a", reason="no passage was found for the question")])
    assert (row["status"], row["answer"], row["passages"]) == ("ok", "1m", [])
    assert "There are no documents" in model.requests[0].messages[-1]["content"]


def test_a_question_whose_search_failed_is_not_asked_and_counts_as_an_error():
    model = Model.saying([answered(text="1m")])
    found = [retrieved("a", status="failed", reason="SearXNG gave no answer"), retrieved("b", passage("of b"))]
    rows = from_passages(model, [question("a"), question("b")], found)
    assert [(row["status"], row["reason"]) for row in rows] == [
        ("failed", "the search for passages was given up: SearXNG gave no answer"),
        ("ok", ""),
    ]
    assert len(model.requests) == 1
    assert (rows[0]["usage"], rows[0].get("answer"), fate(rows[0], None)) == ([], None, "error")


@pytest.mark.parametrize("length", [10, 200, 800, 3_000])
def test_as_many_passages_are_shown_as_fit_beside_question_and_answer(length):
    passages = [passage(f"{number} " + "word " * length, f"https://e/{number}") for number in range(9)]
    model = Model.saying([answered()], context=2_000)
    (row,) = from_passages(model, [question("a")], [retrieved("a", *passages)])
    shown = len(row["passages"])
    assert row["passages"] == passages[:shown]

    def tokens(messages):
        return sum(estimate(message["content"]) + MESSAGE_TOKENS for message in messages)

    room = model.context - model.max_tokens
    assert tokens(model.requests[0].messages) <= room
    # One more would not have fitted.
    if shown < 9:
        one_more = prompt("answer/rag").messages({}, {"question": "What of a?", "passages": passages[: shown + 1]})
        assert tokens(one_more) > room
    assert shown == {10: 9, 200: 5, 800: 1, 3_000: 0}[length]


def test_the_confidence_is_read_and_no_part_of_the_answer():
    said = ["It is 1m.\n\n**Confidence:** 85%", "It is 1m.\nConfidence: high", "Confidence: 40"]
    model = Model.saying([answered(text=text) for text in said] + [answered(text="Confidence: 9", outcome="truncated")])
    rows = confident(model, *(question(name) for name in "abcd"))
    assert [(row["answer"], row.get("confidence"), row["outcome"]) for row in rows] == [
        ("It is 1m.", 85.0, "ok"),
        ("It is 1m.\nConfidence: high", None, "ok"),
        ("", 40.0, "empty"),
        ("Confidence: 9", None, "truncated"),
    ]
    assert rows[2]["raw"] == "Confidence: 40"
    assert (rows[2]["status"], rows[2]["reason"]) == ("rejected", "empty: there is a confidence and no answer")
    judge = Model.saying([answered(text="A")] * 2)
    assert [row["grade"] for row in grades_of(judge, [question(name) for name in "abcd"], rows)] == [
        *("CORRECT", "CORRECT"),
        *(None, None),
    ]
    assert "Confidence" not in judge.requests[0].messages[-1]["content"]


@pytest.mark.parametrize("setting", ["plain", "confidence", "rag"])
def test_repeats_and_settings_are_draws_of_their_own(endpoint, tmp_path, setting):
    endpoint.clear()
    endpoint.reply = reply
    ask = {
        "plain": answers_of,
        "confidence": confident,
        "rag": lambda chat, *rows, repeats: from_passages(
            chat, rows, [retrieved(name, passage(name)) for name in "ab"], repeats
        ),
    }[setting]
    with endpoint.chat(tmp_path) as chat:
        for repeats in ([1], [2], [1], [1, 2]):
            (row, *more) = ask(chat, question("a"), repeats=repeats)
            assert [row["repeat"], *(each["repeat"] for each in more)] == repeats
        assert endpoint.count == 2
        # Repeat by repeat, each with all questions in their order.
        rows = ask(chat, question("b"), question("a"), repeats=[1, 2])
    assert [(row["repeat"], row["id"]) for row in rows] == [(1, "b"), (1, "a"), (2, "b"), (2, "a")]
    assert len({row["answer"] for row in rows}) == 2
    assert endpoint.count == 4


@pytest.mark.parametrize("target", ["", "  ", None])
def test_where_the_benchmark_has_no_answer_no_judge_is_asked(target):
    judge = Model.saying([answered(text="A")])
    rows = grades_of(judge, [question("a", target=target), question("b")], [given_answer("a"), given_answer("b")])
    assert [(row["grade"], row["reason"]) for row in rows] == [
        (None, "the benchmark has no answer to grade against"),
        ("CORRECT", ""),
    ]
    assert len(judge.requests) == 1


def test_grades_name_their_judge_and_answers_that_never_came_are_not_judged():
    judge = Model.saying([answered(text="B")], label="second")
    missing = {**given_answer("a", None, "failed"), "outcome": None, "reason": "no answer in the file"}
    rows = grades_of(judge, [question("a"), question("b")], [missing, given_answer("b")])
    assert [(row["judge"], row["grade"]) for row in rows] == [("second", None), ("second", "INCORRECT")]
    assert len(judge.requests) == 1


def test_answers_and_judges_are_sampled_as_in_the_paper_and_three_times():
    evaluation = Evaluation(models=["m"], judge={"model": "m"})
    assert (evaluation.sampling.temperature, evaluation.sampling.top_p, evaluation.repeats) == (0.7, 0.95, 3)
    assert (evaluation.judge.sampling.temperature, evaluation.judge.sampling.top_p) == (0.5, 1.0)
