"""What a page's bytes hold, whatever the server calls it: HTML, PDF, a text, a source file."""

import re
from dataclasses import dataclass

from devqa.web.cleaning.filetypes import file_name, kind, language_of, suffix
from devqa.web.sniff import BEGINS_AS_HTML

_MARKDOWN_TYPES = {"text/markdown", "text/x-markdown", "text/x-web-markdown"}
_MARKDOWN_SUFFIXES = {".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd"}

_HEAD = 5_000
_COMMENTS = r"(?:\s|<!--(?:[^-]|-(?!->))*+-->|<\?xml[^<>]*+>)*+"
_BEGINS_AS_FEED = re.compile(r"<(rss|feed|rdf:rdf|urlset|sitemapindex)[\s>]", re.IGNORECASE)
_BEGINS_AS_SVG = re.compile(rf"{_COMMENTS}(?:<!doctype\s+svg[^<>]*>\s*)?<svg[\s>]", re.IGNORECASE)
_BEGINS_AS_MARKDOWN = re.compile(r"\s*(?:#{1,6} \S|---\n)")
_TAG = re.compile(
    r"</?(?:!doctype|html|head|body|title|meta|base|link|div|p|br|hr|a|b|i|em|strong|tt|u|img|table|tr|td|ul|ol|li|dl"
    r"|dt|h[1-6]|pre|code|span|font|center|form|section|article|main|header|nav|blockquote|script|style|frameset"
    r"|noscript)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_DOCUMENT_TAG = re.compile(r"<(?:!doctype|html|head|body|div|p)[\s>]", re.IGNORECASE)
# Of YAML (---) or TOML (+++).
_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\n(.*?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_-]+)[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_UNDERLINE = re.compile(r"([=\-~*^#\"'`+])\1{2,}\s*")
_LONGEST_FRONT_MATTER = 20_000
_LONGEST_TITLE = 300
_MOST_GARBAGE = 0.1
_GARBAGE = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd\ue000-\uf8ff]")
_LONG_LINE = 500
_MINIFIED_FROM = 2_000
_BLANK_LINES = re.compile(r"\n{3,}")


class Unreadable(Exception):
    """The page is in no form that can be read, for the reason that the message gives."""


@dataclass(frozen=True)
class Document:
    """A page that needs no extractor: its title ("" where it has none) and its text."""

    title: str
    text: str


def is_pdf(content: bytes) -> bool:
    """Do the first bytes say that it is a PDF file?"""
    return content[:_HEAD].lstrip()[:5] == b"%PDF-"


def is_html(text: str, content_type: str, url: str) -> bool:
    """Is `text` HTML? How it begins decides, then whether it has tags; what the server calls it where both are open."""
    declared = kind(content_type)
    if declared in _MARKDOWN_TYPES:
        return False
    head = text[:_HEAD]
    if BEGINS_AS_HTML.match(head):
        return True
    if "html" in declared:
        is_markdown = _BEGINS_AS_MARKDOWN.match(head) and not _DOCUMENT_TAG.search(head)
        return not is_markdown and bool(_TAG.search(text))
    is_told = declared.startswith("text/") or suffix(url) in _MARKDOWN_SUFFIXES or language_of(content_type, url)
    return not is_told and bool(_DOCUMENT_TAG.search(head))


def read_text(text: str, content_type: str, url: str) -> Document:
    """A page that is no HTML: Markdown and plain text as they are, a source file as one fenced block of code.

    Front matter of Markdown gives the title and is no text. Titles of texts are their first headings in Markdown,
    reStructuredText or AsciiDoc.

    Raises:
        Unreadable: it is binary, a feed or a sitemap, an image in SVG, or minified code.
    """
    if is_garbage(text):
        raise Unreadable("not text: binary data")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    head = text[:_HEAD]
    if _BEGINS_AS_SVG.match(head):
        raise Unreadable("not text: image")
    if text.startswith(("%!PS", "{\\rtf")):
        raise Unreadable(f"not text: {'PostScript' if text[0] == '%' else 'RTF'}")
    # A feed may have comments and style sheets before its first element.
    if head.lstrip().startswith("<") and (feed := _BEGINS_AS_FEED.search(head)) and _is_first(head, feed.start()):
        raise Unreadable(f"no page: {'sitemap' if feed[1].lower() in ('urlset', 'sitemapindex') else 'news feed'}")
    if language := language_of(content_type, url):
        return _source(text, language, file_name(url))
    title, text = _without_front_matter(text)
    return Document(title or _heading(text), _BLANK_LINES.sub("\n\n", text).strip())


def front_matter(text: str) -> dict[str, str]:
    """The one-line fields of a text's front matter, by lower-case name; empty where it has none."""
    found = _FRONT_MATTER.match(text[:_LONGEST_FRONT_MATTER])
    if not found:
        return {}
    return {name.lower(): value.strip().strip("\"'") for name, value in reversed(_FIELD.findall(found[2]))}


def is_garbage(text: str) -> bool:
    """Is more than a tenth of `text` no characters that anybody writes (what could not be decoded, private ones)?"""
    return len(_GARBAGE.findall(text)) > _MOST_GARBAGE * len(text)


def _is_first(head: str, position: int) -> bool:
    """Is the element at `position` the first one? Before it stand declarations (`<?`) and comments (`<!`) alone."""
    return not re.search(r"<[^?!]", re.sub(r"<!--.*?-->", "", head[:position], flags=re.DOTALL))


def _source(text: str, language: str, name: str) -> Document:
    text = text.strip("\n").rstrip()
    if len(text) > _MINIFIED_FROM and len(text) > _LONG_LINE * (text.count("\n") + 1):
        raise Unreadable(f"minified code: {language}")
    longest = max((len(run) for run in re.findall(r"^[ \t]*(`{3,})", text, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    return Document(name, f"{fence}{language}\n{text}\n{fence}" if text.strip() else "")


def _without_front_matter(text: str) -> tuple[str, str]:
    found = _FRONT_MATTER.match(text[:_LONGEST_FRONT_MATTER])
    # A text may begin with a rule, too: front matter has fields.
    if not found or not _FIELD.search(found[2]):
        return "", text
    return front_matter(text).get("title", "")[:_LONGEST_TITLE], text[found.end() :]


def _heading(text: str) -> str:
    """The heading that a text begins with, "" where it begins with none."""
    lines = text.lstrip()[:_HEAD].split("\n", 3)
    if len(lines) > 2 and _UNDERLINE.fullmatch(lines[0]) and _UNDERLINE.fullmatch(lines[2]):
        return lines[1].strip()[:_LONGEST_TITLE]
    if len(lines) > 1 and lines[0].strip() and re.fullmatch(r"[=-]{3,}\s*", lines[1]):
        return lines[0].strip()[:_LONGEST_TITLE]
    marked = re.match(r"(?:#|=) +(\S.*?)[ #]*$", lines[0])
    return marked[1][:_LONGEST_TITLE] if marked else ""
