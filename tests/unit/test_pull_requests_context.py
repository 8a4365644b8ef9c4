"""What pull requests changed, as it stands in the pinned version."""

import os
import re
import sys
from contextlib import closing, contextmanager, nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa import tables, tokens
from devqa.pull_requests import LANGUAGES
from devqa.pull_requests.code.blocks import blocks, measured
from devqa.pull_requests.code.definitions import Definition, definitions
from devqa.pull_requests.code.parsing import Parsers
from devqa.pull_requests.context import assembling, choosing, tracking
from devqa.pull_requests.context.assembling import Contexts
from devqa.pull_requests.context.choosing import Part
from devqa.pull_requests.context.cutting import placed, shown
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.pinned import Pinned, PinnedFile
from devqa.pull_requests.context.timeline import Timeline
from devqa.pull_requests.context.touching import Outline
from devqa.pull_requests.context.tracking import Now, Tracker
from devqa.pull_requests.context.versions import Versions, found
from devqa.pull_requests.repositories.repository import open_repository
from grown import Grown

OPTIONS = {"languages": list(LANGUAGES), "blocks": 40, "block_tokens": 2_000, "tokens": 16_000}
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


def contexts_of(grown, tmp_path, *pairs, **options):
    """The rows of table `context`, written and read, for pull requests that go from one commit to another."""
    with (
        open_repository(grown.origin, "", tmp_path, True) as repository,
        Parsers(measured, 1) as measurers,
        Parsers(options.pop("read", found), 1) as parsers,
        closing(Timeline(repository, [head for _, head in pairs])) as timeline,
    ):
        tables.write(blocks(repository, LANGUAGES, [], measurers), "blocks", tmp_path / "blocks.parquet")
        pinned = Pinned(tmp_path / "blocks.parquet")
        versions = Versions(repository, pinned, parsers)
        pulls = []
        for base, head in pairs:
            changes = [change.new or change.old for change in repository.changes(base, head)]
            files = [{"path": entry.path, "counts_as": options.get("counts_as", "code")} for entry in changes]
            pulls.append(
                {"pull_id": f"grown@{head}", "title": "T", "body": "B", "base": base, "head": head, "files": files}
            )
        contexts = Contexts(repository, timeline, versions, Tracker(timeline, versions, pinned), OPTIONS | options)
        with options.pop("watch", nullcontext)():
            tables.write(contexts.rows(pulls), "context", tmp_path / "context.parquet")
    return tables.read(tmp_path / "context.parquet", "context")


def hunks(row):
    """What became of each hunk: lines, what it was, outcome, what it is."""
    return [(each["start_line"], each["end_line"], each["was"], each["outcome"], each["node"]) for each in row["hunks"]]


def nodes(row):
    """The nodes of the blocks."""
    return [block["node"] for block in row["blocks"]]


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


def functions(name, count):
    """Functions of one line each."""
    return "".join(f"def {name}{each}(a, b): return a * {each} + b - calls_{each}(a, b, b)\n" for each in range(count))


def test_of_the_definitions_that_have_gone_each_pull_request_may_look_for_so_many(grown, tmp_path, monkeypatch):
    monkeypatch.setattr(assembling, "_MOST_GONE", 2)
    before, after = "x = 1\n" + functions("f", 4), "x = 1\n" + functions("f", 4).replace("b, b)", "b, a)")
    first = grown.grow({"a.py": "x = 1\n"})
    head, again = grown.grow({"a.py": before}), grown.grow({"a.py": after})
    grown.grow({"a.py": re.sub(r"f([012])\(", r"g\1(", after)})
    rows = contexts_of(grown, tmp_path, (first, head), (head, again))
    for row in rows:
        assert [(hunk["was"], hunk["outcome"].partition(":")[0]) for hunk in row["hunks"]] == [
            ("f0 (a.py)", "renamed"),
            ("f1 (a.py)", "renamed"),
            ("f2 (a.py)", "not looked for"),
            ("f3 (a.py)", "same"),
        ]


@contextmanager
def _counted(counts):
    """How often functions are called, ours and built-in ones."""
    number = 0

    def count(_frame, event, _argument):
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
        counts.append(number)


