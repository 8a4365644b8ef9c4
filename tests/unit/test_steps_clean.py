"""pages → references."""

import hashlib
import time

import pytest

from devqa.errors import UserError
from devqa.steps import clean as step
from devqa.web.cleaning.clean import clean_page
from devqa.web.store import Store
from standins import assert_sound

OPTIONS = {"timeout_s": 20, "max_bytes": 1_000_000, "max_tags": 10_000, "min_characters": 50, "max_characters": 5_000}
_LINK = '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">'
TEXT = "The default of max_connections in PostgreSQL is 100. " * 6
PAGE = f"<html><head>{_LINK}<title>Limits</title></head><body><article><p>{TEXT}</p></article></body></html>".encode()


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """What workers need is loaded before they are forked, so that not every one of them loads it."""
    clean_page(PAGE, "text/html", "", OPTIONS)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def clean(*arguments):
    return list(step.clean(*arguments))


def page(store, content, name="d", url="https://e/1", kind="text/html; charset=utf-8", title="found title", rank=1):
    sha256 = damaged(store) if content is None else store.put_page(content)
    return {
        "dialogue_id": name,
        "rank": rank,
        "url": url,
        "title": title,
        "final_url": url,
        "content_type": kind,
        "sha256": sha256,
        "status": "ok",
        "reason": "",
    }


def damaged(store):
    """The hash of a page whose file can't be read."""
    sha256 = store.put_page(b"damaged")
    store._path(f"page:{sha256}").write_bytes(b"junk")
    return sha256


