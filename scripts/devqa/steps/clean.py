"""pages → references: the main content of each page as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from devqa.errors import UserError
from devqa.progress import Progress
from devqa.steps.outcomes import failed, rejected
from devqa.tables import Row, picked
from devqa.web.cleaning.clean import Cleaned, clean_each
from devqa.web.cleaning.copies import copy_of, shingles
from devqa.web.cleaning.texts import Texts
from devqa.web.store import Store
from devqa.web.urls import canonical


def clean(pages: Sequence[Row], store: Store, options: Mapping[str, Any], workers: int) -> Iterator[Row]:
    """Rows of table `references`, one per page, in the pages' order. What was cleaned before is taken from `store`.

    `options` are those of the configuration's `clean` section. With `duplicate_similarity` among them, a page of a
    dialogue is rejected where a better ranked one has the same final address or a text that is at least so similar.
    Rows come as they are ready: in memory are the pages of one dialogue, and a few for each worker.

    Raises:
        UserError: the bytes of a page are no longer in the cache.
    """
    lost = sum(not store.has_page(page["sha256"]) for page in pages)
    if lost:
        raise UserError(
            f"the cache no longer holds the bytes of {lost} of {len(pages)} pages: fetch them again with "
            "`--forcerun fetch`, or import a cache that has them (cache_import)"
        )
    with Progress("cleaning pages", len(pages)) as progress, closing(_cleaned(pages, store, options, workers)) as rows:
        # A dialogue's pages stand together.
        for _, group in groupby(rows, key=lambda pair: pair[0]["dialogue_id"]):
            dialogue = list(group)
            if least := options.get("duplicate_similarity"):
                _reject_copies(dialogue, least)
            progress.advance(len(dialogue), failed=sum(row["status"] == "failed" for _, row in dialogue))
            yield from (row for _, row in dialogue)


def _cleaned(pages: Sequence[Row], store: Store, options: Mapping[str, Any], workers: int) -> Iterator[tuple[Row, Row]]:
    """Each page with its row."""
    lost: set[str] = set()
    items = _contents(pages, store, lost)
    with closing(clean_each(items, dict(options), workers, Texts(store, options))) as texts:
        for page, text in zip(pages, texts, strict=True):
            yield page, _row(page, None if page["sha256"] in lost else text)


def _contents(pages: Sequence[Row], store: Store, lost: set[str]) -> Iterator[tuple[bytes, str, str]]:
    """What is to be cleaned; for what the store has no more nothing (b""), and its hash goes to `lost`."""
    for page in pages:
        content = store.get_page(page["sha256"])
        if content is None:
            lost.add(page["sha256"])
        yield content or b"", page["content_type"], page["final_url"] or page["url"]


def _row(page: Row, text: Cleaned | None) -> Row:
    row = picked(page, "references")
    if text is None:
        return {
            **row,
            **failed("the page's bytes in the cache are damaged: run again with `--forcerun fetch`"),
        }
    return {
        **row,
        "title": text.title or page["title"],
        "language": text.language,
        "extractor": text.extractor,
        "license": text.license,
        "text": text.text,
        "status": text.status,
        "reason": text.reason,
    }


def _reject_copies(dialogue: list[tuple[Row, Row]], least: float) -> None:
    """Let of pages that are the same only the best ranked be `ok`."""
    ranked = sorted((pair for pair in dialogue if pair[1]["status"] == "ok"), key=lambda pair: pair[0]["rank"])
    ranks: list[int] = []
    texts: list[frozenset[int]] = []
    addresses: dict[str, int] = {}
    for page, row in ranked:
        address, text = canonical(page["final_url"] or page["url"]), shingles(row["text"])
        if (better := addresses.get(address)) is not None:
            row.update(rejected(f"the same address as a better page: rank {better}"))
        elif (copied := copy_of(text, texts, least)) is not None:
            row.update(rejected(f"the same text as a better page: rank {ranks[copied]}"))
        else:
            addresses[address] = page["rank"]
            ranks.append(page["rank"])
            texts.append(text)
