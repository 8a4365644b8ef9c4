"""Comparing texts."""

import unicodedata


def occurs(span: str, text: str) -> bool:
    """Does `span` occur in `text`, but for case, white space, Unicode form and Markdown's marks?"""
    return bool(plain(span)) and plain(span) in plain(text)


def plain(text: str) -> str:
    """`text` as it is compared."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(" " if character in "*_`#|>" else character for character in text).split())
