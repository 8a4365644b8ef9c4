"""Text to the words that BM25 counts: the same for pages and for queries."""

import re
import threading
import unicodedata
from functools import lru_cache

import snowballstemmer

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"
_LETTER = rf"[^\W{_HAN}]"
# Chinese runs; or words, with what code puts between and behind them: list.sort, std::vector, front-end, c++, c#.
_TOKEN = re.compile(rf"[{_HAN}]+|{_LETTER}+(?:(?:\.|::|->|-){_LETTER}+)*(?:\+\+|#)?")
_HAN_RUN = re.compile(rf"[{_HAN}]")
_PARTS = re.compile(r"[^\W_]+")
_LATIN = re.compile(r"[a-z]+")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]+")
# Longer "words" are base64, minified code or hashes: nobody searches for them.
_LONGEST = 64


def words(text: str) -> list[str]:
    """Lower-cased words of `text` in their order; none holds white space.

    Chinese is segmented by jieba (with the shorter words inside longer ones); Latin words get English and Cyrillic
    words Russian Snowball stems, by script rather than by language, because a query's language is rarely known and
    pages mix. Names from code are kept whole and come with their parts too: `max_connections` gives
    `max_connections`, `max`, `connect`.
    """
    found = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _HAN_RUN.match(token):
            # Its dictionary takes a third of a second to load, and most jobs meet no Chinese.
            import rjieba

            found += rjieba.cut_for_search(token)
        elif len(token) <= _LONGEST:
            found += _forms(token)
    return found


@lru_cache(maxsize=200_000)
def _forms(token: str) -> tuple[str, ...]:
    parts = tuple(_stem(part) for part in _PARTS.findall(token))
    is_one_plain_word = len(parts) == 1 and token.isalnum()
    return parts if is_one_plain_word else (token, *parts)


class _Stemmers(threading.local):
    """Stemmers of one thread: they keep state while they work on a word, and searches run in threads."""

    def __init__(self) -> None:
        self.english = snowballstemmer.EnglishStemmer()
        self.russian = snowballstemmer.RussianStemmer()


_stemmers = _Stemmers()


# Apart from `_forms`: in code, many names are made of the same words.
@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    if _LATIN.fullmatch(word):
        return _stemmers.english.stemWord(word)
    if _CYRILLIC.fullmatch(word):
        return _stemmers.russian.stemWord(word.replace("ё", "е"))
    return word