def test_a_page_becomes_its_text(store):
    (row,) = clean([page(store, PAGE)], store, OPTIONS, 1)
    assert_sound([row], "references")
    assert (row["title"], row["language"], row["status"]) == ("Limits", "en", "ok")
    assert row["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert "max_connections in PostgreSQL is 100" in row["text"]


def test_pages_that_are_no_longer_in_the_cache_stop_the_step_before_a_row_is_lost(store):
    pages = [page(store, PAGE), {**page(store, PAGE), "sha256": hashlib.sha256(b"lost").hexdigest()}]
    with pytest.raises(UserError, match="no longer holds the bytes of 1 of 2 pages: .*--forcerun fetch"):
        clean(pages, store, OPTIONS, 1)


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
    assert "are damaged" in rows[1]["reason"]
    assert rows[5]["title"] == "found title"


def test_no_page_is_cleaned_twice_unless_something_that_its_text_depends_on_has_changed(store, monkeypatch):
    pages = [page(store, PAGE, "a"), page(store, b" ", "a", "https://e/3"), page(store, PAGE, "b", "https://e/2")]
    rows = clean(pages, store, OPTIONS, 1)
    monkeypatch.setattr("devqa.web.cleaning.clean.ProcessPool.schedule", lambda *_, **__: pytest.fail("cleaned again"))
    again = {"timeout_s": 5, "duplicate_similarity": 0.8}
    assert clean([*pages, page(store, PAGE, "c")], store, OPTIONS | again, 2)[:3] == rows
    assert [row["status"] for row in rows] == ["ok", "rejected", "ok"]
    for changed in (OPTIONS | {"max_characters": 90}, OPTIONS | {"min_characters": 10}):
        assert "cleaned again" in str(raised(clean, pages, store, changed, 1))
    for other in (page(store, PAGE + b" "), page(store, PAGE, url="https://e/4"), page(store, PAGE, kind="text/html")):
        assert "cleaned again" in str(raised(clean, [other], store, OPTIONS, 1))


def raised(function, *arguments):
    with pytest.raises(pytest.fail.Exception) as caught:
        function(*arguments)
    return caught.value


def test_a_page_that_failed_is_cleaned_again(store, monkeypatch):
    pages = [page(store, PAGE)]
    with monkeypatch.context() as patch:
        patch.setattr("devqa.web.cleaning.clean.clean_page", lambda *_: time.sleep(60))
        (row,) = clean(pages, store, OPTIONS | {"timeout_s": 0.2}, 1)
    assert (row["status"], row["reason"]) == ("failed", "cleaning took longer than 0.2 s")
    assert clean(pages, store, OPTIONS, 1)[0]["status"] == "ok"


def test_rows_come_while_most_contents_are_still_in_the_store(store, tmp_path):
    read = []

    class Counting(Store):
        def get_page(self, sha256):
            read.append(sha256)
            return super().get_page(sha256)

    pages = [page(store, PAGE + b" " * number, f"{number:03}") for number in range(60)]
    rows = step.clean(pages, Counting(tmp_path), OPTIONS, 2)
    for number in range(20):
        assert next(rows)["dialogue_id"] == f"{number:03}"
        assert len(read) <= number + 10
    rows.close()
    assert len(read) < 40


def _paragraph(number):
    return f"Paragraph {number} tells of setting {number * 7} and of option {number * 13}, which nothing else does. "


def _texts(store, *texts, name="d", first=1):
    return [
        page(store, text.encode(), name, f"https://e{rank}/", "text/plain", rank=rank)
        for rank, text in enumerate(texts, first)
    ]


def test_of_pages_of_a_dialogue_with_nearly_the_same_text_the_best_ranked_is_kept(store):
    text = "".join(map(_paragraph, range(30)))
    copy = text.replace("setting 70", "setting 71").upper()
    half = "".join(map(_paragraph, range(15)))
    options = OPTIONS | {"duplicate_similarity": 0.8}
    pages = _texts(store, text, half, copy, "x" * 10, "x" * 10) + _texts(store, copy, name="e")
    rows = clean(pages, store, options, 1)
    assert_sound(rows, "references")
    assert [(row["status"], row["reason"]) for row in rows] == [
        ("ok", ""),
        ("ok", ""),
        ("rejected", "the same text as a better page: rank 1"),
        # A page that is rejected anyway keeps its own reason.
        ("rejected", "too short: 10 characters"),
        ("rejected", "too short: 10 characters"),
        # Another dialogue may have it.
        ("ok", ""),
    ]
    # The text stays in the table: a person may want to compare.
    assert rows[2]["text"] == copy.strip()
    assert all(row["status"] == "ok" for row in clean(pages[:3], store, OPTIONS, 1))
    assert all(row["status"] == "ok" for row in clean(pages[:3], store, OPTIONS | {"duplicate_similarity": 1}, 1))


def test_rank_decides_and_not_the_order_of_rows(store):
    text = "".join(map(_paragraph, range(30)))
    pages = _texts(store, text, text + "more", text + "most")[::-1]
    rows = clean(pages, store, OPTIONS | {"duplicate_similarity": 0.8}, 1)
    assert [(row["rank"], row["status"]) for row in rows] == [(3, "rejected"), (2, "rejected"), (1, "ok")]
    assert rows[0]["reason"] == "the same text as a better page: rank 1"


def test_two_results_that_lead_to_one_address_are_one_page(store):
    texts = ["".join(map(_paragraph, range(start, start + 20))) for start in (0, 100, 200)]
    pages = _texts(store, *texts)
    pages[0]["final_url"], pages[2]["final_url"] = "http://www.e.example/a/", "https://e.example/a?utm_source=x"
    rows = clean(pages, store, OPTIONS | {"duplicate_similarity": 0.8}, 1)
    assert [row["reason"] for row in rows] == ["", "", "the same address as a better page: rank 1"]


@pytest.mark.parametrize("reach", [0.3, 0.8, 1])
def test_copies_in_chinese(store, reach):
    text = "".join(
        f"第{number}段说明参数{number * 7}的默认值是{number * 13}，修改之后需要重新启动服务。" for number in range(30)
    )
    rows = clean(
        _texts(store, text, text.replace("参数70", "参数71")), store, OPTIONS | {"duplicate_similarity": reach}, 1
    )
    assert [row["status"] for row in rows] == ["ok", "ok" if reach == 1 else "rejected"]


@pytest.mark.parametrize("odd", [b"&#xD800;", b"&#0;", b"\xed\xa0\x80", "\ufffd\u202e🧪".encode()])
def test_odd_characters_come_through_as_text_that_a_table_holds(store, odd):
    rows = clean([page(store, PAGE.replace(b"</p>", odd + b"</p>"))], store, OPTIONS, 1)
    assert_sound(rows, "references")
    assert rows[0]["status"] == "ok"


def test_no_pages_no_references(store):
    assert clean([], store, OPTIONS, 1) == []
