"""How many tokens a text has for a model whose tokenizer is not at hand.

Characters per token differ by script: about 4.5 in English prose, 3.8 in Russian and 1.4 in Chinese with the tokenizers
of current models. The weights below are on the safe side of that, because a prompt that is too long is
refused and one that is a little short costs nothing. A tokenizer with a small vocabulary may still make twice as
many tokens of Russian and Chinese.
"""

import re

# In 84ths of a token, so that sums are exact integers and a longer text never counts less.
_UNIT = 84
_LETTER = 24  # Latin letters and white space: 3.5 characters per token
_SYMBOL = 56  # digits and punctuation, which make code dear: 1.5
_ELSE = _UNIT  # any other character, such as an emoji: 1
_ASCII = bytes(range(128))
_LETTERS = bytes(code for code in _ASCII if re.match(r"[A-Za-z\s]", chr(code)))
_SYMBOLS = bytes(code for code in _ASCII if re.match(r"[!-@\[-`{-~]", chr(code)))
_BEYOND_ASCII = (
    (re.compile(r"\s+"), _LETTER),
    (re.compile(r"[\u0400-\u04ff]+"), 28),  # Cyrillic: 3
    (re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+"), 60),  # Chinese, Japanese, Korean: 1.4
)
_MOST_CHARACTERS_PER_TOKEN = 4  # more than any weight allows: bounds the search for a cut
_NEAR = 0.8


def estimate(text: str) -> int:
    """The number of tokens of `text`, rather too many than too few."""
    return -(-_weight(text) // _UNIT)


def cut(text: str, tokens: int) -> str:
    """The longest prefix of `text` that has at most `tokens` tokens.

    It ends after a line where that costs less than a fifth of the prefix.
    """
    if len(text) <= tokens * _MOST_CHARACTERS_PER_TOKEN and estimate(text) <= tokens:
        return text
    return at_line_end(text, _longest(text, tokens))


def at_line_end(text: str, characters: int) -> str:
    """The first `characters` of `text`, or a few less so that it ends after a line (at most a fifth less)."""
    if len(text) <= characters:
        return text
    prefix = text[:characters]
    line_end = prefix.rfind("\n") + 1
    return prefix[:line_end] if line_end >= _NEAR * len(prefix) else prefix


def _weight(text: str) -> int:
    # Deleting bytes is the fastest way to count them, by far.
    encoded = text.encode("utf-8", "surrogatepass")
    letters, symbols = (len(encoded) - len(encoded.translate(None, kind)) for kind in (_LETTERS, _SYMBOLS))
    weight, seen = _LETTER * letters + _SYMBOL * symbols, letters + symbols
    if len(encoded) > len(text):
        rest = encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass")
        for pattern, each in _BEYOND_ASCII:
            count = sum(map(len, pattern.findall(rest)))
            weight += each * count
            seen += count
    return weight + _ELSE * (len(text) - seen)


def _longest(text: str, tokens: int) -> int:
    """The length of the longest prefix that fits, by bisection: the estimate never falls as the text grows."""
    fits, too_long = 0, min(len(text), max(tokens, 0) * _MOST_CHARACTERS_PER_TOKEN) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if estimate(text[:middle]) <= tokens:
            fits = middle
        else:
            too_long = middle
    return fits
