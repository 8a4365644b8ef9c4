"""condensed → pairs."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devqa.errors import UserError
from devqa.prompts import Prompt
from devqa.steps.generate import generate, schema
from devqa.tokens import estimate
from replies import reply
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, reference_row, unusable

TEXT = "client_max_body_size sets the limit.\nIts default is `1m`.\nA larger body gets the error 413."


def dialogue(name="d", language="en"):
    messages = [{"role": "user", "content": f"question of {name}"}, {"role": "assistant", "content": "wrong"}]
    return {
        "dialogue_id": name,
        "source": "s",
        "language": language,
        "messages": messages,
        "model": "m",
        "status": "ok",
    }


def document(name="d", rank=1, text=TEXT):
    return reference_row(name, rank, text)


def subject(name="d", *queries):
    return {"dialogue_id": name, "topics": ["nginx"], "queries": [*queries]}


def generated(dialogues, documents, model, pairs=2, tokens=500, demonstrations=1, pages=None, queries=()):
    return generate(
        dialogues,
        documents,
        documents if pages is None else pages,
        queries,
        model,
        prompt("generate"),
        pairs=pairs,
        reference_tokens=tokens,
        demonstrations=demonstrations,
    )


def pair(sentences=(2,), question="What is the default?", answer="1m"):
    return {"sentences": [*sentences], "question": question, "answer": answer}


def one(*documents, **changes):
    """The row of the only pair that a model gives."""
    answer = answered({"pairs": [pair(**changes)]})
    (row,) = generated([dialogue()], documents or [document()], Model.saying([answer]), pairs=1)
    assert_sound([row], "pairs")
    return row


def test_a_faithful_model_gives_pairs_for_every_dialogue(endpoint, tmp_path):
    endpoint.clear()
    endpoint.reply = reply
    with endpoint.chat(tmp_path) as chat:
        rows = generated(
            [dialogue("b"), dialogue("a")], [document("b"), document("a", 2), document("a", 1, "A fact. " * 9)], chat
        )
    assert_sound(rows, "pairs")
    assert [(row["dialogue_id"], row["number"], row["status"]) for row in rows] == [
        ("a", 1, "ok"),
        ("a", 2, "ok"),
        ("b", 1, "ok"),
        ("b", 2, "ok"),
    ]
    assert [reference["url"] for reference in rows[0]["references"]] == ["https://e/1", "https://e/2"]
    assert len({row["pair_id"] for row in rows}) == 4
    assert endpoint.count == 2


def test_the_model_sees_what_the_user_said_and_not_the_assistant():
    model = Model.saying([answered({"pairs": [pair()]})])
    generated([dialogue(language="zh")], [document()], model, pairs=1)
    last = model.requests[0].messages[-1]["content"]
    assert "question of d" in last
    assert "wrong" not in last
    assert "Language: zh" in last


def test_a_pair_has_the_language_that_it_is_written_in():
    assert one(question="Каково значение client_max_body_size по умолчанию?")["language"] == "ru"
    assert one(question="413?")["language"] == "en"


def test_one_answer_is_paid_for_once_though_it_becomes_several_rows():
    rows = generated([dialogue()], [document()], Model.saying([answered({"pairs": [pair()] * 3})]), pairs=3)
    assert [len(row["usage"]) for row in rows] == [1, 0, 0]
    assert len({row["pair_id"] for row in rows}) == 3


@pytest.mark.parametrize(
    ("said", "outcome"),
    [(Reply(None, refusal="no"), "refused"), (Reply({"pairs": [pair()]}), "error"), (Reply(""), "empty")],
)
def test_an_answer_that_can_t_be_used_fails_all_pairs_of_its_dialogue_and_no_other(endpoint, tmp_path, said, outcome):
    def answer(body):
        bad = "question of bad" in str(body["messages"])
        return said if bad else {"pairs": [pair(), pair(question="Another?")]}

    endpoint.reply = answer
    with endpoint.chat(tmp_path) as chat:
        rows = generated([dialogue("bad"), dialogue("good")], [document("bad"), document("good")], chat)
    assert_sound(rows, "pairs")
    assert [row["status"] for row in rows] == ["failed", "failed", "ok", "ok"]
    assert {row["outcome"] for row in rows[:2]} == {outcome}


@pytest.mark.parametrize("documents", [[], [document(text=" \n")], [document("another dialogue")]])
def test_without_references_nothing_is_asked_and_the_rows_are_there(documents):
    model = Model.saying([])
    rows = generated([dialogue()], documents, model)
    assert_sound(rows, "pairs")
    assert [(row["status"], row["reason"]) for row in rows] == [("rejected", "no usable reference")] * 2
    assert model.requests == []
    assert len({row["pair_id"] for row in rows}) == 2


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({}, "ok", ""),
        ({"question": " \n"}, "failed", "the model left the question or the answer empty"),
        ({"question": "**\u200b**"}, "failed", "the model left the question or the answer empty"),
        ({"answer": "\u3000"}, "failed", "the model left the question or the answer empty"),
        ({"answer": "*"}, "ok", ""),
        ({"answer": "\ud7ff🧪"}, "ok", ""),
    ],
)
def test_a_pair_must_be_whole(changes, status, reason):
    row = one(**changes)
    assert (row["status"], row["reason"]) == (status, reason)


def test_the_cited_sentences_are_the_supports_each_with_its_reference():
    row = one(document(rank=1, text="Something else."), document(rank=2), sentences=[3, 1.0, 3])
    assert row["supports"] == [
        {"reference": 2, "span": "Its default is `1m`.", "match": "exact"},
        {"reference": 1, "span": "Something else.", "match": "exact"},
    ]
    for support in row["supports"]:
        assert support["span"] in row["references"][support["reference"] - 1]["text"]


def test_fewer_pairs_than_asked_for_are_failures_of_the_rest():
    rows = generated([dialogue()], [document()], Model.saying([answered({"pairs": [pair()]})]), pairs=3)
    assert [row["status"] for row in rows] == ["ok", "failed", "failed"]


def test_a_sentence_that_the_page_does_not_have_can_t_be_cited():
    copied = document(text="The limit is 1m by default.\nIt is never checked.\nA larger body gets the error 431.")
    page = document(text="The limit is `1m` by default.\nIt is checked.\nA larger body gets the error 413.")
    model = Model.saying([answered({"pairs": [pair([1])]})])
    (row,) = generated([dialogue()], [copied], model, pairs=1, pages=[page])
    assert row["supports"] == [{"reference": 1, "span": "The limit is 1m by default.", "match": "near"}]
    shown = model.requests[0].messages[-1]["content"]
    assert "[1] The limit is 1m by default.\nIt is never checked.\nA larger body" in shown
    sentences = model.requests[0].schema["properties"]["pairs"]["items"]["properties"]["sentences"]
    assert sentences["items"]["maximum"] == 1


@pytest.mark.parametrize("pages", [[], [document(text="Something else stands here.")], [document(rank=2)]])
def test_where_no_sentence_stands_in_its_page_nothing_is_asked(pages):
    model = Model.saying([])
    rows = generated([dialogue()], [document()], model, pages=pages)
    assert_sound(rows, "pairs")
    reason = "no sentence of its references stands in their pages"
    assert [(row["status"], row["reason"]) for row in rows] == [("rejected", reason)] * 2
    assert rows[0]["references"][0]["text"] == TEXT


FILLER = "\n\n".join(f"Nothing of interest is said in paragraph {number} of this page." for number in range(60))


def test_of_long_documents_the_passages_are_shown_that_the_dialogue_is_about():
    documents = [
        document(rank=1, text=f"# Weather\n\n{FILLER}"),
        document(rank=2, text=f"# Core\n\n{FILLER}\n\n## Limits\n\n{TEXT}\n\n## More\n\n{FILLER}"),
        document(rank=3, text="Короткий документ целиком."),
    ]
    model = Model.saying([answered({"pairs": [pair([1])]})])
    queries = [subject("d", "client_max_body_size error 413"), subject("another", "weather")]
    (row,) = generated([dialogue()], documents, model, pairs=1, tokens=200, queries=queries)
    core = next(reference for reference in row["references"] if reference["url"].endswith("2"))
    assert TEXT in core["text"]
    assert core["text"].count("\n[…]\n") >= 1
    assert sum(estimate(reference["text"]) for reference in row["references"]) <= 200
    shown = model.requests[0].messages[-1]["content"]
    assert "] […]" not in shown
    for support in row["supports"]:
        assert support["span"] in row["references"][support["reference"] - 1]["text"]


def test_a_sentence_that_a_passage_breaks_off_has_no_number():
    text = "Before it. Now " + "endless words and " * 200 + "an end. After it."
    model = Model.saying([answered({"pairs": [pair([1, 2])]})])
    (row,) = generated([dialogue()], [document(text=text)], model, pairs=1, tokens=100)
    assert [support["span"] for support in row["supports"]] == ["Before it.", "After it."]
    assert "\n[2] After" not in model.requests[0].messages[-1]["content"]
    assert "endless words" in row["references"][0]["text"]
    assert model.requests[0].schema["properties"]["pairs"]["items"]["properties"]["sentences"]["items"]["maximum"] == 2


def test_the_prompt_stays_within_the_model_s_context():
    model = Model.saying([answered({"pairs": [pair([1])]})], context=4000)
    asker = dialogue()
    asker["messages"][0]["content"] = "why? " * 5000
    text = "\n\n".join(f"Sentence {number} states a fact about long words." for number in range(2000))
    generated([asker], [document(text=text)], model, pairs=1, tokens=16_000, demonstrations=3)
    sent = sum(estimate(message["content"]) for message in model.requests[0].messages)
    assert 2900 < sent <= model.context - model.max_tokens


@settings(max_examples=50)
@given(st.lists(st.text("ab#`. \n", max_size=300), max_size=4), st.integers(50, 400))
def test_whatever_the_documents_all_fits_and_every_support_stands_in_its_reference_and_its_page(texts, tokens):
    model = Model(lambda request: answered({"pairs": [pair([1])]}))
    documents = [document(rank=rank, text=text) for rank, text in enumerate(texts)]
    (row,) = generated([dialogue()], documents, model, pairs=1, tokens=tokens, queries=[subject("d", "ab aa")])
    assert sum(estimate(reference["text"]) for reference in row["references"]) <= tokens
    for support in row.get("supports", []):
        reference = row["references"][support["reference"] - 1]
        assert support["span"] in reference["text"]
        page = next(each["text"] for each in documents if each["url"] == reference["url"])
        assert " ".join(support["span"].split()) in " ".join(page.split())


def test_a_template_may_look_at_the_first_turn_and_the_first_document(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "system.j2").write_text("Write {{ pairs }}")
    (tmp_path / "own" / "user.j2").write_text("{{ dialogue[0].content }} {{ references[0].text }}")
    model = Model.saying([answered({"pairs": [pair()]})])
    own = Prompt(tmp_path, "own")
    generate([dialogue()], [document()], [document()], [], model, own, pairs=1, reference_tokens=100, demonstrations=0)
    first, *_ = model.requests[0].messages[-1]["content"].splitlines()
    assert first == "question of d [1] client_max_body_size sets the limit."


def test_a_pair_keeps_its_name_while_its_words_stay_the_same():
    first, second = one(), one()
    assert first["pair_id"] == second["pair_id"]
    assert one(answer="2m")["pair_id"] != first["pair_id"]


def test_the_schema_allows_only_sentences_that_exist():
    items = schema(2, 3)["properties"]["pairs"]
    assert (items["minItems"], items["maxItems"]) == (2, 2)
    sentences = items["items"]["properties"]["sentences"]
    assert (sentences["items"]["minimum"], sentences["items"]["maximum"], sentences["minItems"]) == (1, 3, 1)


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        broken = broken_prompt(tmp_path)
        generate([dialogue()], [], [], [], Model.saying([]), broken, pairs=1, reference_tokens=50, demonstrations=0)


PAIRS = st.lists(
    st.builds(
        pair,
        sentences=st.sampled_from([[1], [1.0, 2], [3, 3]]),
        question=st.text(max_size=5),
        answer=st.text(max_size=5),
    ),
    max_size=4,
)
ANSWERS = st.one_of(unusable(), st.builds(lambda pairs: answered({"pairs": pairs}), PAIRS))


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from("abcdef"), st.booleans()), st.integers(1, 4), st.data())
def test_pairs_times_dialogues_rows_whatever_the_model_says(dialogues, pairs, data):
    grounded = [name for name, has_documents in dialogues.items() if has_documents]
    answers = data.draw(st.lists(ANSWERS, min_size=len(grounded), max_size=len(grounded)))
    model = Model.saying(answers)
    rows = generated([dialogue(name) for name in dialogues], [document(name) for name in grounded], model, pairs)
    assert_sound(rows, "pairs")
    assert Counter(row["dialogue_id"] for row in rows) == dict.fromkeys(dialogues, pairs)
    assert len({row["pair_id"] for row in rows}) == len(rows)
    assert sum(entry["calls"] for row in rows for entry in row["usage"]) == len(grounded) == len(model.requests)
    for row in rows:
        if row["status"] == "ok":
            assert row["question"].strip() and row["answer"].strip() and row["supports"][0]["span"]
