"""dialogues → queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.steps.queries import queries
from devqa.tokens import estimate
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable


@pytest.fixture
def ask(endpoint, tmp_path):
    """Rows of the real client's answers, where the endpoint answers as `reply` says."""

    def rows(dialogues, reply, tokens=500):
        endpoint.clear()
        endpoint.reply = reply
        with endpoint.chat(tmp_path) as chat:
            return queries(dialogues, chat, prompt("queries"), tokens)

    return rows


def dialogue(name, *contents):
    messages = [{"role": "user", "content": content} for content in contents or ["How do I undo a commit in git?"]]
    return {"dialogue_id": name, "source": "s", "language": "en", "model": "m", "messages": messages, "status": "ok"}


def found(topics=("git",), wanted=("git reset", "git reflog"), about=True):
    return {"topics": [*topics], "queries": [*wanted], "about_software_development": about}


def test_every_dialogue_gets_its_own_queries_in_the_order_of_ids(ask):
    rows = ask([dialogue("b", "rebase a branch onto main"), dialogue("a", "birthday party ideas please")], reply)
    assert_sound(rows, "queries")
    assert [(row["dialogue_id"], row["status"], row["reason"]) for row in rows] == [
        ("a", "rejected", "not about software development"),
        ("b", "ok", ""),
    ]
    assert "rebase" in rows[1]["queries"][0]
    assert [row["usage"][0]["calls"] for row in rows] == [1, 1]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Reply(None, refusal="I can't"), "refused"),
        (Reply('{"topics": ["g', finish_reason="length"), "truncated"),
        (Reply(" \n"), "empty"),
        (Reply("no JSON"), "error"),
        (Reply(found(topics=[])), "error"),
        (Reply(found(wanted=["one"])), "error"),
    ],
)
def test_an_answer_that_can_t_be_used_fails_its_row_alone(ask, said, outcome):
    rows = ask(
        [dialogue("bad", "spoil this one"), dialogue("good")],
        lambda body: said if "spoil" in str(body["messages"]) else found(),
    )
    assert_sound(rows, "queries")
    assert [row["status"] for row in rows] == ["failed", "ok"]
    assert rows[0]["outcome"] == outcome
    assert rows[0]["reason"].startswith(f"{outcome}: ")
    assert rows[0].get("queries") is None


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["  Git\n rebase ", "git REBASE", "git merge"], ["Git rebase", "git merge"]),
        (["a", "b", "A"], ["a", "b"]),
        (["变基 分支", "变基\u3000分支", "ветка", "ВЕТКА"], ["变基 分支", "ветка"]),
    ],
)
def test_the_same_query_is_kept_once_where_it_first_stood(said, kept):
    (row,) = queries([dialogue("d")], Model.saying([answered(found(wanted=said))]), prompt("queries"), 100)
    assert (row["queries"], row["status"]) == (kept, "ok")


@pytest.mark.parametrize("said", [["a", "A "], [" ", "\n"], ["a", ""]])
def test_fewer_than_two_different_queries_are_a_failure(said):
    (row,) = queries([dialogue("d")], Model.saying([answered(found(wanted=said))]), prompt("queries"), 100)
    assert (row["status"], row["reason"]) == ("failed", "fewer than two different search queries")


def test_what_is_no_development_is_rejected_whatever_its_queries():
    answer = answered(found(wanted=["", ""], about=False))
    (row,) = queries([dialogue("d")], Model.saying([answer]), prompt("queries"), 100)
    assert row["status"] == "rejected"


def test_the_model_sees_so_many_tokens_of_a_dialogue_and_no_more(ask, endpoint):
    turns = [f"turn {number} " + "word " * 500 for number in range(4)]
    ask([dialogue("long", *turns)], lambda body: found(), tokens=100)
    last = endpoint.requests[0]["messages"][-1]["content"]
    assert all(f"turn {number}" in last for number in range(4))
    assert estimate(last) < 200


def test_no_dialogue_no_request(ask, endpoint):
    assert ask([], reply) == []
    assert endpoint.count == 0


def test_a_variable_that_no_step_gives_is_named_before_anything_is_sent(tmp_path):
    model = Model.saying([])
    with pytest.raises(UserError, match=r"prompts/broken/user\.j2: 'misspelt' is undefined"):
        queries([dialogue("d")], model, broken_prompt(tmp_path), 100)
    assert model.requests == []


WORDS = st.lists(st.text(max_size=8), max_size=4)
USABLE = st.builds(lambda *parts: answered(found(*parts)), WORDS, WORDS, st.booleans())


@given(st.lists(st.one_of(unusable(), USABLE), max_size=6), st.randoms())
def test_no_row_is_lost_or_doubled_whatever_the_model_says(answers, random):
    names = [f"d{number}" for number in range(len(answers))]
    dialogues = [dialogue(name) for name in random.sample(names, len(names))]
    rows = queries(dialogues, Model.saying(answers), prompt("queries"), 100)
    assert_sound(rows, "queries")
    assert [row["dialogue_id"] for row in rows] == names
    for row, answer in zip(rows, answers, strict=True):
        assert row["outcome"] == answer.outcome
        assert row["status"] != "ok" or len({query.casefold() for query in row["queries"]}) >= 2
