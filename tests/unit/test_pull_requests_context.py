"""What pull requests changed, as it stands in the pinned version."""

import os

import pytest

from devqa import tokens
from devqa.pull_requests.code.definitions import Definition
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.context import choosing
from devqa.pull_requests.context.choosing import Part
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.pinned import PinnedFile
from devqa.pull_requests.context.tracking import Now
from devqa.pull_requests.context.versions import found
from devqa.pull_requests.repositories.repository import Repository
from followed import contexts_of, hunks, nodes
from grown import Grown

CODE = """import os

LIMIT = 10


class Store:
    SIZE = 1

    def fetch(self, name):
        return self.opened[name].read()

    def drop(self, name):
        self.opened.pop(name).close()


def load(path):
    with open(path) as file:
        return file.read()


def save(path, text):
    with open(path, "w") as file:
        file.write(text)
"""


@pytest.fixture
def grown(tmp_path):
    with Grown(tmp_path / "repository") as repository:
        yield repository


def test_a_change_inside_of_a_method_shows_the_method_as_it_is_now(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("].read()", "].read(1)")})
    grown.grow({"a.py": "# more\n\n" + CODE.replace("].read()", "].read(2)")})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert (row["status"], row["title"], row["body"], row["n_files_pr"]) == ("ok", "T", "B", 1)
    assert hunks(row) == [(10, 10, "Store.fetch (a.py)", "same", "Store.fetch (a.py)")]
    (block,) = row["blocks"]
    assert block == {
        "node": "Store.fetch (a.py)",
        "kind": "method",
        "path": "a.py",
        "language": "python",
        "start_line": 11,
        "end_line": 12,
        "tokens": tokens.estimate(block["text"]),
        "cut": False,
        "text": "    def fetch(self, name):\n        return self.opened[name].read(2)",
    }


def test_a_hunk_that_adds_several_definitions_shows_each(grown, tmp_path):
    before = CODE.split("\n\ndef load")[0] + "\n"
    first = grown.grow({"a.py": before})
    head = grown.grow({"a.py": CODE})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert nodes(row) == ["load (a.py)", "save (a.py)"]
    assert [hunk[3] for hunk in hunks(row)] == ["same", "same"]


def test_imports_and_comments_are_no_blocks(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": "# A comment.\nfrom x import (\n    y,\n    z,\n)\n" + CODE})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert hunks(row) == [(1, 5, "a.py", "comments or imports", "")]
    assert (row["status"], row["blocks"]) == ("rejected", [])
    assert row["reason"] == "only comments or imports"


def test_a_change_outside_of_definitions_shows_the_file_and_all_in_it(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("LIMIT = 10", "LIMIT = 20").replace("].read()", "].read(1)")})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert hunks(row) == [
        (3, 3, "a.py", "whole file", "a.py"),
        (10, 10, "Store.fetch (a.py)", "same", "a.py"),
    ]
    assert nodes(row) == ["a.py"]
    assert row["blocks"][0]["text"] + "\n" == CODE.replace("= 10", "= 20").replace("].read()", "].read(1)")


def test_a_table_below_a_text_of_several_lines_is_no_comment(grown, tmp_path):
    text = 'USAGE = """\nRun it.\n"""\n\nDEFAULTS = {\n    "a": 1,\n    "\u4e2d": "\u56fd",\n}\n'
    first = grown.grow({"a.py": text})
    head = grown.grow({"a.py": text.replace('"a": 1', '"a": 2')})
    last = grown.grow({"a.py": text.replace('"a": 1', '"a": 2').replace("\u56fd", "\u5fb7")})
    for row, line in zip(contexts_of(grown, tmp_path, (first, head), (head, last)), (6, 7), strict=True):
        assert hunks(row) == [(line, line, "a.py", "whole file", "a.py")]


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("a.cpp", "namespace x {\n// old words\n\nint f() { return 1; }\n}\n", "old words", "new words"),
        ("a.cs", "namespace X {\nusing System.IO;\nclass A { void M() { } }\n}\n", "System.IO", "System.Net"),
        ("a.rs", "mod inner {\n    use super::a;\n    fn q() { a(); }\n}\n", "super::a", "super::b"),
        ("a.ts", "namespace X {\n  // old words\n\n  function f() {}\n}\n", "old words", "new words"),
    ],
)
def test_comments_and_imports_in_a_namespace_are_no_blocks(grown, tmp_path, path, text, old, new):
    first = grown.grow({path: text})
    head = grown.grow({path: text.replace(old, new)})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert (row["status"], row["reason"]) == ("rejected", "only comments or imports")


