"""context → pull_questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulled
from devqa.errors import UserError
from devqa.pull_requests.questions.asking import DIFFICULTIES, MOST_NODES, questions, schema
from devqa.pull_requests.questions.showing import LEAST_ROOM, TAG_TOKENS, fitted
from devqa.tokens import estimate
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

PROMPT = prompt("pull_requests/question")


def ask(chat, *context, deep_blocks=2, deep_tokens=1_500):
    rows = questions(context, chat, PROMPT, deep_blocks=deep_blocks, deep_tokens=deep_tokens)
    assert_sound(rows, "pull_questions")
    return rows


def said(nodes, question=pulled.QUESTION, core=True, difficulty="hard"):
    return answered({"nodes": nodes, "question": question, "core": core, "difficulty": difficulty})


def blocks(count, **more):
    return [pulled.block(f"step{number}", f"shop/{number}.py", **more) for number in range(count)]


def nodes_of(request):
    return request.schema["properties"]["nodes"]["items"]["enum"]


def test_a_question_names_the_blocks_that_it_rests_on():
    first, second = pulled.context()["blocks"]
    model = Model.saying([said([second["node"], first["node"], second["node"]], "  How\n is it? ", False)])
    (row,) = ask(model, pulled.context())
    assert (row["status"], row["pull_id"], row["title"]) == ("ok", "shop#1", "Take the best discount")
    assert (row["question"], row["core"], row["difficulty"]) == ("How is it?", False, "hard")
    assert row["nodes"] == [first["node"], second["node"]]
    (request,) = model.requests
    assert nodes_of(request) == [first["node"], second["node"]]
    shown = request.messages[-1]["content"]
    for text in (
        "Take the best discount",
        "Customers complained",
        first["node"],
        first["text"],
        second["text"].strip(),
    ):
        assert text in shown


@pytest.mark.parametrize(
    ("count", "tokens", "scope"),
    [(1, 100, "deep"), (2, 50, "deep"), (2, 51, "broad"), (3, 1, "broad"), (1, 101, "broad")],
)
def test_deep_is_one_or_two_short_blocks(count, tokens, scope):
    context = pulled.context(blocks=blocks(4, tokens=tokens))
    named = [block["node"] for block in context["blocks"][:count]]
    (row,) = ask(Model.saying([said(named)]), context, deep_tokens=100)
    assert row["scope"] == scope


def test_the_last_blocks_are_dropped_where_the_window_is_small():
    context = pulled.context(blocks=blocks(40, text="x = compute(y)\n" * 20))
    model = Model(lambda request: said(nodes_of(request)[:1]), context=2_048)
    ask(model, context)
    (request,) = model.requests
    shown = nodes_of(request)
    assert shown == [block["node"] for block in context["blocks"][: len(shown)]]
    assert 1 < len(shown) < 40
    assert sum(estimate(message["content"]) for message in request.messages) <= 2_048 - model.max_tokens


def test_one_block_and_a_description_too_long_for_the_window_are_cut():
    context = pulled.context(
        blocks=[pulled.block(text="x = compute(y)\n" * 5_000)], title="words " * 5_000, body="more words " * 50_000
    )
    model = Model(lambda request: said(nodes_of(request)), context=2_048)
    (row,) = ask(model, context)
    assert row["nodes"] == [context["blocks"][0]["node"]]
    (request,) = model.requests
    assert 'cut="yes"' in request.messages[-1]["content"]
    assert "compute(y)" in request.messages[-1]["content"]
    assert sum(estimate(message["content"]) for message in request.messages) <= 2_048 - model.max_tokens


def test_a_schema_is_bounded_and_takes_known_nodes_only():
    small, large = (schema([str(number) for number in range(count)])["properties"]["nodes"] for count in (2, 99))
    assert (small["minItems"], small["maxItems"]) == (1, 2)
    assert (large["minItems"], large["maxItems"]) == (1, MOST_NODES)
    assert len(large["items"]["enum"]) == 99


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("{}"), "error"),
        (Reply({"nodes": ["other (x.py)"], "question": "How?", "core": True, "difficulty": "hard"}), "error"),
        (Reply({"nodes": [], "question": "How?", "core": True, "difficulty": "hard"}), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_an_answer_that_can_t_be_used_is_no_question(endpoint, tmp_path, reply, outcome):
    endpoint.reply = lambda body: reply
    with endpoint.chat(tmp_path) as chat:
        (row,) = ask(chat, pulled.context())
    assert (row["status"], row["outcome"], row.get("question")) == ("failed", outcome, None)


def test_an_empty_question_has_failed():
    (row,) = ask(Model.saying([said([pulled.block()["node"]], " ** ")]), pulled.context())
    assert (row["status"], row["reason"]) == ("failed", "the model left the question empty")


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        questions([pulled.context()], Model.saying([]), broken_prompt(tmp_path), deep_blocks=2, deep_tokens=100)


BLOCKS = st.lists(st.integers(1, 300), max_size=8).map(
    lambda sizes: [pulled.block(f"f{number}", "x.py", "word " * size) for number, size in enumerate(sizes)]
)


@given(BLOCKS, st.integers(LEAST_ROOM, 400), st.sets(st.integers(0, 7)))
def test_blocks_fit_into_their_room_and_keep_their_order(blocks, tokens, needed):
    first = {f"f{number} (x.py)" for number in needed}
    shown = fitted(blocks, tokens, first)
    names = [block["node"] for block in blocks]
    kept = [block["node"] for block in shown]
    assert kept == [name for name in names if name in kept]
    assert bool(kept) == bool(names)
    assert sum(estimate(block["text"]) + estimate(block["node"]) + TAG_TOKENS for block in shown) <= tokens
    # None is kept while one that is needed is dropped.
    if any(name in first and name not in kept for name in names):
        assert set(kept) <= first
    # Only one that stands alone may be cut.
    assert len(shown) == 1 or not any(block["cut"] for block in shown)


SAID = st.builds(
    lambda places, core, difficulty: said(
        [pulled.context()["blocks"][place]["node"] for place in places], "How?", core, difficulty
    ),
    st.lists(st.integers(0, 1), min_size=1, max_size=2),
    st.booleans(),
    st.sampled_from(DIFFICULTIES),
)


@given(st.lists(st.one_of(unusable(), SAID), max_size=5))
def test_rows_in_are_rows_out_whatever_the_model_says(answers):
    context = [pulled.context(number) for number in range(len(answers))]
    rows = ask(Model.saying(answers), *context[::-1])
    assert [row["pull_id"] for row in rows] == [row["pull_id"] for row in context]
    for row, answer in zip(rows, answers, strict=True):
        assert (row["status"] == "ok") == (answer.outcome == "ok")
        assert bool(row.get("nodes")) == (answer.outcome == "ok")
