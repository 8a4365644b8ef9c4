"""Texts in 128 bytes each, so that a million of them can be compared.

MinHash (Broder, On the resemblance and containment of documents, 1997) with 128 permutations, of each value 8 bits (Li
and König, b-Bit Minwise Hashing, 2010). As many bytes with fewer permutations and more bits would tell less.
"""

from collections.abc import Sequence

import numpy as np
from rensa import RMinHash

from devqa.ingest.shards import stable_hash
from devqa.text import literal

# A sketch has one byte for each permutation.
PERMUTATIONS = 128
_SEED = 42
# Characters of a shingle. Words would be no measure where there are no spaces between them.
_SHINGLE = 5
# Odd constants of a multiplicative hash.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
# Two values that differ have the same 8 bits by chance.
_CHANCE = 1 / 256


def normal(text: str) -> str:
    """`text` as duplicates are told: without backticks, letter case, kinds of white space, compatibility forms."""
    return literal(text).casefold()


def exact(normalised: str) -> int:
    """A 64-bit hash, signed, of a normalised text. Among a million texts two share one by chance once in 40 million."""
    return stable_hash(normalised) - (1 << 63)


def sketches(normalised: Sequence[str]) -> np.ndarray:
    """The sketches of normalised texts: bytes, of shape (texts, 128).

    A text is the set of its shingles of five characters. It may have no NUL character, with which shorter texts
    are filled up.
    """
    texts = [text.ljust(_SHINGLE, "\0") for text in normalised]
    if not texts:
        return np.empty((0, PERMUTATIONS), np.uint8)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    shingles = _hashes("".join(texts))
    # Those that begin in a text's last characters reach into the next text.
    ends, whole = np.cumsum(lengths), np.ones(len(shingles) + _SHINGLE - 1, bool)
    for back in range(1, _SHINGLE):
        whole[ends - back] = False
    offsets = np.concatenate([[0], np.cumsum(lengths - _SHINGLE + 1)]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        shingles[whole[: len(shingles)]], offsets, PERMUTATIONS, _SEED
    )
    return np.array(matrix.to_rows(), np.uint32).astype(np.uint8)


def similarity(sketch: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The Jaccard similarity of the text of `sketch` to those of `others` (of shape (n, 128)), as it is estimated.

    Without bias (it may be a little below 0). The standard error is √(s (1 - s) / 128) for a true similarity s: 0.035
    at 0.8, so 0.8 is told from 0.9 and from 0.7, and not from 0.83.
    """
    equal = np.count_nonzero(others == sketch, axis=1) / PERMUTATIONS
    return (equal - _CHANCE) / (1 - _CHANCE)


def _hashes(text: str) -> np.ndarray:
    """A 64-bit hash of each shingle of `text`."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    count = len(points) - _SHINGLE + 1
    hashed = points[:count].astype(np.uint64)
    for number in range(1, _SHINGLE):
        hashed *= _BASE
        hashed += points[number : number + count]
    hashed ^= hashed >> _HALF
    hashed *= _MIX
    hashed ^= hashed >> _HALF
    return hashed