@pytest.mark.parametrize(
    ("before", "then", "now"),
    [
        ("", "f", "f"),
        ("", "f", "g"),
        ("", "f", ""),
        ("f", "", ""),
        ("f", "g", "g"),
        ("", "same", "same"),
        ("same", "", "same"),
        ("", "same", "other"),
    ],
)
def test_the_work_grows_with_the_definitions_and_not_with_their_square(tmp_path, monkeypatch, before, then, now):
    """Twice the definitions are about twice the calls, whether all are added, renamed or deleted, or overloads."""
    monkeypatch.setattr(assembling, "_MOST_GONE", 5)
    monkeypatch.setattr(tracking, "_MOST_ADDED", 5)
    counts = []
    for size in (150, 300):
        texts = ["x = 1\n" + (functions(name, size) if name else "") for name in (before, then, now)]
        # The same name for all, with the same bodies and with other ones.
        texts = [re.sub(r"same\d+", "same", text) for text in texts]
        texts = [re.sub(r"other\d+(.*)b, b", r"same\1b, a", text) for text in texts]
        with Grown(tmp_path / str(size)) as grown:
            first, head, _ = (grown.grow({"a.py": text}) for text in texts)
            contexts_of(grown, tmp_path, (first, head), watch=lambda: _counted(counts))
    assert counts[1] < 2.5 * counts[0], counts


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


def touched(source, grammar, first, last):
    """What lines of a source file stand in, by name."""
    every = sorted(definitions(source.encode(), grammar), key=lambda each: (each.start_line, -each.end_line))
    those = Outline(source.encode().split(b"\n"), every, grammar).touched(first, last)
    return [(every[each.index].name if each.index is not None else "", each.first, each.last) for each in those]


def test_brackets_belong_to_what_is_around_them_and_count_only_alone():
    source = "void f() {\n  a();\n}\n\nvoid g() {\n  b();\n}\n"
    assert touched(source, "c", 3, 6) == [("g", 5, 6)]
    assert touched(source, "c", 3, 4) == [("f", 3, 3)]
    assert touched(source, "c", 4, 4) == []


@pytest.mark.parametrize(
    ("grammar", "source"),
    [
        ("python", '"""Text.\n\nMore.\n"""\nimport a\nfrom b import (  # why\n    c,\n)\n# comment\n__all__ = []\n'),
        (
            "javascript",
            "'use strict'\n/* a\n b */\nimport {\n  a,\n} from 'a';\nconst x = require('x');\nexport * from 'y';\n",
        ),
        ("typescript", "import type {\n  A,\n} from 'a';\nexport {\n  A,\n};\n// comment\n"),
        ("java", "/*\n * Licence\n */\npackage a.b;\nimport java.util.List;\n"),
        ("go", '// Package a.\npackage a\n\nimport (\n\t"fmt"\n)\nimport "os"\n'),
        ("rust", "//! Doc\nuse a::{\n    B,\n};\npub(crate) mod c;\n#![allow(x)]\n"),
        ("c", "/* Licence */\n#ifndef A_H\n#include <stdio.h>\n#endif\nstruct a;\n"),
        ("csharp", "using System;\nnamespace A;\n// comment\n#nullable enable\n"),
    ],
)
def test_lines_that_say_nothing_of_their_own(grammar, source):
    assert touched(source, grammar, 1, source.count("\n")) == []


@pytest.mark.parametrize(
    ("grammar", "line"),
    [
        ("python", "LIMIT = 3"),
        ("javascript", "export const limits = {"),
        ("typescript", "export default {"),
        ("go", "var limit = 3"),
        ("rust", "pub const LIMIT: usize = 3;"),
        ("c", "#define LIMIT 3"),
    ],
)
def test_lines_that_say_something_are_the_files(grammar, line):
    assert touched(f"\n{line}\n", grammar, 1, 2) == [("", 2, 2)]


LINES = st.lists(st.text(st.sampled_from("ab (\u4e2d"), max_size=30), min_size=1, max_size=60)


@given(LINES, st.sets(st.integers(0, 59)), st.integers(1, 60), st.integers(0, 60))
def test_what_is_shown_fits(lines, changed, most, reach):
    text, cut = shown(lines, changed, most, reach)
    assert tokens.estimate(text) <= most
    assert cut or text == "\n".join(lines)


@given(LINES, st.sets(st.integers(0, 59)))
def test_what_is_shown_is_lines_in_their_order_with_the_gaps_counted(lines, changed):
    text, cut = shown(lines, changed, 40, 60)
    if not cut:
        return
    position = 0
    for line in text.split("\n"):
        if line.startswith("… ("):
            position += int(line.split()[1].strip("("))
        elif position < len(lines) and line == lines[position]:
            position += 1
        else:
            # Where not even one line fits, it is cut.
            assert position <= 1
            return
    assert position == len(lines)


def test_a_long_line_is_shortened():
    text, cut = shown(["x" * 10_000, "y"], set(), 1_000, 0)
    assert cut and text == f"{'x' * 500} …\ny"


def test_changed_lines_are_found_in_a_new_text():
    assert placed(["a", "b", "c", "d"], ["x", "a", "c", "y", "d"], [0, 1, 2, 3]) == {1, 2, 4}
    assert placed(["a"], ["a"], [-1, 5]) == set()
