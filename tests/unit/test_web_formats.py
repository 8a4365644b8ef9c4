"""What a page is by its bytes, and texts that need no extractor."""

import pytest

from devqa.web.cleaning.clean import clean_page
from devqa.web.cleaning.filetypes import language_of
from devqa.web.cleaning.formats import Unreadable, front_matter, is_html, read_text
from devqa.web.cleaning.pdf import joined, read_pdf

_OPTIONS = {"timeout_s": 20, "max_bytes": 10**6, "max_tags": 10**4, "min_characters": 20, "max_characters": 10**5}
_PAGE = "<!DOCTYPE html><html><body><p>A paragraph that says what you want to know about the limit.</p></body></html>"


def _pdf(pages: list[list[bytes]], info: bytes = b"", trailer: bytes = b"") -> bytes:
    """A PDF file with one page for each list of lines."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", font, b"<< %s >>" % info]
    kids = []
    for lines in pages:
        shown = b" ".join(b"(%s) Tj T*" % line for line in lines)
        stream = b"BT /F1 12 Tf 14 TL 72 750 Td %s ET" % shown
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, each) for number, each in enumerate(objects, 1))
    return b"%%PDF-1.4\n%strailer << /Root 1 0 R /Info 4 0 R %s >>\n%%%%EOF" % (body, trailer)


def test_the_text_of_a_pdf_comes_page_by_page():
    pages = [
        [b"Manual of the server", b"1 Limits", b"The default of max_connections", b"is 100 \\(one hundred\\)."],
        [b"Manual of the server", b"2 Memory", b"shared_buffers takes a quarter", b"of the mem-", b"ory."],
        [b"Manual of the server", b"3 Disks", b"Have two."],
    ]
    document = read_pdf(_pdf(pages, info=b"/Title (The Manual)"), 10**5)
    assert document.title == "The Manual"
    assert document.text == (
        "1 Limits\nThe default of max_connections\nis 100 (one hundred).\n\n"
        "2 Memory\nshared_buffers takes a quarter\nof the memory.\n\n3 Disks\nHave two."
    )


@pytest.mark.parametrize("title", [b"", b"untitled", b"Microsoft Word - draft3.doc", b"thesis.dvi"])
def test_a_pdf_without_a_title_has_its_first_line(title):
    pages = [[b"On limits of servers", b"A text about limits that is long enough."]]
    assert read_pdf(_pdf(pages, info=b"/Title (%s)" % title), 10**5).title == "On limits of servers"


def test_pages_are_read_until_there_is_enough():
    pages = [[b"One of many pages " + b"x" * number] for number in range(1, 100)]
    assert 900 <= len(read_pdf(_pdf(pages), 1_000).text) < 1_200


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7 and then nothing", "broken PDF"),
        (_pdf([[], []]), "PDF without text: it holds images, or nothing"),
        (
            _pdf(
                [[b"A secret."]],
                trailer=b"/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>"
                % (b"11" * 32, b"22" * 32),
            ),
            "PDF with a password",
        ),
    ],
    ids=["broken", "scan", "password"],
)
def test_a_pdf_that_can_not_be_read_is_rejected(content, reason):
    page = clean_page(content, "application/pdf", "https://e/manual.pdf", _OPTIONS)
    assert (page.status, page.reason) == ("rejected", reason)


def test_a_pdf_is_known_whatever_it_is_called():
    page = clean_page(_pdf([[b"The default of max_connections is 100."]]), "text/html", "https://e/x", _OPTIONS)
    assert (page.status, page.extractor, page.text) == ("ok", "pdf", "The default of max_connections is 100.")


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        # Heads and feet with numbers; those of left and right pages differ.
        (
            ["Server 1\nAlpha\nii", "Limits 2\nBeta\niii", "Server 3\nGamma\niv", "Limits 4\nDelta\nv"],
            "Alpha\n\nBeta\n\nGamma\n\nDelta",
        ),
        # A chapter's head stands on its own pages only.
        (["One\nA a", "One\nB b", "Two\nC c", "Two\nD d"], "A a\n\nB b\n\nC c\n\nD d"),
        # No head: marks of code, and lines in the middle of pages.
        (["X {\n}", "Y {\n}"], "X {\n}\n\nY {\n}"),
        (["A\nsame\nB", "C\nsame\nD"], "A\nsame\nB\n\nC\nsame\nD"),
        # A sentence goes on over the page's end, and a word.
        (["He said that", "it works.", "Then"], "He said that\nit works.\n\nThen"),
        (["It con-", "tinues."], "It continues."),
        # What a line's end divides (U+0002); a hyphen stays where the document writes the word with one elsewhere.
        (["data\x02base"], "database"),
        (["про\x02грамма"], "программа"),
        (
            ["A cross\x02referenced entry.\nBoth are cross-referenced."],
            "A cross-referenced entry.\nBoth are cross-referenced.",
        ),
        (["a\x02b\x02c and d\x02"], "abc and d-"),
        (["", "Alone", ""], "Alone"),
        # Where time grows with the square of the length, these take minutes.
        (["A" + "a" * 1_000_000], "A" + "a" * 1_000_000),
        (["A-" * 300_000], "A-" * 300_000),
    ],
)
def test_pages_are_joined(pages, text):
    assert joined(pages) == text


@pytest.mark.parametrize(
    ("text", "content_type", "url", "expected"),
    [
        (_PAGE, "text/html", "", True),
        (_PAGE, "text/plain", "https://raw.example/docs/page.txt", True),
        (f"\n<!-- saved -->\n{_PAGE}", "text/plain", "", True),
        (f'<?xml version="1.0"?>\n{_PAGE}', "application/xml", "", True),
        (_PAGE, "", "", True),
        ("<p>A fragment.</p>", "text/html", "", True),
        ("<p>A fragment.</p>", "", "", True),
        ("Just words, and 1 < 2.", "text/html; charset=utf-8", "", False),
        ("# Title\n\nLine<br>\n\nUse `vector<int>`.", "text/html", "", False),
        ("<h1 align=center>Logo</h1>\n\n# Title", "text/markdown", "", False),
        ('<p align="center">Logo</p>\n\n# Title', "text/plain", "https://raw.example/README.md", False),
        ('<p align="center">Logo</p>\n\n# Title', "application/octet-stream", "https://raw.example/README.md", False),
        ("print('<p>')", "text/plain", "https://raw.example/a.py", False),
        ("x = '<div>'", "application/octet-stream", "https://raw.example/a.js", False),
        ("<template>\n<div>", "text/plain", "https://raw.example/App.vue", False),
    ],
)
def test_html_is_told_from_text_by_its_bytes(text, content_type, url, expected):
    assert is_html(text, content_type, url) is expected


@pytest.mark.parametrize(
    ("content_type", "url", "language"),
    [
        ("text/x-python", "https://e/x", "python"),
        ("application/json; charset=utf-8", "https://e/api", "json"),
        ("application/vnd.api+json", "https://e/api", "json"),
        ("application/javascript", "https://e/a.min.js", "js"),
        ("text/css", "", "css"),
        ("text/x-c", "https://e/a.c", "c"),
        ("text/plain", "https://raw.example/o/r/main/src/lib.rs?raw=1", "rust"),
        ("text/plain; charset=utf-8", "https://e/Dockerfile", "dockerfile"),
        ("application/octet-stream", "https://e/deploy.YAML", "yaml"),
        ("text/plain", "https://e/notes.txt", ""),
        ("text/plain", "https://e/README.md", ""),
        ("text/plain", "https://node.js", ""),
        ("text/html", "https://e/page.php", ""),
        ("text/plain", "http://[bad/a.py", ""),
    ],
)
def test_source_files_are_known_by_type_and_name(content_type, url, language):
    assert language_of(content_type, url) == language


def test_a_source_file_becomes_one_block_of_code():
    code = b"# A tool.\n\ndef add(a, b):\n\n\n    return a + b  # the sum of both numbers\n"
    page = clean_page(code, "text/plain; charset=utf-8", "https://raw.example/tools/add.py", _OPTIONS)
    assert (page.status, page.title, page.extractor) == ("ok", "add.py", "source")
    assert page.text == f"```python\n{code.decode().strip()}\n```"


def test_a_fence_is_longer_than_those_within():
    text = read_text('"""Doc.\n\n```sh\nrun\n```\n"""\n', "text/x-python", "").text
    assert text.startswith("````python\n")
    assert text.endswith("\n````")


@pytest.mark.parametrize(
    ("content", "content_type", "url"),
    [
        (b"x = 1\n" * 500, "text/x-python", ""),
        (b"# Title\n\n~~~~py\n" + b"x = 1\n" * 500, "text/markdown", ""),
    ],
)
def test_a_cut_leaves_no_fence_open(content, content_type, url):
    page = clean_page(content, content_type, url, _OPTIONS | {"max_characters": 500})
    lines = page.text.split("\n")
    assert page.text.count(lines[-1]) == 2
    assert lines[-2] == "x = 1"


@pytest.mark.parametrize(
    ("text", "content_type", "reason"),
    [
        ('<?xml version="1.0"?>\n<!-- x -->\n<rss version="2.0"><channel/></rss>', "application/rss+xml", "news feed"),
        ('<feed xmlns="http://www.w3.org/2005/Atom"></feed>', "text/xml", "news feed"),
        ('<?xml version="1.0"?><urlset><url/></urlset>', "application/xml", "sitemap"),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', "text/plain", "not text: image"),
        ("%!PS-Adobe-3.0\n", "text/plain", "not text: PostScript"),
        ("\ufffd\ufffd\x01 ab" * 20, "text/plain", "not text: binary data"),
        ("a=1;" * 2_000, "application/javascript", "minified code: js"),
    ],
)
def test_what_is_no_page_though_it_is_text(text, content_type, reason):
    with pytest.raises(Unreadable, match=reason):
        read_text(text, content_type, "")


@pytest.mark.parametrize("text", ["<project><rss>no feed</rss></project>", "<dependency>\n</dependency>"])
def test_other_xml_is_code(text):
    assert read_text(text, "text/xml", "").text.startswith("```xml\n<")


@pytest.mark.parametrize(
    ("text", "title", "first"),
    [
        ("# A title #\n\nText.", "A title", "# A title #"),
        ("---\ntitle: 'In front'\nlicense: MIT\n---\n\n# Heading\n", "In front", "# Heading"),
        ('+++\ntitle = "Of Hugo"\n+++\nText.', "Of Hugo", "Text."),
        ("---\n\nA rule before text.\n\n---\n", "", "---"),
        ("Setext\n======\n\nText.", "Setext", "Setext"),
        ("======\nOf rST\n======\n\nText.", "Of rST", "======"),
        ("= AsciiDoc\n\nText.", "AsciiDoc", "= AsciiDoc"),
        ("No heading.\n\nText.", "", "No heading."),
        ("## Second level\n", "", "## Second level"),
    ],
)
def test_titles_of_texts(text, title, first):
    document = read_text(text, "text/plain", "https://e/x.txt")
    assert (document.title, document.text.split("\n")[0]) == (title, first)


def test_fields_of_front_matter():
    assert front_matter("---\nTitle: a: b\nlicense:  'CC0'\n---\n") == {"title": "a: b", "license": "CC0"}
    assert front_matter("no fields") == {}