def test_only_files_that_count_are_compared(grown, tmp_path, monkeypatch):
    compared = []

    def noted(repository, change, compare=Repository.compared):
        compared.append(change.new.path)
        return compare(repository, change)

    monkeypatch.setattr(Repository, "compared", noted)
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("read", "readline")})
    contexts_of(grown, tmp_path, (first, head), counts_as="test")
    assert compared == []
    contexts_of(grown, tmp_path, (first, head))
    assert compared == ["a.py"]


def test_what_is_in_another_language_now_is_said_to_be_so(grown, tmp_path):
    code = "function foo(a) {\n" + "".join(f"  total += alpha{each} * beta;\n" for each in range(9)) + "}\n"
    first = grown.grow({"a.js": "let x = 1;\n"})
    head = grown.grow({"a.js": "let x = 1;\n" + code})
    grown.grow({"a.js": None, "a.ts": "let x = 1;\n" + code.replace("foo(a)", "foo2(a: number)")})
    (row,) = contexts_of(grown, tmp_path, (first, head), languages=["javascript"])
    assert hunks(row) == [(2, 11, "foo (a.js)", "in another language: typescript", "")]
    assert row["reason"] == "nothing of it is in the pinned version: 1 in another language"
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert hunks(row) == [(2, 11, "foo (a.js)", "moved", "foo2 (a.ts)")]


def test_each_version_of_a_file_is_parsed_once(grown, tmp_path, monkeypatch):
    parsed = []

    def one(parsers, source, parse=Parsers.one):
        parsed.append(source.content)
        return parse(parsers, source)

    monkeypatch.setattr(Parsers, "one", one)
    texts = [CODE.replace("LIMIT = 10", f"LIMIT = {each}").replace("read()", f"read({each})") for each in range(5)]
    commits = [grown.grow({"a.py": text}) for text in (*texts, CODE.replace("def fetch", "def pull"))]
    contexts_of(grown, tmp_path, *zip(commits, commits[1:], strict=False))
    # The last one is the pinned one, which the table tells of.
    assert len(parsed) == len(set(parsed)) == len(commits) - 1


def test_nested_blocks_are_merged_unless_the_outer_one_is_too_long(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("SIZE = 1", "SIZE = 2").replace("].read()", "].read(1)")})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert nodes(row) == ["Store (a.py)"]
    (row,) = contexts_of(grown, tmp_path, (first, head), block_tokens=50)
    assert nodes(row) == ["Store (a.py)", "Store.fetch (a.py)"]
    assert [block["cut"] for block in row["blocks"]] == [True, False]
    assert all(block["tokens"] <= 50 for block in row["blocks"])


