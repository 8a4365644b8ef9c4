"""Comparing texts, and making them whole."""

import unicodedata

# Emphasis, code marks, and what nobody sees: soft hyphens, zero-width characters, byte order marks.
_LEFT_OUT = "*_`\u00ad\u200b\u200c\u200d\u2060\ufeff"
# Marks of tables, headings and quotations may be all that stands between two words.
_BETWEEN_WORDS = "|#>"
# Models type what the keyboard has in place of typographic quotes, hyphens, dashes and minus signs.
_TYPED = {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‐‑‒–—―−", "-")}
_PLAIN = str.maketrans({**dict.fromkeys(_LEFT_OUT, ""), **dict.fromkeys(_BETWEEN_WORDS, " "), **_TYPED})


def plain(text: str) -> str:
    """`text` as prose is compared; "" where it holds nothing but marks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN).split())


def literal(text: str) -> str:
    """`text` as short answers are compared: C# is not C, `-R` not `-r`; white space and code marks do not count."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    return text.replace("`", "").strip() or text


def whole(text: str) -> str:
    """`text` with U+FFFD in place of each lone surrogate, which no table or file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
