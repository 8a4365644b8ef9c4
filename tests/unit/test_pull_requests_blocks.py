"""The pinned version's definitions, and the processes that find them."""

import os
import time

import pygit2
import pytest

from devqa import tables
from devqa.pull_requests import LANGUAGES, LARGEST_SOURCE
from devqa.pull_requests.code.blocks import blocks, measured
from devqa.pull_requests.code.parsing import Lost, Parsers, Source
from devqa.pull_requests.context.pinned import Pinned
from devqa.pull_requests.context.versions import found
from devqa.pull_requests.repositories.repository import open_repository
from grown import Grown

CODE = """import os


class A:
    def f(self):
        return 1


def g():
    return 2
"""


@pytest.fixture
def grown(tmp_path):
    with Grown(tmp_path / "repository") as repository:
        yield repository


def rows_of(grown, tmp_path, languages=LANGUAGES, ignore=()):
    """The rows of table `blocks`, and how many files were parsed."""
    with open_repository(grown.origin, "", tmp_path, True) as repository, Parsers(measured, 2) as parsers:
        rows = list(blocks(repository, languages, list(ignore), parsers))
        return rows, parsers.parsed


def test_each_file_is_a_row_and_then_its_definitions(grown, tmp_path):
    grown.grow({"b.py": CODE, "README.md": "# Title\n\nText", "a/c.go": "package c\n\nfunc F() {}\n"})
    rows, parsed = rows_of(grown, tmp_path)
    assert [(row["node"], row["kind"], row["language"], row["start_line"], row["end_line"]) for row in rows] == [
        ("README.md", "file", "", 1, 3),
        ("a/c.go", "file", "go", 1, 3),
        ("F (a/c.go)", "function", "go", 3, 3),
        ("b.py", "file", "python", 1, 10),
        ("A (b.py)", "class", "python", 4, 6),
        ("A.f (b.py)", "method", "python", 5, 6),
        ("g (b.py)", "function", "python", 9, 10),
    ]
    assert all(row["status"] == "ok" and row["tokens"] > 0 for row in rows)
    assert rows[3]["tokens"] > rows[4]["tokens"] > rows[5]["tokens"]
    assert parsed == 2


def test_what_is_in_another_language_has_no_definitions(grown, tmp_path):
    grown.grow({"b.py": CODE, "a.go": "package c\n\nfunc F() {}\n"})
    rows, parsed = rows_of(grown, tmp_path, ["go"])
    assert [row["node"] for row in rows] == ["a.go", "F (a.go)", "b.py"]
    assert rows[2]["language"] == "python"
    assert parsed == 1