def test_what_is_too_much_is_left_out_the_least_changed_first(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    more = CODE.replace("].read()", "].read(1)").replace("file.write(text)", "file.write(text)\n        file.flush()")
    head = grown.grow(
        {"a.py": more.replace("return file", "# One.\n        # Two.\n        # Three.\n        return file")}
    )
    (row,) = contexts_of(grown, tmp_path, (first, head), blocks=1)
    assert nodes(row) == ["load (a.py)"]
    assert [(hunk[2], hunk[3]) for hunk in hunks(row)] == [
        ("Store.fetch (a.py)", "left out"),
        ("load (a.py)", "same"),
        ("save (a.py)", "left out"),
    ]
    (row,) = contexts_of(grown, tmp_path, (first, head), tokens=80)
    assert sum(block["tokens"] for block in row["blocks"]) <= 80
    assert len(row["blocks"]) == 2


def test_lines_that_were_taken_out_belong_to_what_they_stood_in(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow(
        {"a.py": CODE.replace("    with open(path) as file:\n        return file.read()\n", "    pass\n", 1)}
    )
    last = grown.grow(
        {
            "a.py": CODE.replace("    with open(path) as file:\n        return file.read()\n", "    pass\n", 1).replace(
                "        file.write(text)\n", ""
            )
        }
    )
    rows = contexts_of(grown, tmp_path, (first, head), (head, last))
    assert nodes(rows[0]) == ["load (a.py)"]
    assert hunks(rows[1]) == [(21, 21, "save (a.py)", "same", "save (a.py)")]


def test_what_the_pull_request_itself_took_out_is_said(grown, tmp_path):
    first = grown.grow({"a.py": CODE, "b.py": CODE.replace("path", "place")})
    head = grown.grow({"a.py": CODE.split("\n\ndef save")[0] + "\n", "b.py": None})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert {(hunk[2], hunk[3]) for hunk in hunks(row)} == {
        ("save (a.py)", "deleted: by the pull request"),
        ("b.py", "deleted: by the pull request"),
        ("Store (b.py)", "deleted: by the pull request"),
        ("Store.fetch (b.py)", "deleted: by the pull request"),
        ("Store.drop (b.py)", "deleted: by the pull request"),
        ("load (b.py)", "deleted: by the pull request"),
        ("save (b.py)", "deleted: by the pull request"),
    }
    assert row["reason"] == "nothing of it is in the pinned version: 7 deleted"


def test_renamed_and_moved_definitions_are_shown_where_they_are_now(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow(
        {"a.py": CODE.replace("].read()", "].read(1)").replace("file.write(text)", "file.write(text[:9])")}
    )
    moved = CODE.replace("].read()", "].read(1)").replace("class Store", "class Cupboard")
    rest, tail = moved.replace("file.write(text)", "file.write(text[:9])").split("\n\ndef save")
    grown.grow({"a.py": rest + "\n", "b.py": "def save" + tail})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert hunks(row) == [
        (10, 10, "Store.fetch (a.py)", "renamed", "Cupboard.fetch (a.py)"),
        (23, 23, "save (a.py)", "moved", "save (b.py)"),
    ]
    assert nodes(row) == ["Cupboard.fetch (a.py)", "save (b.py)"]


def test_long_blocks_keep_their_head_and_what_changed(grown, tmp_path):
    lines = [f"    step_{number} = compute({number})" for number in range(400)]
    first = grown.grow({"a.py": "def long(x):\n" + "\n".join(lines) + "\n"})
    changed = [line.replace("compute", "changed") if index == 300 else line for index, line in enumerate(lines)]
    head = grown.grow({"a.py": "def long(x):\n" + "\n".join(changed) + "\n"})
    grown.grow({"a.py": "import os\n\n\ndef long(x):\n    first()\n" + "\n".join(changed) + "\n"})
    (row,) = contexts_of(grown, tmp_path, (first, head), block_tokens=400)
    (block,) = row["blocks"]
    assert block["cut"] and block["tokens"] <= 400
    assert block["text"].startswith("def long(x):\n    first()\n    step_0")
    assert "    step_300 = changed(300)" in block["text"].split("\n")
    assert "lines left out)" in block["text"]


def test_files_that_do_not_count_and_other_languages_are_passed_over(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("read", "readline"), "b.go": "package b\n\nfunc F() {}\n"})
    (row,) = contexts_of(grown, tmp_path, (first, head), counts_as="test")
    assert (row["status"], row["reason"], row["hunks"]) == ("rejected", "it has no lines of code", [])
    (row,) = contexts_of(grown, tmp_path, (first, head), languages=["go"])
    assert nodes(row) == ["F (b.go)"]


def test_a_pull_request_that_is_not_on_the_way_is_rejected(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    lost = grown.commit({"a.py": CODE + "\n"}, parents=[first])
    (row,) = contexts_of(grown, tmp_path, (first, lost))
    assert (row["status"], row["reason"]) == ("rejected", "it is not on the way to the pinned commit")


def test_hostile_files_stop_nothing(grown, tmp_path):
    long_line = "x = '" + "y" * 900_000 + "'\n"
    first = grown.grow({"a.py": CODE, "b.py": "x = 1\n", "c.py": "x = 1\n"})
    files = {
        "a.py": CODE.replace("read()", "read(1)"),
        "b.py": b"\xff\xfe\x1b[31m\0 = 2\n",
        "c.py": "\x1b = 3\n" + long_line,
    }
    head = grown.grow(files | {"d.py": "x = 1\n" * 400_000})
    (row,) = contexts_of(grown, tmp_path, (first, head))
    assert row["status"] == "ok"
    # A file as a whole, in which a line is too long to be shown whole.
    assert nodes(row) == ["Store.fetch (a.py)", "load (a.py)", "c.py"]
    assert row["blocks"][-1]["cut"]
    assert all(character.isprintable() or character in "\n\t" for block in row["blocks"] for character in block["text"])
    assert {hunk[3] for hunk in hunks(row) if hunk[2] in ("b.py", "d.py")} <= {
        "not read: too large or binary",
        "not read: too large: 2400000 bytes",
    }


def test_the_same_pull_requests_give_the_same_bytes(grown, tmp_path):
    first = grown.grow({"a.py": CODE})
    head = grown.grow({"a.py": CODE.replace("read()", "read(1)")})
    contexts_of(grown, tmp_path, (first, head))
    written = (tmp_path / "context.parquet").read_bytes()
    contexts_of(grown, tmp_path, (first, head))
    assert (tmp_path / "context.parquet").read_bytes() == written


def _found_unless_broken(source):
    if b"broken" in source.content:
        os._exit(7)
    return found(source)


def test_a_version_that_can_not_be_parsed_is_said_to_be_so(grown, tmp_path):
    first = grown.grow({"a.py": CODE, "b.py": CODE.replace("path", "place")})
    broken = CODE.replace("].read()", "].read('broken')")
    head = grown.grow({"a.py": broken})
    both = grown.grow({"a.py": broken + "x = 1\n", "b.py": CODE.replace("path", "where")})
    grown.grow({"a.py": CODE})
    alone, beside = contexts_of(grown, tmp_path, (first, head), (head, both), read=_found_unless_broken)
    told = (0, 0, "a.py", "not read: reading ended the process with exit code 7", "")
    # It may succeed another time.
    assert (alone["status"], alone["reason"]) == ("failed", "nothing of it is in the pinned version: 1 not read")
    assert hunks(alone) == [told]
    assert beside["status"] == "ok"
    assert told in hunks(beside) and nodes(beside) == ["load (b.py)", "save (b.py)"]
    # Of languages that are left out nothing is said.
    (row,) = contexts_of(grown, tmp_path, (first, head), read=_found_unless_broken, languages=["go"])
    assert row["hunks"] == []


def test_blocks_are_merged_into_the_first_one_that_holds_them():
    """Of definitions that share a line, each is held by what it stands in."""
    spans = [("A", 1, 5), ("A.b", 2, 3), ("B", 5, 9), ("B.c", 5, 6), ("D", 10, 10)]
    found_ = [Definition(name, "class", first, last, None) for name, first, last in spans]
    file = PinnedFile("a.js", "javascript", "0" * 40, 20, 500, "", Defined(found_), [50, 10, 50, 10, 900])
    parts = [Part("a.js", 1, 1, "", Now("same", file, index), None) for index in range(len(spans))]
    targets = []
    for index, part in enumerate(parts):
        targets.append(choosing._Target(file, index))
        targets[-1].parts.append(part)
    merged = {target.definition.name: len(target.parts) for target in choosing._merged(targets, 100)}
    assert merged == {"A": 2, "B": 2, "D": 1}
