"""verified → rated."""

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.evaluation.grading import GRADES
from devqa.steps.difficulty import difficulty, rating
from scripted import Reply, ScriptedEndpoint
from standins import Model, answered, assert_sound, prompt, unusable


def pair(name):
    return {"pair_id": name, "question": f"What of {name}?", "answer": "1m", "number": 1, "status": "ok"}


def rated(pairs, models, judge):
    rows = difficulty(pairs, models, judge, prompt("answer/plain"), prompt("judge"))
    assert_sound(rows, "rated")
    return rows


def attempts(*grades):
    return [{"model": f"m{number}", "grade": grade} for number, grade in enumerate(grades)]


@pytest.mark.parametrize(
    ("grades", "found", "status"),
    [
        (["CORRECT", "CORRECT"], "easy", "ok"),
        (["CORRECT", "INCORRECT"], "hard", "ok"),
        (["NOT_ATTEMPTED", "CORRECT"], "hard", "ok"),
        ([None, "INCORRECT"], "hard", "ok"),
        (["CORRECT", None], None, "failed"),
        ([None], None, "failed"),
    ],
)
def test_easy_is_what_all_models_know(grades, found, status):
    row = rating(attempts(*grades))
    assert (row["difficulty"], row["status"]) == (found, status)


def test_a_model_without_a_grade_is_named():
    assert rating(attempts("CORRECT", None, None))["reason"] == "no grade for the answer of m1, m2"


@given(st.lists(st.sampled_from([*GRADES, None]), min_size=1, max_size=6), st.randoms())
def test_a_rating_does_not_depend_on_the_order_of_models_and_a_lost_grade_never_makes_it_easier(grades, random):
    row = rating(attempts(*grades))
    shuffled = rating(attempts(*random.sample(grades, len(grades))))
    assert (row["difficulty"], row["status"]) == (shuffled["difficulty"], shuffled["status"])
    assert (row["difficulty"] == "easy") == (set(grades) == {"CORRECT"})
    assert (row["status"] == "failed") == (row["difficulty"] is None)
    with_loss = rating(attempts(*grades, None))
    assert with_loss["difficulty"] == (row["difficulty"] if row["difficulty"] == "hard" else None)


def test_models_and_judge_behind_real_clients(tmp_path):
    def reply(body):
        last = body["messages"][-1]["content"]
        if "<true_answer>" in last:
            return "A" if "<answer>1m" in last else "B"
        if "What of c?" in last and body["model"] == "weak":
            return Reply(None, refusal="no")
        return "1m" if "What of a?" in last or body["model"] == "strong" else "2m"

    with ScriptedEndpoint(reply) as endpoint, ExitStack() as stack:
        models = [stack.enter_context(endpoint.chat(tmp_path, model=name)) for name in ("strong", "weak")]
        judge = stack.enter_context(endpoint.chat(tmp_path, model="judge"))
        rows = rated([pair("c"), pair("b"), pair("a")], models, judge)
    assert [(row["pair_id"], row["difficulty"], row["status"]) for row in rows] == [
        ("a", "easy", "ok"),
        ("b", "hard", "ok"),
        ("c", None, "failed"),
    ]
    assert [entry["grade"] for entry in rows[1]["attempts"]] == ["CORRECT", "INCORRECT"]
    assert rows[2]["attempts"][1]["judge_outcome"] is None
    # All three go by one label here: two answers and as many verdicts as there were answers.
    assert [row["usage"][0]["calls"] for row in rows] == [4, 4, 3]


def test_the_draws_are_not_those_of_the_evaluation():
    model = Model.saying([answered(text="1m")])
    rated([pair("a")], [model], Model.saying([answered(text="A")]))
    assert [request.repeat for request in model.requests] == [0]


SAID = st.sampled_from(["A", "B", "C", "hm"]).map(lambda text: answered(text=text))
BOTH = st.tuples(st.one_of(unusable(), SAID), st.one_of(unusable(), SAID))


@given(st.lists(st.lists(BOTH, min_size=2, max_size=2), max_size=4))
def test_every_pair_keeps_every_model_s_answer_and_what_it_cost(said):
    """`said` by pair and model: the model's answer and the judge's."""
    by_model = [[row[number] for row in said] for number in range(2)]
    models = [
        Model.saying([answer for answer, _ in column], label=f"m{number}") for number, column in enumerate(by_model)
    ]
    verdicts = [verdict for column in by_model for answer, verdict in column if answer.outcome == "ok"]
    names = [f"p{number}" for number in range(len(said))]
    rows = rated([pair(name) for name in names], models, Model.saying(verdicts, label="judge"))
    assert [row["pair_id"] for row in rows] == names
    for row, tried in zip(rows, said, strict=True):
        assert [entry["model"] for entry in row["attempts"]] == ["m0", "m1"]
        assert [entry["outcome"] for entry in row["attempts"]] == [answer.outcome for answer, _ in tried]
        calls = {entry["model"]: entry["calls"] for entry in row["usage"]}
        judged = sum(answer.outcome == "ok" for answer, _ in tried)
        assert calls == {"m0": 1, "m1": 1, **({"judge": judged} if judged else {})}
