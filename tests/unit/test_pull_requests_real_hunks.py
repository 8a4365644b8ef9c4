"""Real hunks of real repositories, where there are any: DEVQA_REPOSITORIES is a folder that holds clones."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks/pull_request_hunks.py"
FOLDER = os.environ.get("DEVQA_REPOSITORIES", "")


@pytest.fixture
def benchmark():
    specification = importlib.util.spec_from_file_location("pull_request_hunks", BENCHMARK)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.skipif(not FOLDER, reason="DEVQA_REPOSITORIES names no folder with clones")
@pytest.mark.skipif(not shutil.which("ctags"), reason="ctags is not installed")
def test_definitions_are_those_that_others_find():
    command = [sys.executable, BENCHMARK, FOLDER, "--hunks", "40"]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shares = dict(re.findall(r"^\| (\w+) \| \d+ \| ([\d.]+)% \|$", written, re.MULTILINE))
    # Without TypeScript's compiler there is no reference for it that knows its types and methods.
    others = {language: float(share) for language, share in shares.items() if language not in ("typescript", "all")}
    counts = dict(re.findall(r"^\| (\w+) \| (\d+) \|", written, re.MULTILINE))
    agreed = sum(share * int(counts[language]) / 100 for language, share in others.items())
    assert sum(int(counts[language]) for language in others) >= 100
    assert agreed / sum(int(counts[language]) for language in others) >= 0.98, written


def hunk(benchmark, grammar, content, first, last):
    """A made-up hunk."""
    return benchmark.Hunk("made", "0" * 40, f"a.{grammar}", grammar, first, last, content.encode())


def test_the_reference_for_python_is_its_own_parser(benchmark):
    content = "class A:\n    # why\n    @d\n    def f(self):\n        return 1\n"
    for lines in ((2, 5), (5, 5), (1, 5)):
        one = hunk(benchmark, "python", content, *lines)
        theirs, mine = benchmark.reference(one, None), benchmark.ours(one)
        assert benchmark.agree(theirs, mine)
        assert (theirs.name, theirs.first, theirs.last) == (("f", 2, 5) if lines[0] > 1 else ("A", 1, 5))


def test_other_definitions_do_not_agree(benchmark):
    one, other = benchmark.Tag("A.f", 1, 5), benchmark.Tag("g", 1, 4)
    assert not benchmark.agree(one, other)
    assert not benchmark.agree(one, None)
    assert benchmark.agree(None, None)
    assert benchmark.agree(one, benchmark.Tag("f", 2, 9))


@pytest.mark.skipif(not shutil.which("ctags"), reason="ctags is not installed")
def test_the_reference_for_other_languages_is_ctags(benchmark):
    content = "int one(void) {\n  return 1;\n}\n\n/* Two. */\nint two(void) {\n  return 2;\n}\n"
    assert benchmark.reference(hunk(benchmark, "c", content, 5, 7), None) == benchmark.Tag("two", 5, 8)
    assert benchmark.reference(hunk(benchmark, "c", content, 3, 5), None) is None


def test_the_end_of_a_definition_is_where_its_first_bracket_closes(benchmark):
    lines = ["fn f(a: [u8; 3])", "{", "  if x { y }", "}", "fn g();", "}"]
    assert (benchmark.closing(lines, 1), benchmark.closing(lines, 5)) == (4, 5)
