"""Pages to text: what a reader sees as the page's content, as Markdown."""

import logging
import multiprocessing
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from devqa.confined import confine
from devqa.language import detect
from devqa.tokens import at_line_end
from devqa.web.cleaning import markup
from devqa.web.cleaning.charset import decode
from devqa.web.cleaning.filetypes import language_of
from devqa.web.cleaning.formats import Document, Unreadable, is_html, is_pdf, read_text
from devqa.web.cleaning.licence import licence_of
from devqa.web.cleaning.quality import no_reference
from devqa.web.sniff import unwanted

if TYPE_CHECKING:
    from devqa.web.cleaning.texts import Texts

log = logging.getLogger(__name__)

_MEMORY_BYTES = 2_000_000_000
_DEEPEST = 1_000
# Pages that wait at a worker, beside the one that it is at.
_WAITING = 2
# Libraries keep more and more in memory: a process ends after so many pages, and a new one takes its place.
_PAGES_PER_PROCESS = 200
_HEADINGS = 3
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Cleaned:
    """A page as text: `status` is `ok`, `rejected` (no reference) or `failed` (could not be read), with its `reason`.

    `language` is ISO 639-1, "" where it is not clear; `extractor` says what decided on the content: goose3, vote,
    trafilatura, resiliparse, or how it was read that needs no finding (pdf, text, source); `license` is the address or
    name of the licence that the page states, "" where it states none.
    """

    title: str
    language: str
    text: str
    extractor: str
    status: str
    reason: str
    license: str = ""


def clean_page(content: bytes, content_type: str, url: str, options: dict[str, Any]) -> Cleaned:
    """The text of one page, cleaned in this process: `clean_all` does it where it can be killed.

    What the page is, its bytes decide, then its content type and the name of its file. HTML goes to the extractors;
    PDF gives its text; Markdown and plain text pass; a source file becomes one block of code. What is no reference
    though it can be read (a bot check, a soft 404) is rejected. `options` is section `clean` of the configuration.
    """
    try:
        page = _read(content, content_type, url, options)
    except Unreadable as error:
        return _lost("rejected", str(error))
    except RecursionError:
        return _lost("failed", "elements are nested too deeply")
    return replace(page, license=licence_of(content, content_type, url)) if page.status == "ok" else page


def clean_all(items: Iterable[tuple[bytes, str, str]], options: dict[str, Any], workers: int) -> list[Cleaned]:
    """The text of many pages (content, content type, url), in their order, by `workers` processes: see `clean_each`."""
    return list(clean_each(items, options, workers))


def clean_each(
    items: Iterable[tuple[bytes, str, str]], options: dict[str, Any], workers: int, texts: "Texts | None" = None
) -> Iterator[Cleaned]:
    """The text of pages (content, content type, url), one after the other in their order, by `workers` processes.

    Items are taken as the processes need them, so there may be more pages than fit into memory. A page that takes
    longer than `options["timeout_s"]` seconds or more than 2 GB of memory loses its process and comes out as `failed`;
    the others go on. Parsers in C can't be interrupted in any other way. What is in `texts` is taken from there, and
    what is not is put there.
    """
    # Forked, because the other ways to start a process run the main script again.
    context = multiprocessing.get_context("fork")
    pool = ProcessPool(
        workers, max_tasks=_PAGES_PER_PROCESS, initializer=confine, initargs=[_MEMORY_BYTES], context=context
    )
    with pool:
        waiting: deque[tuple[str, Cleaned | ProcessFuture]] = deque()
        try:
            for item in items:
                key = texts.key(*item) if texts else ""
                kept = texts.get(key) if texts else None
                task = kept or _scheduled(pool, item, options)
                waiting.append((key, task))
                if len(waiting) > workers * (1 + _WAITING):
                    yield _outcome(*waiting.popleft(), options["timeout_s"], texts)
            while waiting:
                yield _outcome(*waiting.popleft(), options["timeout_s"], texts)
        finally:
            # Whoever takes no more pages does not wait for those under way.
            pool.stop()


def _scheduled(pool: ProcessPool, item: tuple[bytes, str, str], options: dict[str, Any]) -> ProcessFuture:
    # The extractors, loaded before the pool forks its processes, which share them; not at all where all texts are kept.
    import devqa.web.cleaning.content  # noqa: F401

    return pool.schedule(_clean_task, args=[(*item, options)], timeout=options["timeout_s"])


