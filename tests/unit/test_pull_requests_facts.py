"""pull_answers → pull_facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulled
from devqa.errors import UserError
from devqa.pull_requests.questions.facts import (
    NO_FACT,
    NO_VITAL_FACT,
    NOT_SUPPORTED,
    RESTATED,
    TWICE,
    facts,
    schema,
    supported,
)
from devqa.pull_requests.questions.stopwords import FILLING, STOP_WORDS
from devqa.pull_requests.questions.verdicts import numbered_schema
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

CUT, SUPPORT = prompt("pull_requests/facts"), prompt("pull_requests/support")


def cut(chat, *answers, most=35):
    rows = facts(answers, chat, CUT, most=most)
    assert_sound(rows, "pull_facts")
    return rows


def judge(chat, rows, answers=None, context=None):
    answers = answers or [pulled.answer(row["number"]) for row in rows]
    rows = supported(rows, answers, context or [pulled.context(row["number"]) for row in rows], chat, SUPPORT)
    assert_sound(rows, "pull_facts")
    return rows


def said(*entries):
    return answered({"facts": [{"fact": fact, "importance": importance} for fact, importance in entries]})


def verdicts(*values):
    return answered({str(number): {"reason": "because", "supported": value} for number, value in enumerate(values, 1)})


TWO = said(("The largest discount is taken.", "vital"), ("Below ten items there is none.", "okay"))


def test_an_answer_is_cut_into_numbered_facts():
    model = Model.saying([TWO])
    (row,) = cut(model, pulled.answer(), most=7)
    assert row["facts"] == [
        {"number": 1, "fact": "The largest discount is taken.", "importance": "vital"},
        {"number": 2, "fact": "Below ten items there is none.", "importance": "okay"},
    ]
    (request,) = model.requests
    assert request.schema == schema(7)
    assert "at most 7 facts" in request.messages[0]["content"]
    assert pulled.QUESTION in request.messages[-1]["content"]
    assert pulled.ANSWER in request.messages[-1]["content"]
    # The facts are of the answer, not of the code.
    assert pulled.block()["text"].strip() not in str(request.messages)


@pytest.mark.parametrize(
    ("question", "entries", "kept"),
    [
        ("What is it?", [("It is ten.", "vital"), ("it is  *ten*", "okay"), (" ", "okay")], ["It is ten."]),
        (
            "How does the loader cache a template?",
            [("The loader caches templates.", "okay"), ("It keeps 400 templates.", "vital")],
            ["It keeps 400 templates."],
        ),
        # Words of the question may be the answer.
        (
            "Does the loader cache templates?",
            [("The loader caches templates.", "vital")],
            ["The loader caches templates."],
        ),
        ("Which is cached, code or text?", [("Code is cached.", "vital")], ["Code is cached."]),
        ("When does the loader cache?", [("The loader does not cache.", "vital")], ["The loader does not cache."]),
    ],
)
def test_what_comes_twice_or_stands_in_the_question_is_no_fact(question, entries, kept):
    (row,) = cut(Model.saying([said(*entries)]), pulled.answer(question=question))
    open_ = [entry for entry in row["facts"] if "supported" not in entry]
    assert [(entry["number"], entry["fact"]) for entry in open_] == list(enumerate(kept, 1))
    assert row["status"] == "ok"


@pytest.mark.parametrize(
    ("reply", "reason", "count"),
    [
        (said(), NO_FACT, 0),
        (said((" ", "vital")), NO_FACT, 0),
        (said(("The basket decides which discount a customer gets.", "vital")), NO_FACT, 1),
        (said(("It is ten.", "okay")), NO_VITAL_FACT, 1),
    ],
)
def test_an_answer_without_a_vital_fact_is_rejected_and_not_judged(reply, reason, count):
    rows = cut(Model.saying([reply]), pulled.answer())
    assert (rows[0]["status"], rows[0]["reason"], len(rows[0]["facts"])) == ("rejected", reason, count)
    assert judge(Model.saying([]), rows) == rows


def test_facts_that_the_context_does_not_support_stay_in_the_table():
    rows = cut(Model.saying([TWO, TWO, TWO]), *(pulled.answer(number) for number in (1, 2, 3)))
    model = Model.saying([verdicts(True, True), verdicts(True, False), verdicts(False, True)], label="another")
    rows = judge(model, rows)
    assert [(row["status"], row["reason"]) for row in rows] == [("ok", ""), ("ok", ""), ("rejected", NOT_SUPPORTED)]
    assert [[entry["supported"] for entry in row["facts"]] for row in rows] == [
        [True, True],
        [True, False],
        [False, True],
    ]
    assert {entry["reason"] for row in rows for entry in row["facts"]} == {"because"}
    # What both models took is counted, each apart.
    assert [entry["model"] for entry in rows[0]["usage"]] == ["another", "stand-in"]
    assert model.requests[0].schema == numbered_schema("supported", 2, 100)
    shown = model.requests[0].messages[-1]["content"]
    for text in ('number="2">Below ten items', pulled.QUESTION, pulled.block()["text"].strip()):
        assert text in shown


def test_each_fact_has_one_verdict():
    wanted = numbered_schema("supported", 3, 100)
    assert list(wanted["properties"]) == wanted["required"] == ["1", "2", "3"]


def test_what_is_no_fact_stays_in_the_table_and_is_not_held_against_the_code():
    entries = said(
        ("The basket decides which discount a customer gets.", "vital"),
        ("The largest one.", "vital"),
        ("the *largest* one", "vital"),
        ("Ten at most.", "okay"),
    )
    rows = cut(Model.saying([entries]), pulled.answer())
    model = Model.saying([verdicts(True, False)])
    (row,) = judge(model, rows)
    assert [tuple(entry[key] for key in ("number", "fact", "supported", "reason")) for entry in row["facts"]] == [
        (1, "The largest one.", True, "because"),
        (2, "Ten at most.", False, "because"),
        (3, "The basket decides which discount a customer gets.", False, RESTATED),
        (4, "the *largest* one", False, TWICE),
    ]
    (request,) = model.requests
    assert request.schema == numbered_schema("supported", 2, 100)
    assert "The basket decides" not in request.messages[-1]["content"]


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("How many threads does the pool start at most?", "The pool starts at most one thread."),
        ("How many locks does the writer hold?", "The writer holds two locks."),
        ("When does the session token expire?", "The session token expires after use."),
        ("When are hooks called?", "Hooks are called before."),
        ("Which handlers does the bus call?", "The bus calls all handlers."),
        ("How often does the client retry a request?", "The client retries a request once."),
        ("Which of the pool and the queue is emptied first?", "The pool is emptied first."),
        ("What does the loader do with templates?", "The loader does nothing with templates."),
    ],
)
def test_a_fact_that_says_more_than_the_question_is_one(question, fact):
    (row,) = cut(Model.saying([said((fact, "vital"))]), pulled.answer(question=question))
    assert ([entry["fact"] for entry in row["facts"]], row["status"]) == ([fact], "ok")


@given(st.sampled_from(sorted(STOP_WORDS - FILLING)), st.integers(0, 4))
def test_whatever_word_a_fact_adds_to_the_question_it_is_one(word, place):
    said_before = ["the", "loader", "caches", "a", "template"]
    fact = " ".join([*said_before[:place], word, *said_before[place:]])
    question = "Does " if word == "how" else "How does "
    (row,) = cut(
        Model.saying([said((fact, "vital"))]), pulled.answer(question=f"{question}the loader cache a template?")
    )
    assert row["status"] == "ok"


LINE_ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\0", "\x1b", "\u202e", "\u2066"]


@given(st.lists(st.sampled_from(["A is one.", "2. ", "The sky is blue.", " ", *LINE_ENDS]), max_size=8).map("".join))
def test_each_fact_is_one_clean_line(text):
    (row,) = cut(Model.saying([said((text, "vital"), ("It is ten.", "vital"))]), pulled.answer())
    for entry in row["facts"]:
        assert entry["fact"].isprintable()
        assert len(entry["fact"].splitlines()) == 1
    shown = prompt("pull_requests/judge").messages(
        {}, {"question": "q", "predicted": "p", "facts": [entry["fact"] for entry in row["facts"]]}
    )[-1]["content"]
    listed = shown.split("<facts>\n")[1].split("\n</facts>")[0].splitlines()
    assert [line.split(". ")[0] for line in listed] == [str(entry["number"]) for entry in row["facts"]]


def test_blocks_that_the_question_rests_on_are_the_last_to_go():
    blocks = [pulled.block(f"step{number}", f"shop/{number}.py", "x = compute(y)\n" * 20) for number in range(40)]
    model = Model.saying([verdicts(True, True)], context=2_048)
    rows = cut(Model.saying([TWO]), pulled.answer())
    judge(model, rows, [pulled.answer(nodes=[blocks[39]["node"]])], [pulled.context(blocks=blocks)])
    shown = model.requests[0].messages[-1]["content"]
    assert blocks[39]["node"] in shown
    assert blocks[38]["node"] not in shown


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("yes"), "error"),
        (Reply({"1": {"reason": "", "supported": True}}), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_verdicts_that_can_t_be_read_are_none(endpoint, tmp_path, reply, outcome):
    endpoint.reply = lambda body: reply
    rows = cut(Model.saying([TWO]), pulled.answer())
    with endpoint.chat(tmp_path) as chat:
        (row,) = judge(chat, rows)
    assert (row["status"], row["outcome"], len(row["facts"])) == ("failed", outcome, 2)
    assert [entry.get("supported") for entry in row["facts"]] == [None, None]


def test_facts_that_can_t_be_read_are_none(endpoint, tmp_path):
    endpoint.reply = lambda body: {"facts": [{"fact": "It is ten.", "importance": "great"}]}
    with endpoint.chat(tmp_path) as chat:
        (row,) = cut(chat, pulled.answer())
    assert (row["status"], row["outcome"], row["facts"]) == ("failed", "error", [])


def test_variables_that_no_step_gives_are_named(tmp_path):
    broken = broken_prompt(tmp_path)
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        facts([pulled.answer()], Model.saying([]), broken, most=3)
    rows = cut(Model.saying([TWO]), pulled.answer())
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        supported(rows, [pulled.answer()], [pulled.context()], Model.saying([]), broken)


ENTRY = st.tuples(st.sampled_from(["", "It is ten.", "It is 11.", "A.", "b"]), st.sampled_from(["vital", "okay"]))
FIRST = st.one_of(unusable(), st.lists(ENTRY, max_size=4).map(lambda entries: said(*entries)))
SECOND = st.one_of(unusable(), st.lists(st.booleans(), min_size=4, max_size=4))


@given(st.lists(st.tuples(FIRST, SECOND), max_size=5))
def test_rows_in_are_rows_out_whatever_the_models_say(replies):
    answers = [pulled.answer(number) for number in range(len(replies))]
    rows = cut(Model.saying([first for first, _ in replies]), *answers[::-1])
    assert [row["pull_id"] for row in rows] == [row["pull_id"] for row in answers]
    open_ = [
        verdicts(*second[: sum("supported" not in entry for entry in row["facts"])])
        if isinstance(second, list)
        else second
        for row, (_, second) in zip(rows, replies, strict=True)
        if row["status"] == "ok"
    ]
    model = Model.saying(open_)
    judged = judge(model, rows)
    assert len(model.requests) == len(open_)
    for row, (first, second) in zip(judged, replies, strict=True):
        assert [entry["number"] for entry in row["facts"]] == list(range(1, len(row["facts"]) + 1))
        good = any(entry.get("supported") and entry["importance"] == "vital" for entry in row["facts"])
        assert (row["status"] == "ok") == good
        asked = any(entry["importance"] == "vital" and entry.get("reason") != TWICE for entry in row["facts"])
        assert (row["status"] == "failed") == (first.outcome != "ok" or (asked and not isinstance(second, list)))
