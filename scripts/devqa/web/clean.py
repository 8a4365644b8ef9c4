"""Pages to text: what a reader sees as the page's content, as Markdown."""

import logging
import multiprocessing
import re
import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml.html import HtmlElement, tostring
from pebble import ProcessExpired, ProcessPool

from devqa.language import detect
from devqa.tokens import at_line_end
from devqa.web import goose, markdown, markup
from devqa.web.charset import decode
from devqa.web.sniff import unwanted

log = logging.getLogger(__name__)

_MEMORY_BYTES = 2_000_000_000
_DEEPEST = 1_000
_LEAST_SHARE = 0.6
_LEAST_CODE = 0.5
_LOOKS_LIKE_HTML = re.compile(r"<(?:!doctype html|html|head|body|title|div|p|h1|table)[\s>]", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class Cleaned:
    """A page as text: `status` is `ok`, `rejected` (no reference) or `failed` (could not be read), with its `reason`.

    `language` is ISO 639-1, "" where it is not clear; `extractor` says what found the content.
    """

    title: str
    language: str
    text: str
    extractor: str
    status: str
    reason: str


def clean_page(content: bytes, content_type: str, url: str, options: dict[str, Any]) -> Cleaned:
    """The text of one page, cleaned in this process: `clean_all` does it where it can be killed.

    HTML goes to goose3 first, to trafilatura where goose3 leaves too little of the page or of its code, and to
    resiliparse where both do. Plain text and Markdown are decoded and pass. `options` is section `clean` of the
    configuration; `url` is only for the log.
    """
    if reason := unwanted(content):
        return _lost("rejected", reason)
    if not content.strip():
        return _lost("rejected", "empty page")
    text = decode(content, content_type)
    if not _is_html(text, content_type):
        return _judged(_plain_title(text), _BLANK_LINES.sub("\n\n", text).strip(), "text", options)
    try:
        return _clean_html(text, url, options)
    except RecursionError:
        return _lost("failed", "elements are nested too deeply")


def clean_all(items: Iterable[tuple[bytes, str, str]], options: dict[str, Any], workers: int) -> list[Cleaned]:
    """The text of many pages (content, content type, url), in their order, by `workers` processes.

    A page that takes longer than `options["timeout_s"]` seconds or more than 2 GB of memory loses its process and
    comes out as `failed`; the others go on. Parsers in C can't be interrupted in any other way.
    """
    tasks = ((*item, options) for item in items)
    # Forked, because the other ways to start a process run the main script again.
    context = multiprocessing.get_context("fork")
    with ProcessPool(max_workers=workers, context=context, initializer=_limit_memory) as pool:
        outcomes = pool.map(_clean_task, tasks, chunksize=1, timeout=options["timeout_s"]).result()
        return list(_results(outcomes, options["timeout_s"]))


def _results(outcomes: Iterator[Cleaned], timeout_s: float) -> Iterator[Cleaned]:
    while True:
        try:
            yield next(outcomes)
        except StopIteration:
            return
        except TimeoutError:
            yield _lost("failed", f"cleaning took longer than {timeout_s:g} s")
        except ProcessExpired as error:
            yield _lost("failed", f"cleaning ended the process with exit code {error.exitcode}")


def _clean_task(task: tuple[bytes, str, str, dict[str, Any]]) -> Cleaned:
    try:
        return clean_page(*task)
    except MemoryError:
        return _lost("failed", f"cleaning took more than {_MEMORY_BYTES // 10**9} GB of memory")


def _limit_memory() -> None:
    """Limit what this process may allocate on top of what it was forked with."""
    sizes = Path("/proc/self/statm")
    if not sizes.exists():  # only Linux has it, and only Linux keeps to this limit
        return
    inherited = int(sizes.read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = inherited + _MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _clean_html(text: str, url: str, options: dict[str, Any]) -> Cleaned:
    stripped = markup.pruned(text)
    if markup.depth(stripped) > _DEEPEST:
        return _lost("failed", "elements are nested too deeply")
    root = markup.tree(stripped)
    if root is None:
        return _lost("rejected", "empty page")
    small = len(stripped) <= options["max_bytes"] and stripped.count("<") <= 2 * options["max_tags"]
    main, extractor = _main_content(root, small)
    if extractor != "goose3":
        log.debug("%s: goose3 left too little, %s took its place", url, extractor)
    return _judged(markup.title(stripped), main, extractor, options)


def _main_content(root: HtmlElement, small: bool) -> tuple[str, str]:
    """The content as Markdown, and the extractor that found it."""
    visible = tostring(root, encoding="unicode")
    yardstick = _resiliparse(visible, main_content=True)
    code = markdown.code_blocks(root)
    found = goose.extract(root, detect(yardstick or root.text_content())) if small else ""
    if found and len(found) >= _LEAST_SHARE * len(yardstick) and _code_kept(found, code) >= _LEAST_CODE:
        return found, "goose3"
    fallback = _trafilatura(visible) if small else ""
    candidates = [(found, "goose3"), (fallback, "trafilatura")]
    best = max(candidates, key=lambda one: (_code_kept(one[0], code) >= _LEAST_CODE, len(one[0])))
    if len(best[0]) >= _LEAST_SHARE / 2 * len(yardstick) and best[0]:
        return best
    return yardstick or _resiliparse(visible, main_content=False), "resiliparse"


def _code_kept(text: str, code: list[str]) -> float:
    """How much of the page's code stands in `text` line by line, by characters, 0 to 1."""
    squeezed = _lines(text)
    blocks = [_lines(block) for block in code]
    total = sum(map(len, blocks))
    return sum(len(block) for block in blocks if block in squeezed) / total if total else 1.0


def _lines(text: str) -> str:
    """`text` without white space but for line ends: extractors indent code differently."""
    return "\n".join(filter(None, ("".join(line.split()) for line in text.splitlines())))


def _resiliparse(page: str, main_content: bool) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(page, main_content=main_content, alt_texts=False, noscript=False)


def _trafilatura(page: str) -> str:
    import trafilatura

    return trafilatura.extract(page, output_format="markdown", include_tables=True, include_formatting=True) or ""


def _is_html(text: str, content_type: str) -> bool:
    kind = content_type.lower()
    if "html" in kind:
        return True
    return not kind.startswith("text/") and bool(_LOOKS_LIKE_HTML.search(text[:2_000]))


def _plain_title(text: str) -> str:
    """The first heading of a text in Markdown, "" where it does not begin with one."""
    first = text.lstrip().split("\n", 1)[0]
    return first.lstrip("#").strip() if first.startswith("# ") else ""


def _judged(title: str, text: str, extractor: str, options: dict[str, Any]) -> Cleaned:
    text = at_line_end(text, options["max_characters"])
    language = detect(text)
    if len(text) < options["min_characters"]:
        return Cleaned(title, language, text, extractor, "rejected", f"too short: {len(text)} characters")
    return Cleaned(title, language, text, extractor, "ok", "")


def _lost(status: str, reason: str) -> Cleaned:
    return Cleaned("", "", "", "", status, reason)
