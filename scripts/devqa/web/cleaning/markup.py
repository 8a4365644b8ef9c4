"""HTML made harmless before an extractor sees it: all in time linear in the page's length."""

import html
import re

import lxml.html
from lxml import etree
from lxml.html import defs

# Elements that stand on lines of their own.
BLOCKS = frozenset(
    (
        defs.block_tags
        | defs.table_tags
        | {"li", "dt", "dd", "main", "details", "summary", "dialog", "figcaption", "body"}
    )
    - {"col", "colgroup"}
)

# Their content is never text of the page; an unclosed one swallows the rest, as in browsers.
_RAW = ("script", "style", "iframe", "noframes", "xmp")
_DROPPED = (*_RAW, "svg", "template", "object", "canvas", "noscript")
_OPENING = re.compile(rf"<({'|'.join(_DROPPED)})(?=[\s/>])|<!--", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}(?=[\s/>])[^>]*>", re.IGNORECASE) for name in _DROPPED} | {
    "!--": re.compile("-->")
}
# Where React puts what it streams after the page (`<div hidden id="S:1">`).
_PLACEHOLDER = re.compile(r'<template id="(B:\w{1,20})"></template>')
_META = re.compile(r"<meta\b[^<>]*>?", re.IGNORECASE)
# lxml refuses text that declares an encoding.
_XML_DECLARATION = re.compile(r"<\?xml\b[^<>]*>?", re.IGNORECASE)
_TITLE = re.compile(r"<title(?:\s[^<>]*)?>([^<]*)", re.IGNORECASE)
_LINK = re.compile(r"<link\b[^<>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
# XML can't hold these, and extractors pass them on to the XML that they build.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
# Soft hyphens and spaces of no width break words only in the eye of a program.
_INVISIBLE = re.compile(r"[\u00ad\u200b\u2060\ufeff]|&(?:shy|#173|#xad|ZeroWidthSpace|#8203|#x200b);", re.IGNORECASE)
_NESTING = re.compile(r"<(/?)(?:div|span|section|blockquote|ul|ol|font|b|i|table)\b", re.IGNORECASE)
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNWANTED = "//*[@hidden or @aria-hidden or @style] | //a"
_ANCHOR_SIGNS = frozenset("¶#§🔗")
_HEAD_CHARACTERS = 200_000
_MOST_ARIA_HIDDEN = 0.6
_TAG = re.compile(r"<[^<>]*>")
_MUCH_CHARACTERS = 500


def pruned(markup: str) -> str:
    """`markup` without scripts, styles, metadata, comments, embedded documents and characters that nobody sees.

    What stands in for scripts (`<noscript>`) stays where it is a page's text.
    """
    markup = _PLACEHOLDER.sub(r'<div id="\1"></div>', markup)
    kept, position, shown = [], 0, 0
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(markup):
        if opening.start() < position:
            continue
        name = (opening[1] or "!--").lower()
        if name == "noscript" and opening.start() < shown:
            kept.append(markup[position : opening.start()])
            position = markup.index(">", opening.start()) + 1
            continue
        # A closing tag that was not found once is not there later either: never look for it again.
        closing = None if name in unclosed else _CLOSING[name].search(markup, opening.end())
        if closing is None and name not in _RAW:
            unclosed.add(name)
            continue
        kept.append(markup[position : opening.start()])
        if name == "noscript" and _says_much(markup[opening.end() : closing.start()]):
            position = markup.index(">", opening.start()) + 1
            shown = closing.end()
        else:
            position = closing.end() if closing else len(markup)
    kept.append(markup[position:])
    return _XML_DECLARATION.sub(" ", _META.sub(" ", _CONTROLS.sub(" ", _INVISIBLE.sub("", "".join(kept)))))


def _says_much(noscript: str) -> bool:
    """Is it the page for readers without scripts, not a call to turn them on or a picture that loads late?"""
    return len("".join(_TAG.sub(" ", noscript).split())) >= _MUCH_CHARACTERS


def depth(markup: str) -> int:
    """How deep the most usual elements are nested at most; closing tags that are left out make it too large."""
    deepest = current = 0
    for tag in _NESTING.finditer(markup):
        current = max(current - 1, 0) if tag[1] else current + 1
        deepest = max(deepest, current)
    return deepest


def title(markup: str) -> str:
    """The page's title as it stands in its head, "" where there is none."""
    found = _TITLE.search(markup[:_HEAD_CHARACTERS])
    return " ".join(html.unescape(found[1]).split()) if found else ""


def canonical(markup: str) -> str:
    """The address that the page calls its own (`<link rel="canonical">`), "" where it names no http(s) address."""
    for link in _LINK.findall(markup[:_HEAD_CHARACTERS]):
        attributes = {name.lower(): html.unescape(value.strip("\"'")) for name, value in _ATTRIBUTE.findall(link)}
        if "canonical" in attributes.get("rel", "").lower().split():
            address = attributes.get("href", "").strip()
            return address if address.lower().startswith(("http://", "https://")) else ""
    return ""


def tree(stripped: str) -> lxml.html.HtmlElement | None:
    """The page as a tree without anchors of headings (¶) and what readers don't see; None if it is empty.

    Not seen is what carries `hidden`, `aria-hidden` or an own style `display: none`: it may hold text that was
    put there for machines only. Style sheets are not read.
    """
    try:
        root = lxml.html.document_fromstring(stripped, parser=lxml.html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, ValueError):
        return None
    _put_in_place(root)
    most = _MOST_ARIA_HIDDEN * len(root.text_content())
    for element in root.xpath(_UNWANTED):
        if element.getparent() is None or not (_is_hidden(element, most) or _is_anchor(element)):
            continue
        element.drop_tree()
    return root


def _put_in_place(root: lxml.html.HtmlElement) -> None:
    """Do what React's script does with the hidden parts that it streams after the page, at their placeholders."""
    streamed = {element.get("id")[2:]: element for element in root.xpath("//*[@hidden][starts-with(@id, 'S:')]")}
    for placeholder in root.xpath("//*[starts-with(@id, 'B:')]"):
        part = streamed.pop(placeholder.get("id")[2:], None)
        if part is not None and part not in placeholder.iterancestors():
            del part.attrib["hidden"]
            part.drop_tree()  # leaves the text after it where it is
            part.tail = None
            placeholder.append(part)


def _is_hidden(element: lxml.html.HtmlElement, most: float) -> bool:
    """Tabs that are not open are hidden, and a click shows them.

    What is `aria-hidden` is seen, but said twice (formulas) or no text (icons), or it lies behind a dialogue: then it
    is most of the page, more than `most` characters.
    """
    if element.get("role") == "tabpanel":
        return False
    if element.get("aria-hidden", "").lower() == "true" and len(element.text_content()) <= most:
        return True
    return "hidden" in element.attrib or bool(_HIDING_STYLE.search(element.get("style", "")))


def _is_anchor(element: lxml.html.HtmlElement) -> bool:
    return element.tag == "a" and element.text_content().strip() in _ANCHOR_SIGNS
