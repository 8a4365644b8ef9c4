"""Where an endpoint is, and the key that it wants: which must reach no message, table or file."""

import json
import os
import re
from urllib.parse import urlsplit

from devqa.errors import UserError

_SHORTEST_SECRET = 8
_PARTS = re.compile(r"(\\*)([^\\]|\Z)", re.DOTALL)
# JSON has a letter for each of these.
_NAMED = "\b\f\n\r\t"


class Secret:
    """An API key, to be taken out of what endpoints send: some quote the key that they refuse."""

    def __init__(self, key: str):
        self._quoted = quoted(key)

    def out_of(self, content: bytes) -> bytes:
        """`content` with `***` in the key's place."""
        return self._quoted.sub(b"***", content) if self._quoted else content

    def out_of_text(self, text: str) -> str:
        """The same for a text, of which lone surrogates are lost."""
        return self.out_of(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def quoted(key: str) -> re.Pattern[bytes] | None:
    """`key` as it is, or as JSON may have it: with anything but its plain letters and digits escaped.

    None for a word such as `none` or `EMPTY`, which servers without keys are given: it is no secret, and answers may
    hold it.
    """
    if len(key) < _SHORTEST_SECRET:
        return None
    return re.compile("".join(map(_written, _PARTS.finditer(key))).encode())


def _written(part: re.Match[str]) -> str:
    """How JSON may have backslashes and the letter after them.

    A text may fit in many ways, and all end at the same place: the atomic group looks at the first that fits alone.
    """
    most, letter = 2 * len(part[1]), part[2]
    backslashes = rf"(?:\\u005(?i:c)|\\){{{most // 2},{most}}}" if most else ""
    return f"(?>{backslashes}{_escaped(letter)})"


def _escaped(letter: str) -> str:
    if not letter or (letter.isascii() and letter.isalnum()):
        return letter
    coded = "".join(rf"\\u(?i:{unit})" for unit in re.findall("....", letter.encode("utf-16-be").hex()))
    ways = [coded, rf"\\?{re.escape(letter)}"]
    if letter in _NAMED:
        ways.append(re.escape(json.dumps(letter)[1:-1]))
    return f"(?:{'|'.join(ways)})"


def is_address(base_url: str) -> bool:
    """Is it one that requests can be sent to?"""
    parts = urlsplit(base_url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def checked_address(label: str, base_url: str) -> str:
    """`base_url` without a slash at its end.

    Raises:
        UserError: it is no address.
    """
    if not is_address(base_url):
        raise UserError(f"models.{label}.base_url: {base_url} is no address such as http://localhost:8000/v1")
    return base_url.rstrip("/")


def api_key(label: str, variable: str | None) -> str:
    """The API key in the environment variable, "" where none is wanted.

    Raises:
        UserError: the variable is not set, or what it holds can't be a key.
    """
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"models.{label}.api_key_env: the environment variable {variable} is not set: export it")
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"models.{label}.api_key_env: the environment variable {variable} does not hold an API key")
    return key
