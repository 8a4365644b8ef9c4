"""evidence → verified."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.verify import CONTRADICTED, NOT_ENOUGH, SUPPORTED, verify
from replies import reply, step_of
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

VERDICTS = (SUPPORTED, CONTRADICTED, NOT_ENOUGH)


@pytest.fixture
def ask(endpoint, tmp_path):
    def rows(pairs, reply):
        endpoint.clear()
        endpoint.reply = reply
        with endpoint.chat(tmp_path) as chat:
            found = verify(pairs, chat, prompt("verify/answer"), prompt("verify/compare"))
        assert_sound(found, "verified")
        return found

    return rows


def pair(name="p", answer="1m", passages=2):
    found = [{"url": f"https://e/{n}", "title": "t", "text": f"passage {n}", "score": 1.0} for n in range(passages)]
    return {"pair_id": name, "question": f"What of {name}?", "answer": answer, "passages": found, "status": "ok"}


def found(answer="1m", enough=True, passages=(1,)):
    return {"passages": [*passages], "enough_evidence": enough, "answer": answer}


def scripted(answer, compared=None):
    """One reply to the question, one to the comparison."""
    return lambda body: answer if step_of(body) == "verify" else compared


def test_the_answer_of_the_evidence_is_compared_with_the_pair_s(ask, endpoint):
    rows = ask([pair("b"), pair("a")], reply)
    assert [(row["pair_id"], row["status"], row["verdict"]) for row in rows] == [
        ("a", "ok", SUPPORTED),
        ("b", "ok", SUPPORTED),
    ]
    assert [row["usage"][0]["calls"] for row in rows] == [2, 2]
    question = next(body["messages"][-1]["content"] for body in endpoint.requests if step_of(body) == "verify")
    assert "passage 1" in question
    assert "1m" not in question, "the model must not see the answer that it verifies"


def test_the_same_answer_needs_no_comparison(ask, endpoint):
    (row,) = ask([pair(passages=3)], scripted(found(" `1m`\n", passages=[2, 1, 2])))
    assert (row["status"], row["verdict"], row["cited"], endpoint.count) == ("ok", SUPPORTED, [1, 2], 1)


@pytest.mark.parametrize(("one", "other"), [("C", "C#"), ("*", "|"), ("#", ">"), ("-r", "-R"), ("**kwargs", "kwargs")])
def test_answers_that_differ_in_a_sign_are_compared_and_not_waved_through(ask, endpoint, one, other):
    (row,) = ask([pair(answer=one)], scripted(found(other), {"reason": "another", "same": False}))
    assert endpoint.count == 2
    assert (row["status"], row["verdict"], row["explanation"]) == ("rejected", CONTRADICTED, "another")
    assert row["reason"] == "contradicted by the evidence"


@pytest.mark.parametrize("said", [found(enough=False), found(""), found(" \n"), found("", False, [])])
def test_evidence_that_does_not_suffice_is_no_contradiction(ask, endpoint, said):
    (row,) = ask([pair()], scripted(said))
    assert (row["status"], row["verdict"], row["reason"]) == ("rejected", NOT_ENOUGH, NOT_ENOUGH)
    assert endpoint.count == 1


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply(found(passages=[3])), "error"),
        (Reply(found(passages=[0])), "error"),
        (Reply(""), "empty"),
        (Reply("{", finish_reason="length"), "truncated"),
    ],
)
def test_an_answer_that_can_t_be_used_is_no_verdict(ask, said, outcome):
    (row,) = ask([pair()], scripted(said))
    assert (row["status"], row["outcome"], row.get("verdict")) == ("failed", outcome, None)


@pytest.mark.parametrize(
    # What does not follow its schema is asked for once more.
    ("said", "outcome", "calls"),
    [(Reply(None, refusal="no"), "refused", 2), (Reply("same"), "error", 3)],
)
def test_a_comparison_that_can_t_be_used_is_no_verdict_and_what_was_found_is_kept(ask, said, outcome, calls):
    (row,) = ask([pair()], scripted(found("2m"), said))
    assert (row["status"], row["outcome"], row.get("verdict")) == ("failed", outcome, None)
    assert (row["evidence_answer"], row["cited"], row["usage"][0]["calls"]) == ("2m", [1], calls)


def test_whole_numbers_that_are_written_as_1_0_are_numbers_of_passages(ask):
    (row,) = ask([pair(passages=3)], scripted(found(passages=[1.0, 1, 2.0])))
    assert row["cited"] == [1, 2]
    assert all(isinstance(number, int) for number in row["cited"])


@pytest.mark.parametrize("broken", [0, 1])
def test_a_variable_that_no_step_gives_is_named(tmp_path, broken):
    prompts = [prompt("verify/answer"), prompt("verify/compare")]
    prompts[broken] = broken_prompt(tmp_path)
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        verify([pair()], Model.saying([answered(found("2m"))]), *prompts)


def test_no_pairs_no_rows(ask, endpoint):
    assert ask([], reply) == []
    assert endpoint.count == 0


ANSWERS = st.builds(
    lambda *parts: answered(found(*parts)),
    st.sampled_from(["1m", "2m", "", " ", "1M"]),
    st.booleans(),
    st.lists(st.sampled_from([1, 2, 1.0])),
)
COMPARED = st.builds(lambda same: answered({"reason": "", "same": same}), st.booleans())


@given(st.lists(st.tuples(st.one_of(unusable(), ANSWERS), st.one_of(unusable(), COMPARED)), max_size=6))
def test_no_row_is_lost_and_only_what_is_supported_is_ok(said):
    answers, compared = [answer for answer, _ in said], {f"p{n}": other for n, (_, other) in enumerate(said)}
    given_answers = iter(answers)

    def respond(request):
        last = request.messages[-1]["content"]
        if "Second answer:" not in last:
            return next(given_answers)
        return next(answer for name, answer in compared.items() if f"What of {name}?" in last)

    rows = verify(
        [pair(f"p{n}") for n in range(len(said))], Model(respond), prompt("verify/answer"), prompt("verify/compare")
    )
    assert_sound(rows, "verified")
    assert [row["pair_id"] for row in rows] == [f"p{n}" for n in range(len(said))]
    for row, answer in zip(rows, answers, strict=True):
        assert (row["status"] == "ok") == (row.get("verdict") == SUPPORTED)
        assert (row["status"] == "failed") == (row.get("verdict") is None)
        assert row.get("verdict") in (None, *VERDICTS)
        if answer.outcome == "ok" and answer.data["enough_evidence"] and answer.data["answer"] == "1m":
            cited = bool(answer.data["passages"])
            assert (row["status"], row["usage"][0]["calls"]) == ("ok" if cited else "rejected", 1)
