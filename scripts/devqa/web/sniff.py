"""What a page is: by what the server calls it, and by its first bytes, whatever the server calls it."""

import re
from urllib.parse import unquote, urlsplit

_SIGNATURES = (
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF87a", "image"),
    (b"GIF89a", "image"),
    (b"RIFF", "image, sound or video"),
    (b"\x00\x00\x01\x00", "image"),
    (b"OggS", "sound or video"),
    (b"ID3", "sound or video"),
    (b"\x1aE\xdf\xa3", "sound or video"),
    (b"\x1f\x8b", "archive"),
    (b"PK\x03\x04", "archive"),
    (b"PK\x05\x06", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\x00", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"\x7fELF", "executable"),
    (b"\xca\xfe\xba\xbe", "executable"),
    (b"\xcf\xfa\xed\xfe", "executable"),
    (b"\x00asm", "executable"),
    (b"\xd0\xcf\x11\xe0", "office document"),
    (b"{\\rtf", "office document"),
)
# Comments and a declaration may stand before it.
_COMMENTS = r"(?:\s|<!--(?:[^-]|-(?!->))*+-->|<\?xml[^<>]*+>)*+"
BEGINS_AS_HTML = re.compile(rf"{_COMMENTS}<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE)
# These begin with letters, so a text may too: only with a NUL byte nearby are they what they seem.
_LETTERS_ONLY = {b"RIFF", b"OggS", b"ID3", b"BZh"}
_HEAD = 1024
# A stray NUL is no letter, and browsers drop it. Text in UTF-16 has one in each letter.
_MOST_STRAY_NULS = 10
_UTF_8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_PDF = b"%PDF-"

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,60}/[a-z0-9][a-z0-9!#$&^_.+-]{0,100}")
# Of text/, image/ and so on the first part says enough; of application/ these are texts.
_APPLICATIONS = re.compile(
    r"(x-)?(pdf|xhtml(\+xml)?|html|json5?|jsonlines|jsonl|ndjson|ld\+json|xml|xml-dtd|javascript|ecmascript|typescript|"
    r"sh|shellscript|csh|bash|python(-code)?|ruby|perl|php|httpd-php|lua|tcl|sql|toml|yaml|tex|latex|texinfo|troff|"
    r"markdown|graphql|wsdl|rss|diff|patch|ipynb|subrip|plain|txt)|[a-z0-9.-]+\+(json|xml|yaml)"
)
# Servers say these of what they don't know.
_UNSAID = frozenset(
    ("application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download")
)
_TEXT_FILES = re.compile(
    r".*\.(adoc|asm|asp|awk|bash|bat|bib|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|cu|cxx|dart|diff|el|ex|exs|f|f90|fs|"
    r"go|gradle|graphql|groovy|h|hh|hpp|hs|html?|hxx|ini|ipynb|java|jl|js|json|jsonl|jsx|kts?|less|lisp|lua|m|mak|"
    r"markdown|md|mdx|mjs|mk|ml|nim|nix|org|pas|patch|pdf|php|pl|pm|properties|proto|ps1|pyi?|pyx|r|rb|rego|rmd|rs|rst|"
    r"s|sass|scala|scss|sh|smk|sol|sql|svelte|swift|tcl|tex|tf|toml|tsx?|tsv|txt|v|vb|vhd|vim|vue|xhtml|xml|ya?ml|zig|"
    r"zsh)|authors|changelog|contributing|copying|dockerfile|license|makefile|readme|snakefile",
    re.IGNORECASE | re.DOTALL,
)


def unwanted(content: bytes) -> str | None:
    """Why `content` can't be a page of text (`not text: image`), or None where it may be one, or a PDF.

    The first bytes decide. NULs mean binary data, but for up to ten of them in the first 1,024 bytes of what begins as
    HTML.
    """
    head = content[:_HEAD]
    if head.startswith(_PDF):
        return None
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and (signature not in _LETTERS_ONLY or b"\x00" in head):
            return f"not text: {kind}"
    if b"\x00" in head and not head.startswith(_WIDE_BYTE_ORDER_MARKS) and not _is_html_with_stray_nuls(head):
        return "not text: executable" if head.startswith(b"MZ") else "not text: binary data"
    return None


def _is_html_with_stray_nuls(head: bytes) -> bool:
    text = head.removeprefix(_UTF_8_BYTE_ORDER_MARK).replace(b"\x00", b"").decode("latin-1")
    return head.count(0) <= _MOST_STRAY_NULS and bool(BEGINS_AS_HTML.match(text))


def unwanted_type(content_type: str, url: str) -> str | None:
    """Why a page at `url` of this type (header `Content-Type`) is none to read, or None where it may be one.

    What the server doesn't know is told by the name of its file. Without a type, the bytes have to say.
    """
    match = _TYPE.match(content_type.strip().lower())
    if not match:
        return None
    kind, _, name = match[0].partition("/")
    if match[0] in _UNSAID:
        return None if _is_text_file(url) else f"not text: {match[0]}"
    if kind == "text" or (kind == "application" and _APPLICATIONS.fullmatch(name)):
        return None
    # SVG is a picture; so is what calls itself image and is XML.
    return f"not text: {match[0]}"


def _is_text_file(url: str) -> bool:
    return bool(_TEXT_FILES.fullmatch(unquote(urlsplit(url).path).rpartition("/")[2]))
