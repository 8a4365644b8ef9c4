"""pages → references."""

import hashlib

import pytest

from devqa.steps import clean as step
from devqa.steps.clean import clean
from devqa.web.store import Store
from standins import assert_sound

OPTIONS = {"timeout_s": 20, "max_bytes": 1_000_000, "max_tags": 10_000, "min_characters": 50, "max_characters": 5_000}
TEXT = "The default of max_connections in PostgreSQL is 100. " * 6
PAGE = f"<html><head><title>Limits</title></head><body><article><p>{TEXT}</p></article></body></html>".encode()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def page(store, content, name="d", url="https://e/1", kind="text/html; charset=utf-8", title="found title"):
    sha256 = hashlib.sha256(b"lost").hexdigest() if content is None else store.put_page(content)
    return {
        "dialogue_id": name,
        "rank": 1,
        "url": url,
        "title": title,
        "final_url": url,
        "content_type": kind,
        "sha256": sha256,
        "status": "ok",
        "reason": "",
    }


def test_a_page_becomes_its_text(store):
    (row,) = clean([page(store, PAGE)], store, OPTIONS, 1)
    assert_sound([row], "references")
    assert (row["title"], row["language"], row["status"]) == ("Limits", "en", "ok")
    assert "max_connections in PostgreSQL is 100" in row["text"]


def test_every_page_is_a_row_in_its_place_whatever_became_of_it(store):
    pages = [
        page(store, PAGE, "a"),
        page(store, None, "b", "https://e/2"),
        page(store, b"  ", "c", "https://e/3"),
        page(store, b"<p>short</p>", "d", "https://e/4"),
        page(store, b"%PDF-1.7 binary", "e", "https://e/5"),
        page(store, TEXT.encode(), "f", "https://e/6", "text/plain"),
    ]
    rows = clean(pages, store, OPTIONS, 2)
    assert_sound(rows, "references")
    assert [(row["dialogue_id"], row["status"]) for row in rows] == [
        ("a", "ok"),
        ("b", "failed"),
        ("c", "rejected"),
        ("d", "rejected"),
        ("e", "rejected"),
        ("f", "ok"),
    ]
    assert "no longer in the cache" in rows[1]["reason"]
    assert rows[5]["title"] == "found title"


def test_the_same_bytes_at_the_same_address_are_cleaned_once(store, monkeypatch):
    cleaned = []
    real = step.clean_all
    monkeypatch.setattr(step, "clean_all", lambda items, *rest: real(cleaned.extend(items) or items, *rest))
    rows = clean(
        [page(store, PAGE, "a"), page(store, PAGE, "b"), page(store, PAGE, "b", "https://e/2")], store, OPTIONS, 1
    )
    assert len(cleaned) == 2
    assert [row["dialogue_id"] for row in rows] == ["a", "b", "b"]
    assert {row["text"] for row in rows} == {rows[0]["text"]}


@pytest.mark.parametrize("odd", [b"&#xD800;", b"&#0;", b"\xed\xa0\x80", "\ufffd\u202e🧪".encode()])
def test_odd_characters_come_through_as_text_that_a_table_holds(store, odd):
    rows = clean([page(store, PAGE.replace(b"</p>", odd + b"</p>"))], store, OPTIONS, 1)
    assert_sound(rows, "references")
    assert rows[0]["status"] == "ok"


def test_no_pages_no_references(store):
    assert clean([], store, OPTIONS, 1) == []
