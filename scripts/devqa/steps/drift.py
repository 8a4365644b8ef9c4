"""benchmark → drift: answers whose support has vanished from the pages that they cite."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from devqa.errors import UserError
from devqa.steps.fetch import fetch
from devqa.steps.supports import Page
from devqa.tables import Row
from devqa.web.cleaning.clean import clean_each
from devqa.web.fetching.fetched import Fetched
from devqa.web.store import Store

COLUMNS = ("id", "question", "url", "span", "state", "match", "first_fetched", "looked_at", "note")

_UNCHANGED = 304
_GONE = (404, 410)
_LOST = ("vanished", "gone")
_UNSEEN = ("unreadable", "failed")


class Seen(NamedTuple):
    """A page as it is now.

    Attributes:
        state: `unchanged` (to the byte), `changed`, `gone`, `unreadable` (it has no text to look in) or `failed` (it
            could not be looked at).
        text: the cleaned text of a page that is `changed`.
        note: why, of the last three.
    """

    state: str
    text: str = ""
    note: str = ""


def cited(benchmark: Iterable[Row]) -> list[str]:
    """The addresses of all pages that state an answer, sorted."""
    return sorted({url for row in benchmark for url, _ in _supports(row)})


def drift(
    benchmark: Sequence[Row], seen: Iterable[tuple[str, Seen]], sources: Mapping[str, Row], now: str
) -> list[Row]:
    """A row with `COLUMNS` for each sentence that supports an answer.

    Args:
        benchmark: rows of table `benchmark`.
        seen: every address of `cited`, and the page there now.
        sources: rows of table `sources` by address, as far as there are any.
        now: when the pages were looked at.

    Returns:
        Rows with state `unchanged` (so is the page), `there` (the page has changed, and the sentence stands in it, as
        `match` says), `vanished` (it does not), `gone` (the page), `unreadable` or `failed` (the page; see `note`).
        First come the answers that have lost every support, then those that have lost some, then those with a page
        that could not be seen.
    """
    citing: dict[str, list[tuple[Row, Row]]] = {}
    for row in benchmark:
        for url, support in _supports(row):
            citing.setdefault(url, []).append((row, support))
    found = [
        {
            "id": row["id"],
            "question": row["question"],
            "url": url,
            "span": support["span"],
            **verdict,
            "first_fetched": sources.get(url, {}).get("fetched") or "",
            "looked_at": now,
        }
        for url, page in seen
        for (row, support), verdict in zip(citing[url], _verdicts(page, citing[url]), strict=True)
    ]
    urgency = {name: _urgency(states) for name, states in _states(found).items()}
    return sorted(found, key=lambda row: (urgency[row["id"]], row["id"], row["url"], row["span"]))


def summary(rows: Sequence[Row], path: str) -> list[str]:
    """What `drift` found, in a few lines for people; `path` is where the rows are."""
    answers = Counter(map(_urgency, _states(rows).values()))
    lost = "has lost its" if answers[0] == 1 else "have lost their"
    lines = [f"{answers[0]} of {answers.total()} answers {lost} support; see {path}"]
    if answers[1]:
        lines.append(f"{answers[1]} of {answers.total()} have lost a part of it")
    if answers[2]:
        lines.append(f"{answers[2]} of {answers.total()} rest on a page that could not be looked at or read")
    states = Counter(row["state"] for row in rows)
    return [*lines, "Sentences: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items()))]


def on_the_web(
    urls: Sequence[str],
    look_again: Callable[[str], Fetched],
    scratch: Store,
    sources: Mapping[str, Row],
    cleaning: Mapping[str, Any],
    concurrency: int,
    workers: int,
) -> Iterator[tuple[str, Seen]]:
    """Each of `urls` and the page there now.

    Args:
        look_again: gives a page as it is now, with http_status 304 where that is what is kept.
        scratch: where the bytes of the pages go meanwhile.
        sources: as of `drift`.
        cleaning: section `clean` of the configuration.
        concurrency: how many pages are fetched at the same time.
        workers: how many processes clean.

    Raises:
        UserError: not one of many hosts could be reached.
    """
    results = [{"rank": 0, "url": url, "title": ""} for url in urls]
    pages = fetch([{"dialogue_id": "", "results": results}], _Again(look_again), scratch, concurrency)
    changed = []
    for page in pages:
        if (state := _state(page, sources.get(page["url"], {}))) == "changed":
            changed.append(page)
        else:
            yield page["url"], Seen(state, note=page["reason"])
    contents = ((scratch.get_page(page["sha256"]), page["content_type"], page["url"]) for page in changed)
    for page, cleaned in zip(changed, clean_each(contents, dict(cleaning), workers), strict=True):
        yield page["url"], _readable(cleaned.status, cleaned.text, cleaned.reason)


def in_a_corpus(urls: Sequence[str], corpus: Iterable[Row], sources: Mapping[str, Row]) -> Iterator[tuple[str, Seen]]:
    """Each of `urls` and the page there now, by rows of table `corpus` that were made of the files as they are now.

    Raises:
        UserError: none of them is in the corpus.
    """
    pages: dict[str, Row] = {}
    for row in corpus:
        if row["url"] not in pages or row["status"] == "ok":
            pages[row["url"]] = row
    if pages.keys().isdisjoint([*urls, *sources]):
        raise UserError(
            "search.corpus: it has none of the pages that the benchmark cites: name the engine or the corpus that "
            "the benchmark was built with"
        )
    for url in urls:
        page = pages.get(url)
        if page is None:
            yield url, Seen("gone", note="not in the local corpus")
        elif hashlib.sha256(page["content"]).hexdigest() == sources.get(url, {}).get("sha256"):
            yield url, Seen("unchanged")
        else:
            yield url, _readable(page["status"], page["text"], page["reason"])


class _Again:
    """A fetcher that looks at pages again."""

    def __init__(self, look_again: Callable[[str], Fetched]):
        self.fetch = look_again


def _supports(row: Row) -> list[tuple[str, Row]]:
    """The supports of a row of the benchmark, each with the address of its page."""
    return [(row["references"][support["reference"] - 1]["url"], support) for support in row["supports"] or []]


def _state(page: Row, source: Row) -> str:
    if page["status"] == "ok":
        is_same = page["http_status"] == _UNCHANGED or page["sha256"] == source.get("sha256")
        return "unchanged" if is_same else "changed"
    if page["http_status"] in _GONE:
        return "gone"
    return "unreadable" if page["status"] == "rejected" else "failed"


def _readable(status: str, text: str, reason: str) -> Seen:
    if status == "ok":
        return Seen("changed", text)
    return Seen("unreadable" if status == "rejected" else "failed", note=reason)


def _verdicts(seen: Seen, citing: Sequence[tuple[Row, Row]]) -> Iterator[Row]:
    """State, match and note of each citation of a page."""
    page = Page(seen.text)
    for _, support in citing:
        if seen.state == "changed":
            match = page.match(support["span"])
            yield {"state": "there" if match else "vanished", "match": match or "", "note": ""}
        else:
            match = support["match"] if seen.state == "unchanged" else ""
            yield {"state": seen.state, "match": match, "note": seen.note}


def _states(rows: Iterable[Row]) -> dict[str, list[str]]:
    states: dict[str, list[str]] = {}
    for row in rows:
        states.setdefault(row["id"], []).append(row["state"])
    return states


def _urgency(states: Sequence[str]) -> int:
    """0 for an answer without any support left, 1 without some of it, 2 with a page that was not seen, 3 with all."""
    lost = sum(state in _LOST for state in states)
    if lost:
        return 0 if lost == len(states) else 1
    return 2 if any(state in _UNSEEN for state in states) else 3
