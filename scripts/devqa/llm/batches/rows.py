"""The lines of a batch's input file: requests going out (https://platform.openai.com/docs/guides/batch)."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

# Where each request of a batch goes, whatever the endpoint's own address is.
CHAT = "/v1/chat/completions"
# What the API takes in one file.
MOST_BYTES = 200_000_000


def request_line(key: str, body: dict[str, Any]) -> bytes:
    """The line that asks for `body` under the `custom_id` `key`: 64 characters, the most that some endpoints take."""
    return orjson.dumps({"custom_id": key, "method": "POST", "url": CHAT, "body": body}) + b"\n"


def portions(sizes: Iterable[tuple[str, int]], most_rows: int, most_bytes: int) -> Iterator[list[str]]:
    """Keys in their order, cut into portions that one file may hold.

    Args:
        sizes: each key with the length of its line in bytes. A line that is too long for any file has one of its own:
            the endpoint has the last word.
    """
    portion: list[str] = []
    used = 0
    for key, size in sizes:
        if portion and (len(portion) == most_rows or used + size > most_bytes):
            yield portion
            portion, used = [], 0
        portion.append(key)
        used += size
    if portion:
        yield portion
