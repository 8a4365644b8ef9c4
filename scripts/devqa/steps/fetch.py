"""search → pages: the bytes of every page found, kept so that cleaning them differently fetches nothing again."""

from collections.abc import Sequence

from devqa.tables import Row
from devqa.web.fetch import Fetched, Fetcher, fetch_all
from devqa.web.store import Store


def fetch(searches: Sequence[Row], fetcher: Fetcher, store: Store, concurrency: int) -> list[Row]:
    """Rows of table `pages`, one per dialogue and search result; each address is fetched once.

    The bytes go into `store`, under the hash that the row names.
    """
    found = [
        {"dialogue_id": row["dialogue_id"], "rank": hit["rank"], "url": hit["url"], "title": hit["title"]}
        for row in sorted(searches, key=lambda row: row["dialogue_id"])
        for hit in row["results"]
    ]
    fetched = fetch_all(list(dict.fromkeys(page["url"] for page in found)), fetcher, concurrency)
    accounts = {url: _account(page, store) for url, page in fetched.items()}
    return [{**page, **accounts[page["url"]]} for page in found]


def _account(page: Fetched, store: Store) -> Row:
    account = {
        "final_url": page.final_url,
        "http_status": page.http_status,
        "content_type": page.content_type,
        "status": page.status,
        "reason": page.reason,
    }
    if page.content is None:
        return account
    return {**account, "sha256": store.put_page(page.content), "bytes": len(page.content)}
