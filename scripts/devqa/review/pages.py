"""What the page's templates show, as plain values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devqa.language import detect
from devqa.review.decisions import is_page
from devqa.tables import Row
from devqa.web.urls import canonical

# So much of a text tells its language.
_ENOUGH = 1_000
# Keys that choose, in the order of the choices.
NUMBERS = "1234567890"
# Keys of addresses that can be picked; the other letters do something else (docs/review.md).
LETTERS = "abcdfghijklmpqvxz"


def key(keys: str, number: int) -> str:
    """The key of choice `number`, which begins with 0; "" for those that have none."""
    return keys[number] if number < len(keys) else ""


def marked(text: str, spans: Sequence[str]) -> list[tuple[str, bool]]:
    """`text` in pieces, each with whether it is one of the `spans`, wherever they stand in it first."""
    places = sorted((start, start + len(span)) for span in spans if span and (start := text.find(span)) >= 0)
    pieces, done = [], 0
    for start, end in places:
        if end <= done:
            continue
        pieces += [(text[done:start], False), (text[max(start, done) : end], True)]
        done = end
    return [piece for piece in [*pieces, (text[done:], False)] if piece[0]]


def language(text: str) -> str:
    """The language by which browsers choose letters and line breaks for a page's `text`; "" where it is not clear."""
    return detect(text[:_ENOUGH])


def references(pair: Mapping[str, Any]) -> list[Row]:
    """The references of a pair, their texts in `pieces` with the sentences that support its answer marked.

    A sentence that does not stand in its reference is in `astray`.
    """
    shown = []
    for number, reference in enumerate(pair["references"] or (), 1):
        spans = [each["span"] for each in pair["supports"] or () if each["reference"] == number]
        text = reference["text"] or ""
        astray = [span for span in spans if span not in text]
        shown.append({**reference, "language": language(text), "pieces": marked(text, spans), "astray": astray})
    return shown


def passages(pair: Mapping[str, Any]) -> list[Row]:
    """The passages of the evidence; `cited` are those that its own answer rests on."""
    cited = set(pair["cited"] or ())
    return [
        {**passage, "language": language(passage["text"] or ""), "cited": number in cited}
        for number, passage in enumerate(pair["passages"] or (), 1)
    ]


def documents(pair: Mapping[str, Any]) -> list[Row]:
    """References and passages page by page, in the order of their addresses: nothing tells them apart."""
    by_page: dict[str, Row] = {}
    for each in [*(pair["references"] or ()), *(pair["passages"] or ())]:
        page = by_page.setdefault(
            canonical(each["url"] or ""), {"url": each["url"], "title": each["title"], "texts": []}
        )
        text = (language(each["text"] or ""), each["text"])
        if each["text"] and text not in page["texts"]:
            page["texts"].append(text)
    return [by_page[name] for name in sorted(by_page)]


def picks(pair: Mapping[str, Any], chosen: Sequence[str], others: Sequence[Mapping[str, Any]] = ()) -> list[Row]:
    """Addresses that can be picked as evidence with one key: `url`, `title`, `key`, and whether it is `chosen`.

    They are those of the pair's pages, then those that `others` have given in their decisions.
    """
    pages = [(page["url"], page["title"]) for page in documents(pair)]
    pages += [(url, "") for other in others for url in other["evidence_urls"] or ()]
    found: dict[str, tuple[str, str]] = {}
    for url, title in pages:
        if is_page(url):
            found.setdefault(canonical(url), (url, title))
    return [
        {"url": url, "title": title, "key": key(LETTERS, number), "chosen": url in chosen}
        for number, (url, title) in enumerate(found.values())
    ]


def typed(chosen: Sequence[str], offered: Sequence[Row]) -> str:
    """The addresses of `chosen` that are none of those `offered`, one on a line."""
    offers = {pick["url"] for pick in offered}
    return "\n".join(url for url in chosen if url not in offers)


def choices(names: Mapping[str, str]) -> Iterator[Row]:
    """Labels that one is chosen of: `name`, what it means (`about`) and its key."""
    for number, (name, about) in enumerate(names.items()):
        yield {"name": name, "about": about, "key": key(NUMBERS, number)}
