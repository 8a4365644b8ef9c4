"""search → pages: the bytes of every page found, kept so that cleaning them differently fetches nothing again."""

import random
import threading
from collections.abc import Sequence

from devqa.errors import UserError
from devqa.progress import Progress
from devqa.steps.outcomes import failed
from devqa.tables import Row
from devqa.web.fetching.addresses import host_of
from devqa.web.fetching.fetched import Fetched, Fetcher
from devqa.web.fetching.kept import forget
from devqa.web.fetching.turns import in_turns
from devqa.web.store import NotKept, Store, nothing_kept

# So many hosts are not out of order at the same time.
_HOSTS = 10
_NOT_KEPT = "offline: the page is not in the cache"


def fetch(searches: Sequence[Row], fetcher: Fetcher, store: Store, concurrency: int) -> list[Row]:
    """Rows of table `pages`, one per dialogue and search result; each address is fetched once.

    The bytes go into `store` as they come, under the hash that the row names; no more than `concurrency` pages are in
    memory.

    Raises:
        UserError: not one of many hosts could be reached; or nothing may be sent, and not one page is in the cache.
    """
    found = [
        {"dialogue_id": row["dialogue_id"], "rank": hit["rank"], "url": hit["url"], "title": hit["title"]}
        for row in sorted(searches, key=lambda row: row["dialogue_id"])
        for hit in row["results"]
    ]
    urls = list(dict.fromkeys(page["url"] for page in found))
    # Jobs that want the same pages of a host begin with different ones, and find those of the others kept when they
    # come to them. In the same order, all of them would wait for each page in turn.
    random.shuffle(urls)
    with Progress("fetching pages", len(urls)) as progress:
        desk = _Desk(fetcher, store, progress, 2 * concurrency)
        try:
            accounts = in_turns(urls, desk.account, concurrency)
            desk.check(_HOSTS)
        except _NoNetwork:
            # Else pages would be given up for good because the network was down a few times.
            for url in desk.unreached:
                forget(store, url)
            raise
    if found and all(account["reason"] == _NOT_KEPT for account in accounts.values()):
        raise nothing_kept(len(accounts), "pages")
    return [{**page, **accounts[page["url"]]} for page in found]


class _NoNetwork(UserError):
    """Not one of many hosts could be reached."""


class _Desk:
    """Takes in pages one by one, and notices when the network is gone; safe in threads."""

    def __init__(self, fetcher: Fetcher, store: Store, progress: Progress, hopeless: int):
        self._fetcher = fetcher
        self._store = store
        self._progress = progress
        self._hopeless = max(_HOSTS, hopeless)
        self._lock = threading.Lock()
        self._reached = False
        # The pages whose hosts could not be reached, and those hosts.
        self.unreached: dict[str, str] = {}

    def account(self, url: str) -> Row:
        """The columns of table `pages` for the page at `url`; its bytes are put away."""
        try:
            page = self._fetcher.fetch(url)
        except NotKept:
            page = None
        row = failed(_NOT_KEPT) if page is None else _account(page, self._store)
        with self._lock:
            self._progress.advance(failed=row["status"] == "failed", cached=page is None or page.reached is None)
            if page is not None and page.reached is not None:
                self._reached |= page.reached
                self.unreached |= {} if page.reached else {url: host_of(url)}
        self.check(self._hopeless)
        return row

    def check(self, hosts: int) -> None:
        """Raise `_NoNetwork` if no host was reached, of at least `hosts` that were asked."""
        if self._reached:
            return
        with self._lock:
            asked = len(set(self.unreached.values()))
        if asked >= hosts:
            raise _NoNetwork(
                f"not one of {asked} web servers could be reached: is there a network? "
                "With `offline: true` pages come from the cache alone"
            )


def _account(page: Fetched, store: Store) -> Row:
    account = {
        "final_url": page.final_url,
        "http_status": page.http_status,
        "content_type": page.content_type,
        "fetched": page.fetched,
        "status": page.status,
        "reason": page.reason,
    }
    if page.content is None:
        return account
    return {**account, "sha256": store.put_page(page.content), "bytes": len(page.content)}
