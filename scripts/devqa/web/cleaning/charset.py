"""Bytes of a page to text, whatever the page says about its encoding."""

import codecs
import re

from resiliparse.parse.encoding import detect_encoding

_HEAD = 4096
_GUESSED_FROM = 131_072
_META = re.compile(rb"""<meta[^<>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^<>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})""")
_HEADER = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
# What pages call the left one holds characters of the right one, as browsers know (https://encoding.spec.whatwg.org/).
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
# Python knows these, browsers don't: some hide markup, some take for ever.
_NO_CHARSETS = frozenset(("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape"))
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(content: bytes, content_type: str) -> str:
    """`content` as text. Never fails: what can't be read becomes U+FFFD.

    In this order: byte order mark, strict UTF-8 (other encodings hardly ever pass for it), the header's charset, the
    page's own, and at last a guess from the bytes; a declared charset must fit every byte, or it is a lie.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    for encoding in ["utf-8", *_declared(content, content_type)]:
        if (text := _strictly(content, encoding)) is not None:
            return text
    guess = detect_encoding(content[:_GUESSED_FROM]) or "utf-8"
    return content.decode(_codec(guess), "replace")


def _declared(content: bytes, content_type: str) -> list[str]:
    head = content[:_HEAD]
    found = [_HEADER.search(content_type or ""), _META.search(head), _XML.search(head)]
    names = [match[1] for match in found if match]
    return [name.decode("ascii") if isinstance(name, bytes) else name for name in names]


def _strictly(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(_codec(encoding))
    except (LookupError, UnicodeError):
        return None


def _codec(name: str) -> str:
    """Python's name of the encoding, widened to its superset; LookupError for names that mean nothing (utf8mb4)."""
    known = codecs.lookup(name).name
    if known in _NO_CHARSETS:
        raise LookupError(f"no charset of a page: {known}")
    return _SUPERSETS.get(known, known)
