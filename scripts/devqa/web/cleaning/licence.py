"""The licence that a page states. Safe for any bytes: patterns take time linear in the page, and no parser is used."""

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson

from devqa.web.cleaning.charset import decode
from devqa.web.cleaning.filetypes import language_of
from devqa.web.cleaning.formats import front_matter, is_html, is_pdf
from devqa.web.sniff import unwanted

_MOST_BYTES = 2_000_000
_MOST_JSON = 300_000
_MOST_NODES = 1_000
_LONGEST = 200
_LONGEST_ADDRESS = 2_000
_HEAD_LINES = 100

_TAG = re.compile(r"<([a-z]+)(\s[^<>]*)>", re.IGNORECASE)
_SPEAKS_OF_IT = re.compile(r"licen[sc]e|rights", re.IGNORECASE)
# The look-behind lets a name be tried at its beginning only.
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([a-zA-Z][\w:.-]*+)\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'<>]+)""")
_SCRIPT = re.compile(r"<script\b([^<>]*)>", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([\w.+() \t-]{1,200})")
# Sites that hold licences.
_LICENCE_ADDRESS = re.compile(
    r"(?:https?:)?//(?:www\.)?(?:creativecommons\.org/(?:licenses|publicdomain)/|opensource\.org/licenses?/[\w.-]"
    r"|gnu\.org/(?:licenses|copyleft)/[\w.-]|apache\.org/licenses/license|spdx\.org/licenses/[\w.-]"
    r"|opendatacommons\.org/licenses/[\w.-]|mozilla\.org/(?:\w\w-\w\w/)?mpl/)",
    re.IGNORECASE,
)
_BARE_ADDRESS = re.compile(rf"{_LICENCE_ADDRESS.pattern}[^\s\"'<>()\[\]]*", re.IGNORECASE)
# What is said before a link that makes it the licence of the page, and no page about licences.
_STATEMENT = re.compile(
    r"(?:licen[sc]ed?|available|released|distributed|published|provided|shared)(?: \w+){0,3} (?:under|with|by)\b"
    r"|except where otherwise (?:noted|stated)|licen[sc]e:"
    r"|(?:采用|遵循|基于|使用|按照|依据|以).{0,40}(?:许可|协议|授权)"
    r"|(?:许可|版权|授权)(?:协议|声明)?[：:]|(?:采用|遵循|基于)\W{0,3}\Z"
    r"|(?:под|на условиях|по|согласно) (?:\w+ )?лицензи|лицензия:|доступ\w* (?:под|по|на условиях)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？]")
_KNOWN_NAME = re.compile(
    r"\b(?:cc[ -](?:by|0|zero)|creative commons|public domain|mit licen[sc]e|apache|bsd|gfdl|gpl|lgpl|mpl)",
    re.IGNORECASE,
)
# Names a licence that has no address.
_NAMED = re.compile(
    r"this (?:page|work|site|website|wiki|article|document|documentation|book|content) is"
    r" (?:licensed|available|released) under (?:the |an? )?(?:<[^<>]{0,300}>)?\s{0,9}((?:[^<>.,;]|\.(?=\d)){3,100})",
    re.IGNORECASE,
)
_BEFORE = 400
_LICENCE_FIELDS = {"dcterms.license", "dcterms:license", "dc.license", "dc:license", "cc:license", "license"}
_RIGHTS_FIELDS = {
    "dc.rights",
    "dcterms.rights",
    "dc:rights",
    "dcterms:rights",
    "dc.rights.license",
    "rights",
    "copyright",
}
# Of a page's linked data, the licences of these are not the page's own.
_PARTS_OF_PAGES = {"imageobject", "videoobject", "audioobject", "mediaobject", "person", "organization", "comment"}


def licence_of(content: bytes, content_type: str, url: str = "") -> str:
    """The licence that a page states: its address where there is one, else its name; "" where it states none.

    Of several the one that is most plainly the page's own wins: `rel="license"`, then schema.org's `itemprop`, metadata
    (Dublin Core), linked data (JSON-LD), and a link to a licence in a sentence that says that the work is under it.
    Source files state it as `SPDX-License-Identifier`, Markdown in its front matter. PDF files are not read.

    Only the first 2 MB are looked at. `url` completes addresses that are paths on the page's own site.
    """
    content = content[:_MOST_BYTES]
    if is_pdf(content) or unwanted(content):
        return ""
    text = decode(content, content_type)
    if is_html(text, content_type, url):
        return _of_html(text, url)
    if found := _SPDX.search("\n".join(text.split("\n", _HEAD_LINES)[:_HEAD_LINES])):
        return found[1].strip(" \t-")
    if language_of(content_type, url):
        return ""
    return _short(front_matter(text).get("license", "")) or _stated_address(text)


def _of_html(page: str, url: str) -> str:
    found: dict[str, str] = {}
    for tag in _TAG.finditer(page):
        if _SPEAKS_OF_IT.search(tag[2]):
            for place, value in _claims(tag[1].lower(), _attributes(tag[2]), url):
                if value:
                    found.setdefault(place, value)
    stated = next((found[place] for place in ("link", "rel", "itemprop", "license", "rights") if place in found), "")
    if stated := stated or _of_linked_data(page) or _linked(page):
        return stated
    named = _NAMED.search(page)
    return _short(html.unescape(named[1])) if named else ""


def _claims(name: str, attributes: dict[str, str], url: str) -> Iterator[tuple[str, str]]:
    """What one tag says about the page's licence, by the kind of statement."""
    address = _address(attributes.get("href", ""), url)
    if {"license", "licence"} & {*attributes.get("rel", "").lower().split()}:
        yield ("link" if name == "link" else "rel"), address
    if "license" in attributes.get("itemprop", "").lower().split():
        yield "itemprop", address or _stated(attributes.get("content", ""))
    if name == "meta":
        field = (attributes.get("name") or attributes.get("property") or "").lower()
        stated = attributes.get("content", "")
        if field in _LICENCE_FIELDS:
            yield "license", _stated(stated)
        elif field in _RIGHTS_FIELDS and (_BARE_ADDRESS.search(stated) or _KNOWN_NAME.search(stated)):
            yield "rights", _stated(stated)


def _attributes(tag: str) -> dict[str, str]:
    return {name.lower(): html.unescape(value.strip("\"'")).strip() for name, value in _ATTRIBUTE.findall(tag)}


def _of_linked_data(page: str) -> str:
    position = 0
    for script in _SCRIPT.finditer(page):
        if script.start() < position or "ld+json" not in script[1].lower():
            continue
        end = _SCRIPT_END.search(page, script.end())
        if not end:
            break
        position = end.end()
        try:
            data = orjson.loads(page[script.end() : min(end.start(), script.end() + _MOST_JSON)])
        except orjson.JSONDecodeError:
            continue
        if licence := next(filter(None, map(_value, _licences(data))), ""):
            return licence
    return ""


def _licences(data: Any) -> Iterator[Any]:
    """What the nodes of linked data that describe the page name as their licences."""
    nodes = [data]
    for node in nodes:
        if isinstance(node, list):
            nodes += node[: _MOST_NODES - len(nodes)] if len(nodes) < _MOST_NODES else []
        elif isinstance(node, dict):
            kinds = node.get("@type")
            names = {str(each).lower() for each in (kinds if isinstance(kinds, list) else [kinds])}
            if not names & _PARTS_OF_PAGES:
                yield node.get("license")
                nodes += [node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node]


def _value(licence: Any) -> str:
    if isinstance(licence, list):
        return next(filter(None, map(_value, licence[:10])), "")
    if isinstance(licence, dict):
        return next(filter(None, (_value(licence.get(key)) for key in ("@id", "url", "name"))), "")
    return _stated(licence) if isinstance(licence, str) else ""


def _linked(page: str) -> str:
    """The first link to a site of licences that stands in a sentence which says that something is under it."""
    for tag in _TAG.finditer(page):
        if tag[1].lower() == "a" and _LICENCE_ADDRESS.search(tag[2]):
            address = _attributes(tag[2]).get("href", "")
            before = _ANY_TAG.sub(" ", page[max(0, tag.start() - _BEFORE) : tag.start()])
            if _LICENCE_ADDRESS.match(address) and _is_statement(before):
                return _address(address)
    return ""


def _stated_address(text: str) -> str:
    """The same for a text without markup."""
    for found in _BARE_ADDRESS.finditer(text):
        if _is_statement(text[max(0, found.start() - _BEFORE) : found.start()]):
            return _address(found[0].rstrip(".,;"))
    return ""


def _is_statement(before: str) -> bool:
    """Does the sentence so far say that something is under the licence that comes next?"""
    sentence = _SENTENCE_END.split(" ".join(before.split()))[-1]
    return bool(_STATEMENT.search(sentence[-_LONGEST:]))


def _stated(text: str) -> str:
    """The address in a statement, else the statement."""
    found = _BARE_ADDRESS.search(text)
    return _address(found[0]) if found else _short(text)


def _address(text: str, url: str = "") -> str:
    """A web address, whole: a path on the page's own site is completed from the page's `url`; "" for what is none."""
    try:
        # A fragment leads nowhere but to the page.
        address = urljoin(url or "https:", text) if text and not text.startswith("#") else ""
        parts = urlsplit(address)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return address[:_LONGEST_ADDRESS] if is_whole else ""


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