def test_files_that_are_not_read_are_rejected_with_the_reason(grown, tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    files = {
        "binary.py": b"\0\1\2",
        "empty.py": "",
        "large.py": "x = 1\n" * (LARGEST_SOURCE // 6 + 1),
        "pointer.py": pointer,
        "vendor/v.py": CODE,
        "mine/i.py": CODE,
        "ok.py": CODE,
    }
    grown.grow(files)
    rows, parsed = rows_of(grown, tmp_path, ignore=["mine/*"])
    assert {row["path"]: (row["status"], row["reason"]) for row in rows if row["kind"] == "file"} == {
        "binary.py": ("rejected", "binary"),
        "empty.py": ("rejected", "empty"),
        "large.py": ("rejected", f"too large: {len(files['large.py'])} bytes"),
        "pointer.py": ("rejected", "Git LFS pointer"),
        "vendor/v.py": ("rejected", "vendored"),
        "mine/i.py": ("rejected", "ignored"),
        "ok.py": ("ok", ""),
    }
    assert {row["path"] for row in rows if row["kind"] != "file"} == {"ok.py"}
    assert parsed == 1


def test_links_and_submodules_are_rejected(grown, tmp_path):
    git = pygit2.Repository(str(grown.folder))
    index = pygit2.Index()
    index.add(pygit2.IndexEntry("link.py", git.create_blob(b"/etc/passwd"), pygit2.enums.FileMode.LINK))
    index.add(pygit2.IndexEntry("module.py", pygit2.Oid(hex="1" * 40), pygit2.enums.FileMode.COMMIT))
    who = pygit2.Signature("Ann", "ann@example.org", 1, 0)
    grown.commits.append(str(git.create_commit("refs/heads/main", who, who, "x", index.write_tree(git), [])))
    rows, _ = rows_of(grown, tmp_path)
    assert [(row["path"], row["status"], row["reason"]) for row in rows] == [
        ("link.py", "rejected", "link"),
        ("module.py", "rejected", "submodule"),
    ]


def test_the_same_content_is_parsed_once_and_found_everywhere(grown, tmp_path):
    grown.grow({f"{name}/x.py": CODE for name in "abc"} | {"vendor/x.py": CODE, "x.txt": CODE, "y.txt": CODE})
    rows, parsed = rows_of(grown, tmp_path)
    assert parsed == 1
    assert [row["path"] for row in rows if row["kind"] == "method"] == ["a/x.py", "b/x.py", "c/x.py"]
    assert [row.get("end_line") for row in rows if row["kind"] == "file"] == [10, 10, 10, None, 10, 10]


def test_names_that_no_table_could_hold_are_printable_in_it(grown, tmp_path):
    git = pygit2.Repository(str(grown.folder))
    tree = b"100644 \xff\n.py\0" + git.create_blob(CODE.encode()).raw
    who = pygit2.Signature("Ann", "ann@example.org", 1, 0)
    grown.commits.append(
        str(git.create_commit("refs/heads/main", who, who, "x", git.write(pygit2.enums.ObjectType.TREE, tree), []))
    )
    rows, _ = rows_of(grown, tmp_path)
    assert [row["node"] for row in rows][:2] == [r"\xff\x0a.py", r"A (\xff\x0a.py)"]
    tables.write(rows, "blocks", tmp_path / "blocks.parquet")
    assert Pinned(tmp_path / "blocks.parquet").file(r"\xff\x0a.py").definitions[0].name == "A"


def test_the_same_repository_gives_the_same_bytes(grown, tmp_path):
    grown.grow({f"{number}.py": CODE.replace("g()", f"g{number}()") for number in range(300)})
    written = []
    for workers in (1, 2):
        with open_repository(grown.origin, "", tmp_path, True) as repository, Parsers(measured, workers) as parsers:
            tables.write(blocks(repository, LANGUAGES, [], parsers), "blocks", tmp_path / "b.parquet", 100)
        written.append((tmp_path / "b.parquet").read_bytes())
    assert written[0] == written[1]


def test_the_table_is_looked_up_by_path_and_by_content(grown, tmp_path):
    grown.grow({"a.py": CODE, "b (c).py": "def f (): ...\n", "vendor/v.py": "x = 1\n"})
    rows, _ = rows_of(grown, tmp_path)
    tables.write(rows, "blocks", tmp_path / "blocks.parquet", 2)
    pinned = Pinned(tmp_path / "blocks.parquet")
    file = pinned.file("a.py")
    assert [each[:4] for each in file.definitions] == [
        ("A", "class", 4, 6),
        ("A.f", "method", 5, 6),
        ("g", "function", 9, 10),
    ]
    assert (file.lines, file.unread, pinned.path_of(file.blob)) == (10, "", "a.py")
    assert file.tokens == [row["tokens"] for row in rows if row["path"] == "a.py"][1:]
    assert [each.name for each in pinned.file("b (c).py").definitions] == ["f"]
    assert pinned.file("vendor/v.py").unread == "vendored"
    assert (pinned.file("none.py"), pinned.path_of("0" * 40)) == (None, None)


def test_a_table_without_rows_has_no_files(tmp_path):
    tables.write([], "blocks", tmp_path / "blocks.parquet")
    assert Pinned(tmp_path / "blocks.parquet").file("a.py") is None


def _crashes(source):
    if b"crash" in source.content:
        os._exit(7)
    if b"memory" in source.content:
        return len(bytearray(4_000_000_000))
    if b"forever" in source.content:
        time.sleep(1_000)
    if b"decode" in source.content:
        return b"\xe9".decode()
    if b"recurse" in source.content:
        return _crashes(source)
    return source.content


def test_what_breaks_its_process_is_lost_and_the_others_go_on(monkeypatch):
    from devqa.pull_requests.code import parsing

    monkeypatch.setattr(parsing, "_SECONDS", 2)
    contents = [b"one", b"crash", b"two", b"memory", b"forever", b"decode", b"recurse", b"three"]
    with Parsers(_crashes, 2) as parsers:
        results = dict(parsers.each((content, Source(content, None)) for content in contents))
    assert [*results] == contents
    assert all(results[content] == content for content in (b"one", b"two", b"three"))
    assert results[b"crash"] == Lost("reading ended the process with exit code 7")
    assert results[b"memory"] == Lost("reading took more than 1 GB of memory")
    assert results[b"forever"] == Lost("reading took longer than 2 s")
    assert results[b"decode"] == Lost("reading failed (UnicodeDecodeError)")
    assert results[b"recurse"] == Lost("reading failed (RecursionError)")


def test_a_file_that_can_not_be_read_is_a_failed_row(grown, tmp_path):
    grown.grow({"a.py": CODE, "b.py": "crash"})
    with open_repository(grown.origin, "", tmp_path, True) as repository, Parsers(_crashes_or_measures, 1) as parsers:
        rows = list(blocks(repository, LANGUAGES, [], parsers))
    assert [(row["node"], row["status"]) for row in rows if row["kind"] == "file"] == [
        ("a.py", "ok"),
        ("b.py", "failed"),
    ]
    assert rows[-1]["reason"] == "reading ended the process with exit code 7"


def test_a_file_of_another_encoding_has_its_definitions(grown, tmp_path):
    grown.grow({"a.py": '@route("/caf\xe9")\ndef f(): ...\n'.encode("latin-1"), "b.py": CODE})
    rows, _ = rows_of(grown, tmp_path)
    assert [(row["node"], row["status"]) for row in rows][:2] == [("a.py", "ok"), ("f (a.py)", "ok")]


def _crashes_or_measures(source):
    _crashes(source)
    return measured(source)


def test_sources_are_taken_as_processes_need_them():
    taken = []

    def sources():
        for number in range(2_000):
            taken.append(number)
            yield number, Source(b"def f(): ...\n", "python")

    with Parsers(found, 1) as parsers:
        next(parsers.each(sources()))
        assert len(taken) <= 400
