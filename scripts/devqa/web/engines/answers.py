"""What services answer, read leniently: an answer that was paid for is not lost over one odd value in it."""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from devqa.text import whole
from devqa.web.engines.base import Hit

_LONGEST_BEGINNING = 80


def parsed(content: bytes) -> Any:
    """The JSON value in `content`, which may hold lone surrogates, NaN, control characters and broken UTF-8.

    Raises:
        ValueError: it holds none.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        text = content.decode("utf-8-sig", "replace")
    try:
        # No engine's number is used, and Python refuses very long ones.
        return json.loads(text, strict=False, parse_int=str)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_marked(answer: Any, marks: Mapping[str, type]) -> bool:
    """Is `answer` an object with at least one of the keys in `marks`, of the type that is named there or null?"""
    return isinstance(answer, dict) and any(
        key in answer and isinstance(answer[key], kind | None) for key, kind in marks.items()
    )


def part(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under `key`; an empty one where there is none."""
    value = answer.get(key)
    return value if isinstance(value, dict) else {}


def hits(entries: Any, url: str, snippet: str) -> list[Hit]:
    """The results in a list of objects: no list counts as none, and what is no object with a URL is left out.

    Args:
        url: the key of a result's URL.
        snippet: the key of its snippet; that of its title is `title`.
    """
    objects = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return [
        Hit(found, _text(entry.get("title")), _text(entry.get(snippet)))
        for entry in objects
        if isinstance(entry.get(url), str) and (found := whole(entry[url]).strip())
    ]


def beginning(content: bytes) -> str:
    """The first characters of an answer, on one line, for a message."""
    text = content.strip()[: 20 * _LONGEST_BEGINNING].decode("utf-8", "replace")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return f"{line[:_LONGEST_BEGINNING]}…" if len(line) > _LONGEST_BEGINNING else line


def _text(value: Any) -> str:
    return whole(str(value or ""))
