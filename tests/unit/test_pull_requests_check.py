"""pull_questions → pull_checked."""

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulled
from devqa import tables
from devqa.errors import UserError
from devqa.pull_requests.questions import rules
from devqa.pull_requests.questions.checking import CRITERIA, check, known, read_files, with_searches
from devqa.steps.outcomes import rejected
from scripted import Reply
from standins import Model, answered, assert_sound, broken_prompt, prompt, unusable

PROMPT = prompt("pull_requests/check")
DEFINITIONS = [
    pulled.definition("", end_line=90),
    pulled.definition("Basket", kind="class", start_line=1, end_line=50),
    pulled.definition("Basket.discount", start_line=5, end_line=9),
    pulled.definition("Basket.close#2", start_line=60, end_line=70),
    pulled.definition("", "shop/till.py"),
    pulled.definition("ring_up", "shop/till.py"),
    pulled.definition("", "logo.png", **rejected("binary")),
]


@pytest.fixture
def blocks(tmp_path):
    path = tmp_path / "blocks.parquet"
    tables.write(DEFINITIONS, "blocks", path)
    return path


def repository(folder):
    """A repository with two files that are read: its origin, its commit, and its table `blocks`."""
    git = pygit2.init_repository(folder / "shop")
    files = {"shop/basket.py": b"a discount", "shop/till.py": b"a DISCOUNT, a customer", "logo.png": b"discount"}
    for path, content in files.items():
        git.index.add(pygit2.IndexEntry(path, git.create_blob(content), pygit2.enums.FileMode.BLOB))
    author = pygit2.Signature("Ann", "ann@example.org", 0, 0)
    commit = git.create_commit("HEAD", author, author, "all", git.index.write_tree(), [])
    rows = [{**row, "blob": str(git.create_blob(files[row["path"]]))} for row in DEFINITIONS]
    tables.write(rows, "blocks", folder / "blocks.parquet")
    origin = {"label": "shop", "path": str(folder / "shop"), "url": "", "name": "acme/shop"}
    return origin, str(commit), folder / "blocks.parquet"


def judged(*passed):
    return {name: {"reason": f"because {name}", "passed": value} for name, value in zip(CRITERIA, passed, strict=True)}


def things(context):
    nothing = rules.Known("", "", "", frozenset(), frozenset())
    return {row["pull_id"]: nothing for row in context}


def checked(chat, *questions, context=None):
    context = context or [pulled.context(row["number"]) for row in questions]
    rows = check(questions, context, things(context), chat, PROMPT)
    assert_sound(rows, "pull_checked")
    return rows


def test_what_is_known_of_a_question_s_context(blocks):
    whole = pulled.block("Basket", kind="class", start_line=1, end_line=50, text="class Basket: ...")
    file = pulled.block("", "shop/till.py", text="def ring_up(): ...")
    one, other = known(
        blocks,
        [
            pulled.context(1, [whole]),
            pulled.context(2, [file, pulled.block("Basket.close#2", start_line=60, end_line=70)]),
        ],
        "acme/shop",
    ).values()
    assert one.names == {"Basket", "discount"}
    assert one.classes == {"Basket"}
    assert other.names == {"ring_up", "close"}
    assert (one.text, one.name) == ("class Basket: ...", "acme/shop")
    # Files that are not read are in the repository all the same.
    assert one.paths == "/logo.png/\n/shop/basket.py/\n/shop/till.py/"


