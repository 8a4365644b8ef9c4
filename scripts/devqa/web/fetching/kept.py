"""Which outcomes of fetching are kept, and for how long they hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from devqa.web.fetching.addresses import without_fragment
from devqa.web.fetching.fetched import Fetched
from devqa.web.store import Store

FORBIDDEN = "robots.txt forbids it"
NOT_PUBLIC = "the address is not public"
# The page is gone: that is an answer. Anything else (429, 403, 5xx) may be another one tomorrow.
GONE = frozenset((404, 410))

_MOST_RUNS = 3
# What owners of hosts and of name servers may change from one day to the next.
_FOR_A_DAY = frozenset((FORBIDDEN, NOT_PUBLIC))
_DAY_S = 24 * 3600
_SHOWN = ("final_url", "http_status", "content_type", "status", "reason", "fetched")


@dataclass(frozen=True)
class Entry:
    """An outcome as it is kept.

    Attributes:
        fetched: the outcome, with its content where that is still there.
        sha256: of the content; None where there was none.
        etag, last_modified: by which the server knows the content, "" where it said nothing.
        terms: under which it came about, as plain JSON values.
        run: the run that asked last, and in `runs` how many asked in vain.
    """

    fetched: Fetched
    sha256: str | None
    etag: str
    last_modified: str
    terms: Mapping[str, Any]
    run: str
    runs: int


class Outcomes:
    """The outcomes for addresses, in `store`.

    Args:
        terms: what a rejection depends on, as plain JSON values: under other terms it is none.
        run: the run's name.
        now: the time, in seconds since 1970.
    """

    def __init__(self, store: Store, terms: Mapping[str, Any], run: str, now: Callable[[], float]):
        self._store = store
        self._terms = dict(terms)
        self._run = run
        self._now = now

    def get(self, url: str) -> Entry | None:
        """What was kept last for `url`, whatever it is; None where there is nothing, or not its content any more."""
        kept = self._store.get(_key(url))
        if kept is None:
            return None
        known = orjson.loads(kept)
        sha256 = known["sha256"]
        content = self._store.get_page(sha256) if sha256 else None
        if sha256 and content is None:
            return None
        return Entry(
            Fetched(content=content, **{name: known[name] for name in _SHOWN}),
            sha256,
            known.get("etag", ""),
            known.get("last_modified", ""),
            known.get("terms", {}),
            known.get("run", ""),
            known.get("runs", 0),
        )

    def holds(self, entry: Entry) -> bool:
        """Need the address of `entry` not be asked now?

        Pages hold for good, and so does that a page is gone; other rejections under the same terms, those that others
        may take back for a day; what failed, within the run.
        """
        outcome = entry.fetched
        if outcome.status == "failed":
            return entry.run == self._run
        if outcome.status == "ok" or outcome.http_status in GONE:
            return True
        if outcome.reason in _FOR_A_DAY and not 0 <= self._now() - _seconds(outcome.fetched) < _DAY_S:
            return False
        return entry.terms == self._terms

    def put(self, url: str, fetched: Fetched, before: Entry | None, etag: str = "", last_modified: str = "") -> Fetched:
        """Keep an outcome, where `before` was kept until now, and return it with its time.

        What fails in the third run is rejected.
        """
        before_runs = before.runs if before and before.fetched.status == "failed" else 0
        runs = before_runs + 1 if fetched.status == "failed" else 0
        if runs >= _MOST_RUNS:
            fetched = replace(fetched, status="rejected", reason=f"given up after {runs} runs: {fetched.reason}")
        fetched = replace(fetched, fetched=iso(self._now()))
        sha256 = None if fetched.content is None else self._store.put_page(fetched.content, anew=True)
        entry = {
            **{name: getattr(fetched, name) for name in _SHOWN},
            "sha256": sha256,
            "etag": etag,
            "last_modified": last_modified,
            "terms": self._terms,
            "run": self._run,
            "runs": runs,
        }
        self._store.put(_key(url), orjson.dumps(entry))
        return fetched


def forget(store: Store, url: str) -> None:
    """Keep no outcome for `url` any more."""
    store.remove(_key(url))


def iso(seconds: float) -> str:
    """A time in seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _key(url: str) -> str:
    return f"url:{without_fragment(url)}"


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
