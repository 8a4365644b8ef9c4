"""How much work the context of pull requests takes."""

import re
import sys
from contextlib import contextmanager

import pytest

from devqa.pull_requests.context import assembling, tracking
from followed import contexts_of
from grown import Grown


@pytest.fixture
def grown(tmp_path):
    with Grown(tmp_path / "repository") as repository:
        yield repository


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
