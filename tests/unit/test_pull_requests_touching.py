"""Which definitions changed lines stand in, and which lines say nothing of their own."""

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devqa.pull_requests.code.definitions import read
from devqa.pull_requests.context.defined import Defined
from devqa.pull_requests.context.touching import Outline


def touched(source, grammar, first, last):
    """What lines of a source file stand in, by name."""
    defined = Defined(*read(source.encode(), grammar))
    those = Outline(source.encode().split(b"\n"), defined).touched(first, last)
    names = [each.name for each in defined.definitions]
    return [("" if each.index is None else names[each.index], each.first, each.last) for each in those]


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


# Of each language pieces of a file, and for each of their lines whether it says something.
PIECES = {
    "python": [
        ('"""A docstring."""\n', [0]),
        ('"""A docstring.\n\nMore of it.\n"""\n', [0, 0, 0, 0]),
        ('USAGE = """\n# No comment.\nimport nothing\n"""\n', [1, 1, 1, 0]),
        ('TEXT = r"""x""" + """\ny"""\n', [1, 1]),
        ("TABLE = {\n    # Why.\n    '\u4e2d': '\u56fd',\n    'a': 1,  # Why.\n}\n", [1, 0, 1, 1, 0]),
        ("from a import (\n    b,  # Why.\n    c,\n)\n", [0, 0, 0, 0]),
        ("if a:\n    import b\nelse:\n    b = None\n", [1, 0, 1, 1]),
        ("__all__ = [\n    'a',\n]\n", [0, 0, 0]),
        ("imported = 1\n", [1]),
    ],
    "javascript": [
        ("const text = `\n// No comment.\n/* none\n`;\n", [1, 1, 1, 0]),
        ("/* a\n b */ const c = 1;\n", [0, 1]),
        ("const {\n  a,\n} = require('a');\n", [0, 0, 0]),
        ("const b = require('b').c, d = 2;\n", [1]),
        ("export * as x from 'y';\nexport { z };\n", [0, 0]),
        ("exports.required = requires('x');\n", [1]),
    ],
    "typescript": [
        ("namespace A.B {\n  // Why.\n  import x = C.D;\n  const y = 1;\n}\n", [0, 0, 0, 1, 0]),
        ("declare module 'm' {\n  // Why.\n}\n", [0, 0, 0]),
        ("export namespace N {\n  /* Why. */\n}\n", [0, 0, 0]),
    ],
    "java": [("package a.b;\nimport c.*; // Why.\n", [0, 0]), ("/** Text.\n * More.\n */\n\n", [0, 0, 0, 0])],
    "go": [
        ('package a\nimport (\n\t"b"\n)\n', [0, 0, 0, 0]),
        ("const text = `\n// No comment.\nimport b\n`\n", [1, 1, 1, 0]),
        ("var (\n\t// Why.\n\tx = 1\n)\n", [1, 0, 1, 0]),
    ],
    "rust": [
        ("pub mod a {\n  use b::{\n    C,\n  };\n  // Why.\n  const D: u8 = 1;\n}\n", [0, 0, 0, 0, 0, 1, 0]),
        ("/* a /* b */\n c */\nextern crate d;\n", [0, 0, 0]),
        ('const TEXT: &str = "\n// No comment.\n";\n', [1, 1, 0]),
        ("#![allow(x)]\nmod e;\n", [0, 0]),
    ],
    "c": [
        ("#ifndef A_H\n#include <a.h>\n#elif B && \\\n  C\n#else\nint x = 1;\n#endif\n", [0, 0, 0, 0, 0, 1, 0]),
        ("struct a;\nstruct a b;\n#pragma once\n", [0, 1, 0]),
    ],
    "cpp": [
        ("inline namespace a::b {\nclass C;\n// C\nusing std::x;\nint y = 1;\n}  // namespace\n", [0, 0, 0, 0, 1, 0]),
        ("using T = int;\nnamespace fs = std::filesystem;\n", [1, 0]),
        ('extern "C" {\n#include "d.h"\n}\n', [0, 0, 0]),
    ],
    "csharp": [
        ("namespace A.B\n{\n    using System;\n    // Why.\n    #region C\n    #endregion\n}\n", [0] * 7),
        ("#if D\nglobal using E = F.G;\n#else\nextern alias H;\n#endif\n", [0] * 5),
        ("var text = @\"\n// No comment.\n\";\n", [1, 1, 0]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("grammar", PIECES)
@given(data=st.data())
def test_what_a_line_says_does_not_depend_on_what_stands_around_it(grammar, data):
    pieces = data.draw(st.lists(st.sampled_from(PIECES[grammar]), max_size=6))
    source = "\n".join(text for text, _ in pieces)
    expected = [tells for _, those in pieces for tells in (*those, 0)][:-1]
    found = [bool(touched(source, grammar, line, line)) for line in range(1, len(expected) + 1)]
    assert found == list(map(bool, expected)), source


@pytest.mark.parametrize("grammar", PIECES)
def test_no_piece_is_misread(grammar):
    for text, expected in PIECES[grammar]:
        found = [bool(touched(text, grammar, line, line)) for line in range(1, len(expected) + 1)]
        assert (found, len(found)) == (list(map(bool, expected)), text.count("\n")), text


def test_statements_of_the_standard_library_say_something():
    """The reference is Python's own parser."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-d]*.py")):
        source = path.read_text(encoding="utf-8")
        quiet = read(source.encode(), "python").quiet
        for each in ast.parse(source).body:
            listed = "__all__" in ast.unparse(each).partition("\n")[0]
            if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.If) and not listed:
                assert not any(first <= each.lineno <= last for first, last in quiet), (path, each.lineno)


def test_comments_in_definitions_count_as_what_they_stand_in():
    source = "# Above.\ndef f():\n    # Why.\n    return 1\n\n\nclass A:\n    '''Text.'''\n"
    assert touched(source, "python", 1, 8) == [("f", 1, 4), ("A", 7, 8)]
    assert touched("namespace a {\n// Above.\nint f() { return 1; }\n}\n", "cpp", 1, 4) == [("a.f", 2, 3)]


def test_a_byte_order_mark_says_nothing_and_text_of_another_encoding_does():
    assert touched("\ufeffusing System;\n", "csharp", 1, 1) == []
    defined = Defined(*read("x = [\n'\u00e9\u00e8',\n]\n".encode("latin-1"), "python"))
    assert Outline("x = [\n'\u00e9\u00e8',\n]\n".encode("latin-1").split(b"\n"), defined).touched(2, 2) != []


def test_conditionals_say_nothing_whatever_the_parser_makes_of_them():
    source = "#if A || \\\n  B\nint f(int a) {\n#else\nint f(void) {\n#endif\n  return 1;\n}\n#error no\n"
    assert touched(source, "c", 1, 2) == []
    assert touched(source, "c", 9, 9) == [("", 9, 9)]


@pytest.mark.parametrize("piece", ["struct a<", "#if a ", "#if a \\\n", "using namespace a::", "/*", "#if a\n"])
def test_code_in_which_each_piece_holds_all_the_rest_is_read_in_time(piece):
    read((piece * 20_000).encode(), "cpp")
