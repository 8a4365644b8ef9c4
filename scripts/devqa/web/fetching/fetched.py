"""What came back for a page's address, and who brings it."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Fetched:
    """What came back for a URL: `status` is `ok`, `rejected` (no page to use) or `failed` (it may come another time).

    Attributes:
        content: the raw body, None unless `ok`.
        http_status: None where no answer came.
        fetched: when it came, in ISO 8601 and UTC; "" for pages of a local corpus.
        reached: was a host that had not failed before found and connected to? None where none was asked for this.
    """

    final_url: str
    http_status: int | None
    content_type: str
    content: bytes | None
    status: str
    reason: str
    fetched: str = ""
    reached: bool | None = field(default=None, compare=False)


class Fetcher(Protocol):
    """What a fetch step needs."""

    def fetch(self, url: str) -> Fetched:
        """The page at `url`; never raises for what is wrong with a page or its server.

        Raises:
            NotKept: nothing may be sent, and the page is not in the store.
        """


def without_page(url: str, status: str, reason: str, reached: bool | None = None) -> Fetched:
    """The outcome for a URL that no server gave an answer for."""
    return Fetched(url, None, "", None, status, reason, reached=reached)
