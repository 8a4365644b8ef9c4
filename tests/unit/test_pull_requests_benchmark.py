"""context, checked, facts → the benchmark of questions from pull requests."""

import hashlib

import pulled
from devqa import tables
from devqa.pull_requests.questions.rows import benchmark, identifier, parts
from devqa.tables import SCHEMAS

MODELS = [{"step": "question", "model": "m", "endpoint": "e"}]
PROMPTS = [{"step": "question", "sha256": "0" * 64}]


def made(facts, context=None, checked=None):
    numbers = [row["number"] for row in facts]
    rows = benchmark(
        {"shop": pulled.REPOSITORY},
        context or [pulled.context(number) for number in numbers],
        checked or [pulled.checked(number) for number in numbers],
        facts,
        MODELS,
        PROMPTS,
    )
    assert all(row.keys() == set(SCHEMAS["repository_benchmark"].names) for row in rows)
    return rows


def test_a_row_has_what_each_step_gave():
    (row,) = made([pulled.facts()])
    assert (row["name"], row["url"], row["commit"]) == ("acme/shop", "https://code.example/acme/shop", pulled.COMMIT)
    assert (row["pull_id"], row["number"], row["title"]) == ("shop#1", 1, "Take the best discount")
    assert (row["question"], row["answer"]) == (pulled.QUESTION, pulled.ANSWER)
    assert (row["scope"], row["core"], row["difficulty"], row["searchable"]) == ("deep", True, "moderate", True)
    assert row["context"] == pulled.context()["blocks"]
    counts = ("n_context_nodes", "n_context_files", "n_files_pr", "n_found_files")
    assert [row[name] for name in counts] == [1, 1, 2, 1]
    assert (row["models"], row["prompts"]) == (MODELS, PROMPTS)
    content = "\0".join(("acme/shop", pulled.COMMIT, "shop#1", pulled.QUESTION))
    assert row["id"] == hashlib.sha256(content.encode()).hexdigest()[:16]


def test_counts_are_of_the_blocks_that_the_question_rests_on():
    blocks = [
        pulled.block("a", "x.py"),
        pulled.block("b", "x.py"),
        pulled.block("c", "y.py"),
        pulled.block("d", "z.py"),
    ]
    nodes = [block["node"] for block in blocks[:3]]
    (row,) = made([pulled.facts()], [pulled.context(blocks=blocks, n_files_pr=9)], [pulled.checked(nodes=nodes)])
    assert (row["n_context_nodes"], row["n_context_files"], row["n_files_pr"]) == (3, 2, 9)
    assert len(row["context"]) == 4


def test_facts_without_support_are_left_out_and_keep_no_verdict():
    entries = [pulled.fact(1, supported=False), pulled.fact(2, "B"), pulled.fact(3, "C", importance="okay")]
    (row,) = made([pulled.facts(entries=entries)])
    assert row["facts"] == [
        {"number": 2, "fact": "B", "importance": "vital"},
        {"number": 3, "fact": "C", "importance": "okay"},
    ]


def test_rows_are_those_with_facts_sorted_by_id():
    numbers = range(1, 9)
    rows = benchmark(
        {"shop": pulled.REPOSITORY},
        [pulled.context(number) for number in numbers],
        [pulled.checked(number) for number in numbers],
        [pulled.facts(number) for number in (7, 2, 5)],
        [],
        [],
    )
    assert {row["number"] for row in rows} == {2, 5, 7}
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)


def test_other_facts_leave_the_questions_to_the_byte(tmp_path):
    def written(name, table, facts):
        path = tmp_path / name
        tables.write(parts(made(facts), table), table, path)
        return path.read_bytes()

    one = [pulled.facts(1), pulled.facts(2)]
    other = [pulled.facts(2, [pulled.fact(1, "Something else.")]), pulled.facts(1)]
    questions, facts = "repository_questions", "repository_facts"
    assert written("a", questions, one) == written("b", questions, other)
    assert written("c", facts, one) != written("d", facts, other)
    assert [row["id"] for row in tables.read(tmp_path / "a", questions)] == [
        row["id"] for row in tables.read(tmp_path / "c", facts)
    ]


def test_an_identifier_stays_while_repository_commit_pull_request_and_question_do():
    given = ("acme/shop", pulled.COMMIT, "shop#1", "How?")
    others = [(*given[:place], "else", *given[place + 1 :]) for place in range(4)]
    assert len({identifier(*each) for each in (given, given, *others)}) == 5


def test_rows_that_other_tests_build_are_rows_of_their_tables(tmp_path):
    built = {
        "context": pulled.context(),
        "blocks": pulled.definition(),
        "pull_questions": pulled.question(),
        "pull_checked": pulled.checked(),
        "pull_answers": pulled.answer(),
        "pull_facts": pulled.facts(),
        "repository_questions": pulled.benchmark_question(),
        "repository_facts": pulled.benchmark_facts(),
    }
    for name, row in built.items():
        tables.write([row], name, tmp_path / name)
        assert row.keys() == set(SCHEMAS[name].names), name
    (row,) = made([pulled.facts()])
    assert parts([row], "repository_questions") == [pulled.benchmark_question()]
    assert parts([row], "repository_facts") == [pulled.benchmark_facts()]
