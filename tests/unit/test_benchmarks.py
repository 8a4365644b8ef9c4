"""The benchmarks run: tiny sizes, and nothing about speed."""

import gzip
import http.client
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, BENCHMARKS / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def lines(table: str) -> list[list[str]]:
    """The cells of a Markdown table's lines."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]


def test_the_client_benchmark_measures_all_that_the_project_has_and_says_what_it_left_out():
    written = run("client.py", "--delays", "0.01", "--in-flight", "4", "--seconds", "0.05", "--repeats", "1")
    heads, _, row = lines(written)
    assert "Without lm-eval and inspect-ai" in written
    assert row[0] == "4"
    assert len(row) == len(heads)
    assert row[heads.index("lm-eval")] == "–"
    assert float(row[heads.index("ours / aiohttp")]) > 0


def test_the_memory_benchmark_writes_both_tables():
    written = run("memory.py", "--requests", "40", "--slice", "20", "--once", "30", "--in-flight", "4")
    *_, last, heads, _, once = lines(written)
    assert last[0] == "40"
    assert float(last[1].replace(",", "")) > 0
    assert len(once) == len(heads)
    # An answer is its text and the same text parsed.
    assert int(once[1].replace(",", "")) > 2000


_SENTENCE = "This is what you want to have of the library, and it is in the way that the others are. "
_MANUAL = (
    "<html><body><nav>Home</nav><div class=body><h1>Head<a class=headerlink href='#h'>¶</a></h1>"
    f"<p>{_SENTENCE * 6}</p><pre>call({{number}})</pre></div></body></html>"
)


def test_the_page_benchmark_compares_the_extractors_and_says_where_ours_stands(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}.html").write_text(_MANUAL.format(number=number), encoding="utf-8")
    (tmp_path / "links.html").write_text("<div class=body><a href=/>Chapter</a></div>", encoding="utf-8")
    written = run("pages.py", "--pages", "4", str(tmp_path))
    heads, _, row, *_ = lines(written)
    assert row[:3] == ["manuals en", "4", "4"]
    assert len(row) == len(heads)
    assert (float(row[heads.index("ours F1")]), row[-1]) == (1, "equal")
    assert row[heads.index("ours F1") + 1] == "100.0%"
    assert "Half 1, held out" in written
    assert "Ours with 2 workers:" in written


def test_git_directories_are_read_as_folders_are(tmp_path):
    from page_sources import Tree

    (tmp_path / "a").mkdir()
    (tmp_path / "a/b c.html").write_text("<p>ü", encoding="utf-8")
    (tmp_path / "d.gz").write_bytes(gzip.compress(b"packed"))
    for command in ("init -q", "add .", "-c user.name=x -c user.email=x@y.z commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    for tree in (Tree(tmp_path), Tree(tmp_path / ".git")):
        assert "a/b c.html" in tree and "c" not in tree
        assert (tree.text("a/b c.html"), tree.read("d.gz")) == ("<p>ü", b"packed")


def test_pages_are_scored_by_tokens_pieces_and_whole_code_blocks():
    from page_scores import code_kept, f1
    from page_sources import Page

    page = Page("", "", b"", "Use it. 缓存", ("a = 1\n  b()\n", "c()"))
    assert f1(page, "use it 缓存") == 1
    assert f1(page, "use 缓") == pytest.approx(2 / 3)
    assert f1(page, "") == 0
    assert code_kept(page, "x\n```py\n   a = 1\n\n     b()\n```") == 0.5
    assert code_kept(page, "a = 1 b()") == 0
    assert code_kept(Page("", "", b"", ""), "") is None
    pieces = Page("", "", b"", "", (), ("this one", "that one"), ("junk",))
    assert f1(pieces, "this\none") == pytest.approx(2 / 3)
    assert f1(pieces, "this one that one junk") == pytest.approx(4 / 5)


@pytest.mark.slow
def test_the_evaluation_benchmark_runs_the_workflow_to_its_reports(tmp_path):
    sizes = ("--models", "2", "--repeats", "2", "--rows", "40", "--folder", str(tmp_path / "kept"))
    heads, _, whole, per_rule, _, *rules = lines(run("evaluation.py", *sizes))
    assert whole[:3] == ["2", "2", "40"] and len(whole) == len(heads)
    assert {(cells[0], cells[1]) for cells in rules} >= {
        ("import", "2"),
        ("score", "2"),
        ("report", "2"),
        ("compare", "1"),
    }
    assert all(len(cells) == len(per_rule) for cells in rules)
    assert (tmp_path / "kept/results/reports/index.html").stat().st_size > 0


def test_a_request_that_comes_in_pieces_or_together_with_another_is_answered_once_each():
    from client import serving

    body = b'{"model": "m"}'
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serving(0.0) as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
        connection.connect()
        pieces = [head[:30], head[30:] + body[:5], body[5:] + head + body]
        for piece in pieces:
            connection.sock.sendall(piece)
        answers = connection.sock.makefile("rb")
        for _ in range(2):
            assert answers.readline().startswith(b"HTTP/1.1 200")
            headers = dict(line.split(b":", 1) for line in iter(answers.readline, b"\r\n"))
            completion = json.loads(answers.read(int(headers[b"Content-Length"])))
            assert json.loads(completion["choices"][0]["message"]["content"])["grade"] == "A"
        answers.close()
        connection.close()


def test_the_size_of_a_value_counts_what_it_shares_once():
    from memory import size

    text = "x" * 1000
    assert size([text, text], set()) == sys.getsizeof([1, 2]) + sys.getsizeof(text)
    assert size({"a": [text]}, set()) > size(text, set())
