"""The blocks of a repository that fit a question best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables
from devqa.pull_requests.agents import retrieving
from devqa.pull_requests.agents.retrieving import code_words, indexed, partition, retrieve
from devqa.pull_requests.repositories.repository import open_repository
from devqa.steps.outcomes import OK, rejected
from devqa.tokens import estimate
from exported import LABEL, commit_of, question, store

BASKET = b'''"""What a customer buys."""

import money


class Basket:
    """Keeps what is bought."""

    def __init__(self):
        self.items = []

    def bestDiscount(self, customer_group):
        def inner():
            return "nested helper"
        return max(inner())

    limit = 10


print("shipping is free above the threshold")
'''
TILL = b"def total(items):\n    return sum(items)\n"


def definition(name, kind, path, start, end):
    node = f"{name} ({path})" if name else path
    row = {"node": node, "kind": kind, "path": path, "language": "python", "start_line": start, "end_line": end}
    return {**row, "tokens": 1, "blob": "", **OK}


BLOCKS = [
    definition("", "file", "basket.py", 1, 20),
    definition("Basket", "class", "basket.py", 6, 17),
    definition("Basket.__init__", "method", "basket.py", 9, 10),
    definition("Basket.bestDiscount", "method", "basket.py", 12, 15),
    definition("Basket.bestDiscount.inner", "function", "basket.py", 13, 14),
    definition("", "file", "till.py", 1, 2),
    definition("total", "function", "till.py", 1, 2),
]


@pytest.fixture
def shop(tmp_path):
    """A repository, and its table `blocks`."""
    origin = store(tmp_path / "repository", {b"basket.py": BASKET, b"till.py": TILL})
    return origin, blocks_of(tmp_path, origin, BLOCKS)


def blocks_of(tmp_path, origin, rows):
    with open_repository(origin, "", tmp_path / "cache", True) as repository:
        blobs = {entry.path: entry.blob for entry in repository.files()}
    path = tmp_path / "blocks.parquet"
    tables.write([{**row, "blob": blobs[row["path"]]} for row in rows], "blocks", path)
    return path


def best(tmp_path, shop, text, limit=3, tokens=200):
    origin, blocks = shop
    with (
        open_repository(origin, "", tmp_path / "cache", True) as repository,
        indexed(blocks, repository, tokens) as index,
    ):
        return index.best(text, limit)


def lines(pieces):
    return [(piece.block["node"], piece.start_line, piece.end_line) for piece in pieces]


def test_each_line_of_a_file_belongs_to_one_piece():
    assert lines(partition(BLOCKS[:5], 20)) == [
        ("basket.py", 1, 5),
        ("Basket (basket.py)", 6, 8),
        ("Basket.__init__ (basket.py)", 9, 10),
        ("Basket (basket.py)", 11, 11),
        ("Basket.bestDiscount (basket.py)", 12, 15),
        ("Basket (basket.py)", 16, 17),
        ("basket.py", 18, 20),
    ]


SPANS = st.tuples(st.integers(1, 30), st.integers(0, 15), st.sampled_from(["function", "method", "class"]))


@given(st.lists(SPANS, max_size=12), st.integers(0, 30))
def test_whatever_definitions_there_are_no_line_is_lost_or_comes_twice(spans, count):
    rows = [definition("", "file", "a.py", 1, count)]
    rows += [
        definition(f"d{number}", kind, "a.py", start, start + more) for number, (start, more, kind) in enumerate(spans)
    ]
    pieces = partition(rows, count)
    assert [line for piece in pieces for line in range(piece.start_line, piece.end_line + 1)] == list(
        range(1, count + 1)
    )


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("Which discount does a group of customers get?", "Basket.bestDiscount (basket.py)"),
        ("Where is bestDiscount?", "Basket.bestDiscount (basket.py)"),
        ("a nested helper", "Basket.bestDiscount (basket.py)"),
        ("What is the sum of all items in the till?", "total (till.py)"),
        ("When is shipping free?", "basket.py"),
        ("its limit?", "Basket (basket.py)"),
    ],
)
def test_a_question_finds_the_piece_that_answers_it(tmp_path, shop, text, node):
    first, *_ = best(tmp_path, shop, text)
    assert first["node"] == node
    assert first["score"] > 0


def test_what_is_found_is_a_block_with_its_text(tmp_path, shop):
    (found,) = best(tmp_path, shop, "group", limit=1)
    assert (found["path"], found["kind"], found["language"]) == ("basket.py", "method", "python")
    assert (found["start_line"], found["end_line"], found["cut"]) == (12, 15, False)
    assert found["text"] == "\n".join(BASKET.decode().split("\n")[11:15])
    assert found["tokens"] == estimate(found["text"])


def test_nothing_is_found_by_words_that_stand_nowhere(tmp_path, shop):
    assert best(tmp_path, shop, "zebra") == []
    assert best(tmp_path, shop, "") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bestDiscount", {"bestdiscount", "best", "discount"}),
        ("parseHTMLDocument", {"parsehtmldocu", "pars", "html", "document"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("max_retry_count", {"max_retry_count", "max", "retri", "count"}),
        ("client.sendAll()", {"client.sendall", "client", "sendal", "send", "all"}),
        ("plain words", {"plain", "word"}),
    ],
)
def test_names_are_found_whole_and_by_their_parts(text, words):
    assert words <= set(code_words(text))


def test_a_long_function_is_cut_into_parts_and_its_end_can_be_found(tmp_path):
    body = [f"    step_{number} = {number}" for number in range(400)] + ["    return the_very_end"]
    origin = store(tmp_path / "repository", {b"a.py": "\n".join(["def long():", *body]).encode()})
    rows = [definition("", "file", "a.py", 1, 402), definition("long", "function", "a.py", 1, 402)]
    (found,) = best(tmp_path, (origin, blocks_of(tmp_path, origin, rows)), "very end", limit=1, tokens=100)
    assert (found["node"], found["end_line"], found["cut"]) == ("long (a.py)", 402, False)
    assert found["tokens"] <= 100
    assert found["text"].endswith("return the_very_end")


def test_of_a_line_that_is_longer_than_a_block_every_word_is_found_and_shown(tmp_path):
    names = [f"{letter}zebra{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
    text = f"first = 1\n{', '.join(names)}\r\nlast = 1\n"
    origin = store(tmp_path / "repository", {b"a.py": text.encode()})
    shop = origin, blocks_of(tmp_path, origin, [definition("", "file", "a.py", 1, 3)])
    with (
        open_repository(origin, "", tmp_path / "cache", True) as repository,
        indexed(shop[1], repository, 50) as index,
    ):
        for name in names:
            (found,) = index.best(name, 3)
            assert name in found["text"]
            assert (found["start_line"], found["end_line"], found["cut"]) == (2, 2, True)
            assert 0 < found["tokens"] <= 50
        (found,) = index.best("last", 3)
    assert (found["text"], found["start_line"], found["cut"]) == ("last = 1", 3, False)


LINES = st.lists(st.text("ab_ ,.é漢😀0", max_size=400), min_size=1, max_size=6)


@given(LINES, st.integers(1, 60))
def test_parts_are_short_enough_and_hold_every_character_once(lines, most):
    whole = retrieving.Piece({}, 1, len(lines))
    parts = list(retrieving._parts(whole, lines, most))
    texts = [retrieving._text(lines, part) for part in parts]
    assert all(estimate(text) <= most for text in texts)
    assert "".join(texts).replace("\n", "") == "".join(lines)
    assert all(
        part.end is None or len(text) < len(lines[part.start_line - 1]) for part, text in zip(parts, texts, strict=True)
    )


def test_files_that_were_not_read_are_not_found(tmp_path):
    origin = store(tmp_path / "repository", {b"a.py": b"zebra = 1\n", b"b.py": b"zebra = 2\n"})
    rows = [definition("", "file", "a.py", 1, 1), {**definition("", "file", "b.py", 1, 1), **rejected("generated")}]
    assert [each["path"] for each in best(tmp_path, (origin, blocks_of(tmp_path, origin, rows)), "zebra")] == ["a.py"]


def test_files_that_are_shown_under_one_name_are_two(tmp_path):
    origin = store(tmp_path / "repository", {b"a.py": b"zebra = 1\nb = 2\n"})
    rows = [definition("", "file", "a.py", 1, 2), definition("", "file", "a.py", 1, 2)]
    assert len(best(tmp_path, (origin, blocks_of(tmp_path, origin, rows)), "zebra")) == 2


def test_invalid_text_is_found_and_shown_as_text(tmp_path):
    origin = store(tmp_path / "repository", {b"a.py": b"zebra = '\xff\xfe'\r\nb = 1\r\n"})
    (found,) = best(tmp_path, (origin, blocks_of(tmp_path, origin, [definition("", "file", "a.py", 1, 2)])), "zebra")
    assert found["text"] == "zebra = '\ufffd\ufffd'\nb = 1"


def test_equal_scores_come_in_the_order_of_the_table(tmp_path):
    names = [f"f{number:03}.py" for number in range(60)]
    origin = store(tmp_path / "repository", {name.encode(): b"zebra = 1\n" for name in names})
    shop = origin, blocks_of(tmp_path, origin, [definition("", "file", name, 1, 1) for name in names])
    assert [each["path"] for each in best(tmp_path, shop, "zebra", limit=40)] == names[:40]


def test_all_questions_share_an_index_of_which_nothing_stays(tmp_path, shop, monkeypatch):
    origin, blocks = shop
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    made = []
    monkeypatch.setattr(retrieving, "indexed", lambda *given: made.append(given) or indexed(*given))
    rows = [
        question(1, origin, commit_of(origin), question="Who sums up?"),
        question(2, origin, commit_of(origin), question="zebra"),
    ]
    found = retrieve(rows, {LABEL: origin}, {LABEL: blocks}, tmp_path / "cache", True, blocks=2, block_tokens=100)
    assert [each["node"] for each in found["q1"]] == ["total (till.py)"]
    assert found["q2"] == []
    assert len(made) == 1
    assert not list((tmp_path / "temporary").iterdir())
