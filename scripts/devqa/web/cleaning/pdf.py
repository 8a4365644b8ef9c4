"""The text of PDF files. To be called in a process that can be killed: the reader is written in C++."""

import re
from collections.abc import Sequence

import pypdfium2

from devqa.web.cleaning.formats import Document, Unreadable, is_garbage

_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD (https://pdfium.googlesource.com/pdfium, public/fpdfview.h)
_LEAST_CHARACTERS = 20  # of a page on average; scans may have a line of text that their maker put there
_MOST_PAGES = 10_000
_MOST_RUNNING_LINES = 2  # at the top of a page, and at the bottom
_LONGEST_TITLE = 300
# How the reader marks a word that a line's end divides; between pages the hyphen stands as it is.
_DIVISION = re.compile(r"[\x02\ufffe]\n?|(?<=\w)[-\u00ad]\n(?=[^\W\d_A-Z])")
_DIVIDED = re.compile(rf"\b\w++(?:(?:{_DIVISION.pattern})\w++)++")
_WORD = re.compile(r"\b\w++(?:-\w++)*+")
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "…")
# What programs write into the title when nobody has given one.
_NO_TITLE = re.compile(
    r"untitled|microsoft \w+ - .*|.*\.(?:docx?|dvi|tex|indd|pptx?|rtf|odt|pdf|fm)|\W*", re.IGNORECASE
)


def read_pdf(content: bytes, most_characters: int) -> Document:
    """The text of a PDF, page by page in the order in which the file holds it, without what is repeated on every page.

    Pages are read until `most_characters` are. Lines stay lines; a word that a line's end divides becomes one again.

    Raises:
        Unreadable: the file is encrypted or broken, holds no text (a scan), or has characters that stand for nothing.
    """
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        encrypted = error.err_code == _PASSWORD_ERROR
        raise Unreadable("PDF with a password" if encrypted else "broken PDF") from error
    try:
        title = document.get_metadata_value("Title").strip()
        pages = _pages(document, most_characters)
    finally:
        document.close()
    if sum(map(len, pages)) < _LEAST_CHARACTERS * len(pages):
        raise Unreadable("PDF without text: it holds images, or nothing")
    text = joined(pages)
    if is_garbage(text):
        raise Unreadable("PDF whose characters stand for nothing")
    if _NO_TITLE.fullmatch(title):
        title = text.split("\n", 1)[0]
    return Document(" ".join(title.split())[:_LONGEST_TITLE], text)


def joined(pages: Sequence[str]) -> str:
    """The text of a document from its pages' texts, without running heads and feet."""
    lines = [[line.strip() for line in page.split("\n") if line.strip()] for page in pages]
    text = ""
    for page in ("\n".join(page) for page in _without_running_lines(lines)):
        if not page:
            continue
        # A paragraph goes on over the page's end.
        goes_on = not text.endswith(_ENDS) and page[0].islower()
        text += ("\n" if goes_on else "\n\n") + page
    text = text.strip()
    known = set(_WORD.findall(text))

    def whole(divided: re.Match[str]) -> str:
        parts = _DIVISION.split(divided[0])
        with_hyphen, without = "-".join(parts), "".join(parts)
        return with_hyphen if with_hyphen in known and without not in known else without

    return _DIVISION.sub("-", _DIVIDED.sub(whole, text))


def _pages(document: pypdfium2.PdfDocument, most_characters: int) -> list[str]:
    """The texts of the first pages, as many as it takes; a page that can't be read counts as empty."""
    pages, characters = [], 0
    for number in range(min(len(document), _MOST_PAGES)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").replace("\r", "\n")
            page.close()
        except pypdfium2.PdfiumError:
            text = ""
        pages.append(text)
        characters += len(text)
        if characters > most_characters:
            break
    return pages


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    """Pages without the lines at their tops and bottoms that pages nearby have too, but for their numbers."""
    kept = pages
    for _ in range(_MOST_RUNNING_LINES):
        kept = [page[_is_running(kept, number, 0) : len(page)] for number, page in enumerate(kept)]
        kept = [page[: len(page) - _is_running(kept, number, -1)] for number, page in enumerate(kept)]
    return kept


def _is_running(pages: list[list[str]], number: int, position: int) -> bool:
    """Is the first (0) or last (-1) line of a page that of a page nearby? Left and right pages may have their own."""
    line = _outline(pages[number], position)
    near = (other for other in (number - 2, number - 1, number + 1, number + 2) if 0 <= other < len(pages))
    return bool(line) and any(_outline(pages[other], position) == line for other in near)


def _outline(page: list[str], position: int) -> str:
    """A line with its numbers made equal, "" where there is none or it has neither letters nor digits (as `}`)."""
    line = page[position] if page else ""
    line = "0" if _ROMAN.fullmatch(line) else _DIGITS.sub("0", line)
    return line if any(character.isalnum() for character in line) else ""
