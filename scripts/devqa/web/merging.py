"""The results of several queries as one list."""

from devqa.web.engines.base import Hit
from devqa.web.urls import canonical, without_fragment

_RANK_CONSTANT = 60


def merge(hit_lists: list[list[Hit]], limit: int) -> list[Hit]:
    """The results of several queries as one list of at most `limit` pages, best first.

    Reciprocal rank fusion with k = 60 (Cormack, Clarke, Büttcher 2009) over pages, whichever of their addresses a
    query found them under (`devqa.web.urls.canonical`): a page has its best rank of each list. It keeps the first
    hit's address (without a fragment), title and snippet; equal scores come in the order of first appearance.
    """
    scores: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in hit_lists:
        pages = {}
        for hit in hits:
            pages.setdefault(canonical(hit.url), hit)
        for rank, (page, hit) in enumerate(pages.items(), start=1):
            first.setdefault(page, Hit(without_fragment(hit.url), hit.title, hit.snippet))
            scores[page] = scores.get(page, 0.0) + 1 / (_RANK_CONSTANT + rank)
    # `sorted` is stable, and the dict keeps the order of first appearance.
    best = sorted(scores, key=lambda page: -round(scores[page], 12))
    return [first[page] for page in best[:limit]]
