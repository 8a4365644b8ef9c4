"""How much of a page's content and code each extractor finds, and how fast: goose3 as it comes, the fallbacks, ours.

    .venv/bin/python benchmarks/pages.py --pages 10 FOLDER...      # a minute or two
    .venv/bin/python benchmarks/pages.py FOLDER...                 # all pages: about an hour

A FOLDER is a checkout, or the git directory (`git clone --bare --depth 1`), of

    mozilla/readability, scrapinghub/article-extraction-benchmark, adbar/trafilatura: articles, news, pieces of pages
    Murrough-Foley/web-content-extraction-benchmark: 2,008 pages, of documentation, forums, articles and other kinds

on github.com, or any folder of manuals as a generator wrote them: their expected text is the element that the generator
puts the author's text in (`page_sources.py` lists which), without permalinks and tables of contents. Debian has
many, and

    apt-get download python3-doc debian-handbook maint-guide-ru && dpkg-deb -x python3-doc_*.deb manuals/python

gets one without installing it; a folder each. Nothing of them is in this project.

Pages are put into groups. A page's score is the F1 of its tokens (words; Chinese by character), or of the pieces that
trafilatura's test set says must and must not be there; a group's is the mean of its pages. `code` is the mean share
of the expected code blocks that are in the output line by line. Ours is called equal to the best of the others
where it is not more than 0.005 below. Half 0 of the pages, by a hash of their names, was tuned on, half 1 was not.

Every extractor cleans a page before the next page's turn comes, in a process that is stopped after 30 s. Speed is by
the processor's time, over the pages that all extractors finished; ratios within one run count more than figures.
"""

import argparse
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

from page_scores import code_kept, f1
from page_sources import Page, pages
from pebble import ProcessPool

from devqa.config.sources import Clean
from devqa.web.cleaning.charset import decode
from devqa.web.cleaning.clean import clean_all, clean_page

TIMEOUT_S = 30
EQUAL = 0.005
OPTIONS = Clean().model_dump()

# Of a page and an extractor: its text, and the processor's seconds, None where it did not finish.
Outputs = dict[str, dict[str, tuple[str, float | None]]]


def goose3(content: bytes) -> str:
    from goose3 import Goose

    with Goose({"enable_image_fetching": False}) as goose:
        return goose.extract(raw_html=content).cleaned_text or ""


def trafilatura(content: bytes) -> str:
    from trafilatura import extract

    return extract(content, output_format="markdown", include_comments=False) or ""


