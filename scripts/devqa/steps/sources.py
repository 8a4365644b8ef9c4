"""benchmark → sources: the pages that a benchmark cites, as they were fetched."""

import hashlib
from collections.abc import Iterable

from devqa.steps.outcomes import failed
from devqa.tables import Row
from devqa.web.cleaning.licence import licence_of
from devqa.web.fetching.fetched import Fetched, Fetcher
from devqa.web.store import NotKept


def sources(benchmark: Iterable[Row], fetcher: Fetcher) -> list[Row]:
    """Rows of table `sources`, one for each page that a row of `benchmark` cites, sorted by address.

    `fetcher` gives what was kept and sends nothing; one page at a time is in memory. A page that is no longer kept has
    failed.
    """
    referenced_by: dict[str, list[str]] = {}
    evidence_of: dict[str, list[str]] = {}
    for row in benchmark:
        for url in dict.fromkeys(reference["url"] for reference in row["references"] or []):
            referenced_by.setdefault(url, []).append(row["id"])
        for url in dict.fromkeys(row["evidence_urls"] or []):
            evidence_of.setdefault(url, []).append(row["id"])
    return [
        {
            "url": url,
            **_account(fetcher, url),
            "referenced_by": sorted(referenced_by.get(url, [])),
            "evidence_of": sorted(evidence_of.get(url, [])),
        }
        for url in sorted({*referenced_by, *evidence_of})
    ]


def _account(fetcher: Fetcher, url: str) -> Row:
    try:
        page = fetcher.fetch(url)
    except NotKept:
        return failed("the page is not in the cache")
    return {
        "final_url": page.final_url,
        "fetched": page.fetched,
        "http_status": page.http_status,
        "content_type": page.content_type,
        "status": page.status,
        "reason": page.reason,
        **_content(page),
    }


def _content(page: Fetched) -> Row:
    if page.content is None:
        return {}
    return {
        "license": licence_of(page.content, page.content_type, page.final_url),
        "sha256": hashlib.sha256(page.content).hexdigest(),
        "bytes": len(page.content),
    }
