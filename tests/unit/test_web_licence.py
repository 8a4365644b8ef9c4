"""The licence that a page states."""

import pytest

from devqa.web.cleaning.licence import licence_of

_BY = "https://creativecommons.org/licenses/by/4.0/"
_SA = "https://creativecommons.org/licenses/by-sa/4.0/"


def _html(body: str, head: str = "") -> str:
    return licence_of(f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode(), "text/html")


def _linked_data(data: str) -> str:
    return _html("", f'<script type="application/ld+json">{data}</script>')


@pytest.mark.parametrize(
    ("head", "body", "licence"),
    [
        (f'<link rel="license" href="{_BY}">', "", _BY),
        (f"<LINK HREF={_BY} REL='nofollow License'>", "", _BY),
        ("", f'<a rel="license noopener" href="{_BY}">CC</a>', _BY),
        ("", f'<p itemscope><a itemprop="license" href="{_BY}">CC</a>', _BY),
        ("", '<meta itemprop="license" content="CC BY 4.0">', "CC BY 4.0"),
        (f'<meta name="dcterms.license" content="{_BY}">', "", _BY),
        (f'<meta property="DC.rights" content="Licensed under {_BY}">', "", _BY),
        ('<meta name="dc.rights" content="CC BY-SA 4.0 &amp; MIT License">', "", "CC BY-SA 4.0 & MIT License"),
        ('<meta name="copyright" content="2024 The Owner, all rights reserved">', "", ""),
        ("", f'Content is available under a <a href="{_SA}">Creative Commons licence</a>.', _SA),
        ("", f'Except where otherwise noted, this is <a href="{_SA}">CC</a>.', _SA),
        ("", '<p>Licensed under <a href="//www.apache.org/licenses/LICENSE-2.0">Apache</a>', "https://www.apache.org/licenses/LICENSE-2.0"),
        ("", f'本文遵循<a href="{_SA}"> CC 4.0 BY-SA </a>版权协议', _SA),
        ("", f'本作品采用<a href="{_SA}">知识共享署名</a>许可', _SA),
        ("", f'Текст доступен по лицензии <a href="{_SA}">Creative Commons</a>', _SA),
        ("", "This page is licensed under the <a href=/psf>PSF License Version 2.0</a>.", "PSF License Version 2.0"),
        # About licences, and nothing about this page's.
        ("", f'Read about <a href="{_BY}">this</a> and <a href="https://spdx.org/licenses/MIT">that</a>.', ""),
        ("", f'Licensed under <a href="https://e.example/terms">our terms</a>. See <a href="{_BY}">this</a>.', ""),
        ("", "<p>All rights reserved.", ""),
        ("", '<a rel="license" href="#license">see below</a>', ""),
        ('<link rel="license" href="javascript:alert(1)">', "", ""),
        ('<link rel="license" href="http://[bad">', "", ""),
    ],
)  # fmt: skip
def test_what_a_page_states(head, body, licence):
    assert _html(body, head) == licence


def test_what_is_most_plainly_the_pages_own_wins():
    statement = f'Licensed under <a href="{_SA}">CC BY-SA</a>.'
    assert _html(f'{statement}<a rel="license" href="{_BY}">CC BY</a>') == _BY
    assert _html(statement, f'<meta name="dcterms.license" content="{_BY}">') == _BY
    code = 'and code under the <a href="https://www.apache.org/licenses/LICENSE-2.0">Apache licence</a>'
    assert _html(f"{statement} {code}") == _SA


@pytest.mark.parametrize(
    ("data", "licence"),
    [
        (f'{{"@type": "TechArticle", "license": "{_BY}"}}', _BY),
        (f'{{"@graph": [{{"@type": "WebSite"}}, {{"@type": ["Article"], "license": {{"@id": "{_BY}"}}}}]}}', _BY),
        ('[{"@type": "Article", "license": [{"name": "CC BY"}]}]', "CC BY"),
        (f'{{"@type": "Article", "image": {{"@type": "ImageObject", "license": "{_BY}"}}}}', ""),
        (f'[{{"@type": "ImageObject", "license": "{_BY}"}}]', ""),
        ('{"license": 7}', ""),
        ('{"@graph": "x", "license": {"url": null}}', ""),
        ("{broken", ""),
        ("[" * 5_000, ""),
    ],
)
def test_linked_data(data, licence):
    assert _linked_data(data) == licence


@pytest.mark.parametrize(
    ("text", "content_type", "licence"),
    [
        ("#!/bin/sh\n# SPDX-License-Identifier: MIT OR Apache-2.0\n", "text/x-sh", "MIT OR Apache-2.0"),
        ("/* SPDX-License-Identifier: GPL-2.0 WITH Foo-note */\n", "text/x-c", "GPL-2.0 WITH Foo-note"),
        ("<!-- SPDX-License-Identifier: CC0-1.0 -->\n# T\n", "text/markdown", "CC0-1.0"),
        ("x = 1\n" * 200 + "# SPDX-License-Identifier: MIT\n", "text/x-python", ""),
        ("---\ntitle: T\nlicense: CC-BY-4.0\n---\n\nText.", "text/markdown", "CC-BY-4.0"),
        (f"# T\n\nThis work is licensed under [CC BY]({_BY}).", "text/markdown", _BY),
        (f"Licensed under the Apache License, Version 2.0: {_BY}.", "text/plain", _BY),
        (f"See {_BY} for that.", "text/plain", ""),
        ("Nothing.", "text/plain", ""),
    ],
)  # fmt: skip
def test_texts_and_source_files(text, content_type, licence):
    assert licence_of(text.encode(), content_type) == licence


def test_an_address_on_the_pages_own_site_is_completed():
    page = b'<html><a rel="license" href="/terms">Terms</a></html>'
    assert licence_of(page, "text/html", "https://e.example/a/b") == "https://e.example/terms"
    assert licence_of(page, "text/html") == ""


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"%PDF-1.7 SPDX-License-Identifier: MIT", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_text_states_nothing(content):
    assert licence_of(content, "text/html") == ""


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<a href=//creativecommons.org/licenses/>",
        '<a license a="',
        "<script type=ld+json>",
        " =",
        "aaaa",
        "---\n",
        "SPDX-License-Identifier:",
        "this page is licensed under ",
        "//creativecommons.org/licenses/",
        "<!--",
        "license ",
    ],
)
@pytest.mark.parametrize("head", ["", "<html><meta license", "<html><body>", '<script type="application/ld+json">'])
def test_a_hostile_page_comes_to_an_end(head, piece):
    # Where a pattern's time grows with the square of the length, this takes minutes.
    content = (head + piece * (400_000 // len(piece))).encode()
    assert len(licence_of(content, "text/html")) <= 200


def test_no_more_than_two_megabytes_are_read():
    link = f'<link rel="license" href="{_BY}">'.encode()
    assert licence_of(b"<html>" + b" " * 1_000_000 + link, "text/html") == _BY
    assert licence_of(b"<html>" + b" " * 2_000_000 + link, "text/html") == ""
