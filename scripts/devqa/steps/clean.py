"""pages → references: the main content of each page as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from devqa.steps.outcomes import failed
from devqa.tables import Row, picked
from devqa.web.clean import clean_all
from devqa.web.store import Store


def clean(pages: Sequence[Row], store: Store, options: Mapping[str, Any], workers: int) -> list[Row]:
    """Rows of table `references`, one per page; pages with the same bytes and address are cleaned once.

    `options` are those of the configuration's `clean` section.
    """
    found = {(page["sha256"], page["url"]): page for page in pages}
    contents = {key: store.get_page(key[0]) for key in found}
    present = [key for key, content in contents.items() if content is not None]
    cleaned = dict(
        zip(
            present,
            clean_all([(contents[key], found[key]["content_type"], key[1]) for key in present], options, workers),
            strict=True,
        )
    )
    return [_row(page, cleaned.get((page["sha256"], page["url"]))) for page in pages]


def _row(page: Row, text: Any) -> Row:
    row = picked(page, "references")
    if text is None:
        return {
            **row,
            **failed("the page's bytes are no longer in the cache: delete its table under pages/ and run again"),
        }
    return {
        **row,
        "title": text.title or page["title"],
        "language": text.language,
        "extractor": text.extractor,
        "text": text.text,
        "status": text.status,
        "reason": text.reason,
    }