def test_a_question_that_breaks_a_rule_is_sent_to_nobody():
    model = Model.saying([answered(judged(*[True] * 5))])
    one, other = checked(model, pulled.question(1, question="What does `max` do here?"), pulled.question(2))
    assert (one["status"], one["reason"]) == ("rejected", "holds code")
    assert (one["outcome"], one["usage"]) == (None, [])
    assert [entry["criterion"] for entry in one["criteria"]] == [*rules.RULES]
    assert (other["status"], other["outcome"]) == ("ok", "ok")
    assert [entry["criterion"] for entry in other["criteria"]] == [*rules.RULES, *CRITERIA]
    (request,) = model.requests
    assert pulled.QUESTION in request.messages[-1]["content"]
    assert pulled.block()["text"].strip() in request.messages[-1]["content"]


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        ((False, True, True, True, True), "is not self-contained"),
        ((True, False, False, True, True), "is not answered by the context, has no short answer"),
        ((True, True, True, False, False), "gives away where to look, is about the change, not the code"),
    ],
)
def test_a_criterion_that_is_missed_rejects_and_every_reason_is_kept(passed, reason):
    (row,) = checked(Model.saying([answered(judged(*passed))]), pulled.question())
    assert (row["status"], row["reason"]) == ("rejected", reason)
    said = row["criteria"][len(rules.RULES) :]
    assert [(entry["passed"], entry["reason"]) for entry in said] == [
        (value, f"because {name}") for name, value in zip(CRITERIA, passed, strict=True)
    ]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(None, refusal="no"), "refused"),
        (Reply("{}"), "error"),
        (Reply(judged(True, True, None, True, True)), "error"),
        (Reply("", finish_reason="length"), "truncated"),
    ],
)
def test_a_judge_that_can_t_be_read_neither_passes_nor_rejects(endpoint, tmp_path, reply, outcome):
    endpoint.reply = lambda body: reply
    with endpoint.chat(tmp_path) as chat:
        (row,) = checked(chat, pulled.question())
    assert (row["status"], row["outcome"]) == ("failed", outcome)
    assert [entry["criterion"] for entry in row["criteria"]] == [*rules.RULES]


def test_blocks_that_the_question_rests_on_are_the_last_to_go():
    many = [pulled.block(f"step{number}", f"shop/{number}.py", "x = compute(y)\n" * 20) for number in range(40)]
    model = Model(lambda request: answered(judged(*[True] * 5)), context=2_500)
    checked(model, pulled.question(nodes=[many[39]["node"]]), context=[pulled.context(blocks=many)])
    shown = model.requests[0].messages[-1]["content"]
    assert many[39]["node"] in shown
    assert many[0]["node"] in shown
    assert many[38]["node"] not in shown


def test_searches_are_made_for_what_is_ok(tmp_path):
    origin, commit, blocks = repository(tmp_path)
    rows = [
        pulled.checked(1, searchable=None, found_by=None, n_found_files=None),
        pulled.checked(2, question="What is sought in vain?"),
        pulled.checked(3, **rejected("holds code")),
    ]
    files = list(read_files(blocks, origin, commit, tmp_path, offline=True))
    assert files == [("shop/basket.py", b"a discount"), ("shop/till.py", b"a DISCOUNT, a customer")]
    context = [pulled.context(number) for number in (1, 2, 3)]
    found = with_searches(rows, context, files, 2)
    assert_sound(found, "pull_checked")
    assert [(row["searchable"], row["found_by"], row["n_found_files"]) for row in found] == [
        # The customer is in the other file.
        (True, ["discount"], 1),
        (False, [], 0),
        (None, None, None),
    ]
    # One file too many.
    assert with_searches(rows[:1], context, files, 1)[0]["searchable"] is False


def test_no_repository_is_opened_for_questions_that_are_out(tmp_path):
    rows = [pulled.checked(1, **rejected("holds code"))]
    files = read_files(tmp_path / "none", {"label": "gone", "path": str(tmp_path / "gone")}, "", tmp_path, offline=True)
    assert with_searches(rows, [pulled.context()], files, 1)[0]["searchable"] is None


def test_a_variable_that_no_step_gives_is_named(tmp_path):
    context = [pulled.context()]
    with pytest.raises(UserError, match="'misspelt' is undefined"):
        check([pulled.question()], context, things(context), Model.saying([]), broken_prompt(tmp_path))


USABLE = st.builds(lambda passed: answered(judged(*passed)), st.tuples(*[st.booleans()] * 5))


@given(st.lists(st.tuples(st.booleans(), st.one_of(unusable(), USABLE)), max_size=6))
def test_no_row_is_lost_and_only_what_passes_all_is_ok(said):
    given_ = [
        pulled.question(number, **({} if fine else {"question": "No question"}))
        for number, (fine, _) in enumerate(said)
    ]
    rows = checked(Model.saying([answer for fine, answer in said if fine]), *given_[::-1])
    assert [row["pull_id"] for row in rows] == [row["pull_id"] for row in given_]
    for row, (fine, answer) in zip(rows, said, strict=True):
        passed = fine and bool(answer.data) and all(answer.data[name]["passed"] for name in CRITERIA)
        assert (row["status"] == "ok") == passed
        assert (row["status"] == "failed") == (fine and answer.outcome != "ok")
