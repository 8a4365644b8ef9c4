"""The local corpus: pages in a folder or texts in a Parquet file, made ready for searching and fetching."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devqa.errors import UserError
from devqa.tables import Row
from devqa.web.cleaning import markup
from devqa.web.cleaning.charset import decode
from devqa.web.cleaning.clean import Cleaned, clean_all
from devqa.web.corpus_files import TYPES, corpus_files
from devqa.web.words import words

_BATCH = 500


def build_corpus(path: str, clean_options: dict[str, Any], workers: int) -> list[Row]:
    """The rows of table `corpus`, one per page of the corpus at `path`, cleaned by `workers` processes.

    A page of a folder has the URL that it calls canonical, else `file:` and its path below the folder. A Parquet
    file has columns url, text and, if there is one, title; its texts are taken as they are, as Markdown. Pages that
    are empty, too short, no text or no references are `rejected`, and so is a URL's second page.

    Raises:
        UserError: the corpus is missing, empty or unreadable.
    """
    files = corpus_files(path)
    pages = list(_parquet_pages(files[0]) if Path(path).is_file() else _folder_pages(files, Path(path)))
    cleaned = clean_all(
        ((page["content"], page["content_type"], page["url"]) for page in pages), clean_options, workers
    )
    rows = [_row(page, result) for page, result in zip(pages, cleaned, strict=True)]
    _reject_duplicates(rows)
    return rows


def _folder_pages(files: list[str], root: Path) -> Iterator[Row]:
    for name in files:
        file = Path(name)
        try:
            content = file.read_bytes()
        except OSError as error:
            raise UserError(f"search.corpus: {file} can't be read: {error.strerror}") from error
        content_type = TYPES[file.suffix.lower()]
        own = markup.canonical(decode(content, content_type)) if "html" in content_type else ""
        yield {
            "url": own or f"file:{file.relative_to(root).as_posix()}",
            "title": "",
            "content": content,
            "content_type": content_type,
        }


def _parquet_pages(file: str) -> Iterator[Row]:
    try:
        with pq.ParquetFile(file) as parquet:
            names = parquet.schema_arrow.names
            if missing := {"url", "text"} - set(names):
                raise UserError(f"search.corpus: {file} has no column {' and '.join(sorted(missing))}")
            columns = [name for name in ("url", "title", "text") if name in names]
            for batch in parquet.iter_batches(batch_size=_BATCH, columns=columns):
                for row in batch.to_pylist():
                    yield {
                        "url": row["url"] or "",
                        "title": row.get("title") or "",
                        "content": (row["text"] or "").encode("utf-8"),
                        # Not text/plain: a text is no source file though its page was one (…/setup.py).
                        "content_type": "text/markdown; charset=utf-8",
                    }
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"search.corpus: {file} can't be read as Parquet: {error}") from error


def _row(page: Row, cleaned: Cleaned) -> Row:
    title = page["title"] or cleaned.title
    is_ok = cleaned.status == "ok"
    return page | {
        "title": title,
        "language": cleaned.language,
        "text": cleaned.text,
        "words": " ".join(words(f"{title}\n{cleaned.text}")) if is_ok else "",
        "status": cleaned.status,
        "reason": cleaned.reason,
    }


def _reject_duplicates(rows: list[Row]) -> None:
    """Let only the first usable page of each URL be `ok`."""
    seen: set[str] = set()
    for row in rows:
        if row["status"] != "ok":
            continue
        if not row["url"]:
            row.update(status="rejected", reason="no url")
        elif row["url"] in seen:
            row.update(status="rejected", reason="duplicate url", words="")
        seen.add(row["url"])