def resiliparse(content: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(decode(content, "text/html"), main_content=True, alt_texts=False, noscript=False)


def readability(content: bytes) -> str:
    from lxml.html import fromstring
    from readability import Document

    return fromstring(Document(decode(content, "text/html")).summary()).text_content()


def ours(content: bytes) -> str:
    return clean_page(content, "text/html", "", OPTIONS).text


def extractors() -> dict[str, Callable[[bytes], str]]:
    """Those whose packages are installed; readability-lxml is no dependency of the project."""
    found = {"goose3": goose3, "trafilatura": trafilatura, "resiliparse": resiliparse, "ours": ours}
    try:
        import readability as _  # noqa: F401
    except ImportError:
        return found
    return {**found, "readability": readability}


def sampled(sources: list[Path], number: int | None) -> list[Page]:
    """The pages of all sources by group, each group's first `number` in the order of their names' hashes."""
    groups: dict[str, list[Page]] = defaultdict(list)
    for source in sources:
        for page in pages(source):
            groups[page.group].append(page)
    return [page for name in sorted(groups) for page in sorted(groups[name], key=lambda page: page.order)[:number]]


def measured(chosen: list[Page], workers: int) -> Outputs:
    """What every extractor makes of every page."""
    named = extractors()
    tasks = [(page, name) for page in chosen for name in named]
    found: Outputs = defaultdict(dict)
    with ProcessPool(max_workers=workers, initializer=_warm_up) as pool:
        results = pool.map(_run, [(name, page.content) for page, name in tasks], timeout=TIMEOUT_S).result()
        for page, name in tasks:
            try:
                found[page.name][name] = next(results)
            except TimeoutError:
                found[page.name][name] = ("", None)
    return found


def _warm_up() -> None:
    for extract in extractors().values():
        extract(b"<html><body><p>What is imported and built once is not part of a page's time.</p></body></html>")


def _run(task: tuple[str, bytes]) -> tuple[str, float]:
    name, content = task
    before = time.process_time()
    try:
        text = extractors()[name](content)
    except Exception:
        if name == "ours":
            raise
        text = ""
    return text, time.process_time() - before


def scores(chosen: list[Page], outputs: Outputs) -> Iterator[str]:
    """A table with a line for each group: each extractor's F1 and share of code kept, and how ours compares."""
    names = list(extractors())
    yield f"| group | pages | with code | {' | '.join(f'{name} F1 | code' for name in names)} | ours is |"
    yield f"| --- {'| ---: ' * (2 + 2 * len(names))}| --- |"
    for group in sorted({page.group for page in chosen}):
        members = [page for page in chosen if page.group == group]
        means = {name: fmean(f1(page, outputs[page.name][name][0]) for page in members) for name in names}
        kept = {name: [code_kept(page, outputs[page.name][name][0]) for page in members] for name in names}
        code = {name: [share for share in kept[name] if share is not None] for name in names}
        cells = [f"{means[name]:.3f} | {f'{fmean(code[name]):.1%}' if code[name] else '–'}" for name in names]
        ahead = means["ours"] - max(means[name] for name in names if name not in ("ours", "readability"))
        verdict = "best" if ahead > EQUAL else "equal" if ahead >= -EQUAL else f"behind by {-ahead:.3f}"
        yield f"| {group} | {len(members)} | {len(code['ours'])} | {' | '.join(cells)} | {verdict} |"


def speeds(chosen: list[Page], outputs: Outputs) -> Iterator[str]:
    names = list(extractors())
    finished = [page for page in chosen if all(outputs[page.name][name][1] is not None for name in names)]
    rates = {name: len(finished) / sum(outputs[page.name][name][1] or 0 for page in finished) for name in names}
    yield "| extractor | pages/s per core | / goose3 | not finished |"
    yield "| --- | ---: | ---: | ---: |"
    for name in names:
        lost = sum(outputs[page.name][name][1] is None for page in chosen)
        yield f"| {name} | {rates[name]:.1f} | {rates[name] / rates['goose3']:.2f} | {lost} |"


def scaling(chosen: list[Page]) -> str:
    """Wall-clock time of cleaning all pages with one worker process and with two, the better of two runs each."""
    items = [(page.content, "text/html", page.name) for page in chosen]
    taken: dict[int, float] = {}
    for workers in (1, 2, 1, 2):
        before = time.perf_counter()
        list(clean_all(items, OPTIONS, workers))
        taken[workers] = min(time.perf_counter() - before, taken.get(workers, float("inf")))
    return (
        f"Ours with 2 workers: {taken[1] / taken[2]:.2f} times as fast as with 1 ({taken[1]:.1f} s, {taken[2]:.1f} s)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, help="of each group at most, chosen by a hash of their names; default all")
    parser.add_argument("--workers", type=int, default=1, help="processes that measure; speeds are best taken with 1")
    options = parser.parse_args()
    # goose3 warns of each date that it can't read, trafilatura of each empty page.
    logging.disable(logging.ERROR)
    chosen = sampled(options.sources, options.pages)
    outputs = measured(chosen, options.workers)
    for title, part in {
        "All pages": chosen,
        "Half 0, tuned on": [page for page in chosen if page.half == 0],
        "Half 1, held out": [page for page in chosen if page.half == 1],
    }.items():
        sys.stdout.write(f"\n{title}\n\n" + "\n".join(scores(part, outputs)) + "\n")
    sys.stdout.write("\n" + "\n".join([*speeds(chosen, outputs), "", scaling(chosen)]) + "\n")


if __name__ == "__main__":
    main()
