"""The local corpus."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from devqa import tables
from devqa.config.sources import Search
from devqa.errors import UserError
from devqa.web.cleaning.clean import clean_page
from devqa.web.corpus import build_corpus
from devqa.web.corpus_files import corpus_files
from devqa.web.engines.opening import open_engine
from devqa.web.fetching.fetch import LocalFetcher

_OPTIONS = {"timeout_s": 20, "max_bytes": 1_500_000, "max_tags": 60_000, "min_characters": 50, "max_characters": 1_000}
_TEXT = "The connection limit of the server is what you set as max_connections, and it is one hundred if you do not. "


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """What workers need is loaded before they are forked, so that not every one of them loads it."""
    clean_page(f"<html><body><p>{_TEXT * 3}</p></body></html>".encode(), "text/html", "", _OPTIONS)


def _write(root: Path, name: str, text: str | bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def _parquet(path: Path, **columns: list) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_pages_of_a_folder(tmp_path):
    link = "<link rel=canonical href=https://db.example/limits>"
    _write(
        tmp_path, "b/page.HTML", f"<html><head>{link}<title>Limits</title></head><body><p>{_TEXT * 3}</p></body></html>"
    )
    _write(tmp_path, "a/notes.md", f"# Notes\n\n{_TEXT}")
    _write(tmp_path, "copy.htm", f"<html><head>{link}</head><body><p>{_TEXT * 3}</p></body></html>")
    _write(tmp_path, "short.txt", "Too little.")
    _write(tmp_path, ".git/notes.txt", _TEXT)
    _write(tmp_path, "a/.hidden.md", _TEXT)
    _write(tmp_path, "picture.html", b"\x89PNG\r\n\x1a\n")
    _write(tmp_path, "broken.pdf", b"%PDF-1.7 and nothing")
    _write(
        tmp_path, "gone.html", "<title>Page not found</title><p>Sorry, the page you are looking for does not exist.</p>"
    )
    _write(tmp_path, "ignored.css", "p {}")
    _write(tmp_path, "ignored.py", "x = 1\n" * 50)
    rows = {row["url"]: row for row in build_corpus(str(tmp_path), _OPTIONS, 1) if row["reason"] != "duplicate url"}
    assert set(rows) == {
        "https://db.example/limits",
        "file:a/notes.md",
        "file:short.txt",
        "file:picture.html",
        "file:broken.pdf",
        "file:gone.html",
    }
    page = rows["https://db.example/limits"]
    assert (page["title"], page["language"], page["status"], page["content_type"]) == (
        "Limits",
        "en",
        "ok",
        "text/html",
    )
    assert page["text"] == " ".join([_TEXT.strip()] * 3)
    assert "max_connections max connect" in page["words"]
    assert page["content"] == (tmp_path / "b/page.HTML").read_bytes()
    assert rows["file:a/notes.md"]["title"] == "Notes"
    assert rows["file:short.txt"]["reason"] == "too short: 11 characters"
    assert rows["file:picture.html"]["reason"] == "not text: image"
    assert rows["file:broken.pdf"]["reason"] == "broken PDF"
    assert rows["file:gone.html"]["reason"].startswith("page not found: ")


def test_texts_of_a_parquet_file(tmp_path):
    path = _parquet(
        tmp_path / "texts.parquet",
        url=["https://a.example", "https://b.example", "https://a.example", None, "https://c.example"],
        text=["", _TEXT, _TEXT, _TEXT, None],
        other=[1, 2, 3, 4, 5],
    )
    rows = build_corpus(path, _OPTIONS, 1)
    assert [(row["status"], row["reason"]) for row in rows] == [
        ("rejected", "empty page"),
        ("ok", ""),
        ("ok", ""),
        ("rejected", "no url"),
        ("rejected", "empty page"),
    ]
    again = _parquet(tmp_path / "again.parquet", url=["u", "u"], text=[_TEXT, f"{_TEXT}2"], title=["One", "Two"])
    assert [(row["title"], row["reason"]) for row in build_corpus(again, _OPTIONS, 1)] == [
        ("One", ""),
        ("Two", "duplicate url"),
    ]


def test_a_text_of_a_parquet_file_is_taken_as_it_is(tmp_path):
    texts = [f"{_TEXT}\n\n```py\nx = 1\n```", f"<p align=center>Logo</p>\n\n{_TEXT}"]
    path = _parquet(tmp_path / "t.parquet", url=["https://e.example/setup.py", "https://e.example/a.html"], text=texts)
    assert [row["text"] for row in build_corpus(path, _OPTIONS, 1)] == [text.strip() for text in texts]


def test_manuals_in_other_formats(tmp_path):
    _write(tmp_path, "a.rst", f"======\nLimits\n======\n\n{_TEXT}")
    _write(tmp_path, "b.adoc", f"= Memory\n\n{_TEXT}")
    rows = build_corpus(str(tmp_path), _OPTIONS, 1)
    assert [(row["title"], row["status"]) for row in rows] == [("Limits", "ok"), ("Memory", "ok")]


def test_long_texts_are_cut(tmp_path):
    (row,) = build_corpus(_parquet(tmp_path / "t.parquet", url=["u"], text=[_TEXT * 5_000]), _OPTIONS, 1)
    assert len(row["text"]) == 1_000


def test_the_table_is_what_the_local_engine_and_fetcher_read(tmp_path):
    _write(tmp_path / "web", "page.txt", _TEXT)
    table = tmp_path / "corpus.parquet"
    tables.write(build_corpus(str(tmp_path / "web"), _OPTIONS, 1), "corpus", table)
    config = {"search": Search(engine="local", corpus=str(tmp_path / "web")).model_dump(mode="json")}
    engine = open_engine(SimpleNamespace(config=config, corpus=lambda: str(table)))
    (hit,) = engine.search("What is max_connections?", "en", 10).hits
    assert hit.url == "file:page.txt"
    page = LocalFetcher(tables.read(table, "corpus")).fetch(hit.url)
    assert (page.status, page.content) == ("ok", _TEXT.encode())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda root: root / "nowhere", "there is no"),
        (lambda root: root, "holds no pages"),
        (lambda root: _write(root, "page.pdf", "x") or root / "page.pdf", "no corpus"),
        (lambda root: _parquet(root / "t.parquet", url=["u"]), "no column text"),
        (lambda root: _write(root, "bad.parquet", "x") or root / "bad.parquet", "can't be read as Parquet"),
    ],
)
def test_a_corpus_that_can_not_be_used_is_named(tmp_path, make, message):
    with pytest.raises(UserError, match=message) as error:
        build_corpus(str(make(tmp_path)), _OPTIONS, 1)
    assert str(tmp_path) in str(error.value)


def test_files_are_sorted(tmp_path):
    for name in ("b.md", "a/z.txt", "a.html"):
        _write(tmp_path, name, "x")
    assert corpus_files(tmp_path) == [str(tmp_path / name) for name in ("a.html", "a/z.txt", "b.md")]
