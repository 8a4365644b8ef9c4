"""Many pages at the same time, but one of each host."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from devqa.web.fetching.addresses import host_of

Result = TypeVar("Result")


def in_turns(urls: Iterable[str], get: Callable[[str], Result], concurrency: int) -> dict[str, Result]:
    """Each of `urls` and what `get` returns for it, called by `concurrency` threads, once for each and never twice at a
    time for one host.

    Hosts go round: a page of each, those with most pages first. So hosts that keep their callers waiting hold up their
    own pages.

    Raises:
        whatever `get` raises; what has not begun by then never does.
    """
    distinct = dict.fromkeys(urls)
    hosts: dict[str, deque[str]] = {}
    for url in distinct:
        hosts.setdefault(host_of(url) or url, deque()).append(url)
    queue = deque(sorted(hosts.values(), key=len, reverse=True))
    results: dict[str, Result] = {}
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                pages = queue.popleft()
            except IndexError:
                # Hosts that are being asked now stay with those who ask them.
                return
            url = pages.popleft()
            try:
                results[url] = get(url)
            except BaseException:
                stopped.set()
                raise
            if pages:
                queue.append(pages)

    with ThreadPoolExecutor(concurrency) as threads:
        try:
            for worker in [threads.submit(work) for _ in range(min(concurrency, len(queue)))]:
                worker.result()
        finally:
            # Also where it is this thread that is interrupted.
            stopped.set()
    return {url: results[url] for url in distinct}
