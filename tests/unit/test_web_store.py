"""The store of answers and pages."""

import hashlib
import logging
import os

import pytest

from devqa.web.store import Store


def test_what_was_put_comes_back_also_to_another_process(tmp_path):
    Store(tmp_path).put("url:https://a.example/ \ud800", b"\x00page")
    assert Store(tmp_path).get("url:https://a.example/ \ud800") == b"\x00page"
    assert Store(tmp_path).get("url:https://b.example/") is None


def test_the_last_value_stays_and_no_temporary_file_does(tmp_path):
    store = Store(tmp_path)
    store.put("k", b"old")
    store.put("k", b"")
    assert store.get("k") == b""
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-3], lambda data: data[:9] + b"!" + data[10:]])
def test_a_damaged_entry_counts_as_absent_and_can_be_replaced(tmp_path, caplog, damage):
    store = Store(tmp_path)
    store.put("k", b"value " * 100)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(damage(file.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert store.get("k") is None
    assert str(file) in caplog.text
    store.put("k", b"new")
    assert store.get("k") == b"new"


def test_a_page_that_is_there_is_neither_read_nor_written_again(tmp_path):
    store = Store(tmp_path)
    store.put_page(b"page")
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.chmod(0)
    os.utime(file, (1, 1))
    store.put_page(b"page")
    assert file.stat().st_mtime == 1
    store.put_page(b"page", anew=True)
    assert store.get_page(hashlib.sha256(b"page").hexdigest()) == b"page"


def test_a_damaged_page_is_written_again_as_soon_as_anybody_has_seen_it(tmp_path):
    store = Store(tmp_path)
    sha256 = store.put_page(b"page")
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(file.read_bytes()[:-1])
    assert store.get_page(sha256) is None
    assert Store(tmp_path).put_page(b"page") == sha256
    assert store.get_page(sha256) == b"page"


def test_what_another_job_has_mended_meanwhile_is_not_removed(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("k", b"value")
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(b"damaged")

    def read_and_mended(path):
        damaged = path.read_bytes()
        Store(tmp_path).put("k", b"mended")
        return damaged

    monkeypatch.setattr("devqa.web.store.content", read_and_mended)
    assert store.get("k") is None
    monkeypatch.undo()
    assert store.get("k") == b"mended"


def test_pages_are_kept_under_their_hash(tmp_path):
    store = Store(tmp_path)
    sha256 = store.put_page(b"<p>page")
    assert sha256 == hashlib.sha256(b"<p>page").hexdigest()
    assert store.get_page(sha256) == store.get(f"page:{sha256}") == b"<p>page"
    assert store.get_page("0" * 64) is None
