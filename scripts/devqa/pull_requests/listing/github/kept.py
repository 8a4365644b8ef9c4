"""What GitHub has answered, on disk: what is asked again is asked conditionally, and an answer that has not changed
counts for no rate limit.
"""

from typing import NamedTuple

import orjson

from devqa.web.store import Store


class Kept(NamedTuple):
    """An answer: its entity tag ("" without one), the address of the next page ("" if it is the last), and the body."""

    etag: str
    next: str
    body: bytes


def get(store: Store, address: str) -> Kept | None:
    """What was last answered at `address`; None where nothing is kept, or nothing that can be read."""
    value = store.get(_key(address))
    if value is None:
        return None
    head, _, body = value.partition(b"\n")
    try:
        etag, following = orjson.loads(head)
        return Kept(etag, following, body)
    except ValueError:
        return None


def put(store: Store, address: str, kept: Kept) -> None:
    """Keep an answer in place of the one before."""
    store.put(_key(address), orjson.dumps([kept.etag, kept.next]) + b"\n" + kept.body)


def _key(address: str) -> str:
    return f"github:{address}"