def _outcome(key: str, page: "Cleaned | ProcessFuture", timeout_s: float, texts: "Texts | None") -> Cleaned:
    """The text of a page that is kept under `key`, or when its process is done; then it is kept too."""
    if isinstance(page, Cleaned):
        return page
    text = _result(page, timeout_s)
    if texts:
        texts.put(key, text)
    return text


def _result(page: ProcessFuture, timeout_s: float) -> Cleaned:
    try:
        return page.result()
    except TimeoutError:
        return _lost("failed", f"cleaning took longer than {timeout_s:g} s")
    except ProcessExpired as error:
        return _lost("failed", f"cleaning ended the process with exit code {error.exitcode}")


def _clean_task(task: tuple[bytes, str, str, dict[str, Any]]) -> Cleaned:
    try:
        return clean_page(*task)
    except MemoryError:
        return _lost("failed", f"cleaning took more than {_MEMORY_BYTES // 10**9} GB of memory")


def _read(content: bytes, content_type: str, url: str, options: dict[str, Any]) -> Cleaned:
    if not content.strip():
        return _lost("rejected", "empty page")
    if is_pdf(content):
        # Loaded where it is needed: most pages are no PDF.
        from devqa.web.cleaning.pdf import read_pdf

        document = read_pdf(content, options["max_characters"])
        return _judged(document, "pdf", options)
    if reason := unwanted(content):
        return _lost("rejected", reason)
    text = decode(content, content_type)
    if is_html(text, content_type, url):
        # As browsers do; within a word a space in its place would make two of it.
        return _clean_html(text.replace("\0", ""), url, options)
    document = read_text(text, content_type, url)
    if language_of(content_type, url):
        return _judged(document, "source", options)
    first_line = document.text.split("\n", 1)[0]
    return _judged(document, "text", options, no_reference([document.title, first_line], document.text))


def _clean_html(text: str, url: str, options: dict[str, Any]) -> Cleaned:
    stripped = markup.pruned(text)
    if markup.depth(stripped) > _DEEPEST:
        return _lost("failed", "elements are nested too deeply")
    root = markup.tree(stripped)
    if root is None:
        return _lost("rejected", no_reference([], "", text) or "empty page")
    title = markup.title(stripped)
    titles = [title, *(heading.text_content() for heading in islice(root.iter("h1"), _HEADINGS))]
    small = len(stripped) <= options["max_bytes"] and stripped.count("<") <= 2 * options["max_tags"]
    from devqa.web.cleaning.content import main_content

    main, extractor = main_content(root, small)
    if extractor != "goose3":
        log.debug("%s: content by %s", url, extractor)
    reason = no_reference(titles, main, text)
    if not reason and len(main) < options["min_characters"]:
        # What says what it is may be no main content.
        reason = no_reference(titles, _visible(stripped))
    return _judged(Document(title, main), extractor, options, reason)


def _visible(stripped: str) -> str:
    """All text that a reader sees."""
    from lxml.html import tostring
    from resiliparse.extract.html2text import extract_plain_text

    root = markup.tree(stripped)
    return "" if root is None else extract_plain_text(tostring(root, encoding="unicode"), noscript=False)


def _judged(document: Document, extractor: str, options: dict[str, Any], reason: str = "") -> Cleaned:
    text = _cut(document.text, options["max_characters"])
    if not reason and len(text) < options["min_characters"]:
        reason = f"too short: {len(text)} characters"
    status = "rejected" if reason else "ok"
    return Cleaned(document.title, detect(text), text, extractor, status, reason)


def _cut(text: str, characters: int) -> str:
    """The first `characters` of `text`, to a line's end; a fence that is open there is closed."""
    cut = at_line_end(text, characters)
    if len(cut) == len(text):
        return text
    opened = ""
    for fence in _FENCE.finditer(cut):
        if not opened:
            opened = fence[1]
        elif fence[1].startswith(opened) and not fence[2].strip():
            opened = ""
    return f"{cut.rstrip()}\n{opened}" if opened else cut


def _lost(status: str, reason: str) -> Cleaned:
    return Cleaned("", "", "", "", status, reason)
