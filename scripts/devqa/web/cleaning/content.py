"""Which extractor finds the main content of a page, and what is made of it where they disagree."""

from dataclasses import dataclass

from lxml.html import HtmlElement, tostring

from devqa.language import detect
from devqa.web.cleaning import goose, markdown
from devqa.web.cleaning.agreement import Ballot, between, keep, likeness, majority, parts

# How like resiliparse's text goose3's must be to be taken as it is. Among code, the other extractors err sooner.
_ALIKE_WITH_CODE = 0.95
_ALIKE = 0.98
# From this share of code on (by characters), a page is no prose.
_LEAST_CODE = 0.02
# An extractor that holds less than this share of what the other holds has missed the page and has no vote.
_LEAST_HELD = 0.2
_LEAST_IN_POSTS = 0.5
# A vote is void if it leaves less than these shares of trafilatura's and of resiliparse's text.
_LEAST_KEPT = 0.3
_LEAST_SHARE = 0.05


@dataclass(frozen=True)
class _Texts:
    trafilatura: str
    resiliparse: str


def main_content(root: HtmlElement, small: bool) -> tuple[str, str]:
    """The main content of a page as Markdown, and what found it. `root` is left as it is.

    goose3's content is taken if resiliparse, which is fast, finds nearly the same. Where it does not, trafilatura is
    asked too, and the page's parts are kept by vote (`vote`). A vote that leaves too little of the page is void: then
    trafilatura's text is taken, or resiliparse's. A page that is not `small` goes to resiliparse at once.
    """
    visible = tostring(root, encoding="unicode")
    yardstick = _resiliparse(visible, main_content=True)
    if small:
        found = goose.find(root, detect(yardstick or root.text_content()))
        text = "" if found.node is None else markdown.render(found.node)
        code = sum(map(len, markdown.code_blocks(found.document)))
        has_code = code >= _LEAST_CODE * len(yardstick) and code > 0
        if not found.posts and likeness(text, yardstick) >= (_ALIKE_WITH_CODE if has_code else _ALIKE):
            return text, "goose3"
        other = _trafilatura(visible)
        voted = _voted(found, has_code, _Texts(other, yardstick))
        if voted and len(voted) >= max(_LEAST_KEPT * len(other), _LEAST_SHARE * len(yardstick)):
            return voted, "vote"
        if other and len(other) >= _LEAST_SHARE * len(yardstick):
            return other, "trafilatura"
    return yardstick or _resiliparse(visible, main_content=False), "resiliparse"


def _voted(found: goose.Found, has_code: bool, texts: _Texts) -> str:
    """What of the page is kept by vote, as Markdown.

    Threads and pages with code: what two of the three hold, and all code that goose3 holds. Prose, which trafilatura
    knows best: what it holds, and between its first and its last part what both others hold.
    """
    trafilatura, resiliparse = Ballot(texts.trafilatura), Ballot(texts.resiliparse)
    all_parts = parts(found.document)
    elements = [element for element, _ in all_parts]
    words = [tokens for _, tokens in all_parts]
    by_goose = [element in found.voice for element in elements]
    # What stands in goose3's content stands in menus and lists of links too, and is not meant there.
    said = {tuple(tokens) for tokens, mine in zip(words, by_goose, strict=True) if mine}
    meant = [mine or tuple(tokens) not in said for tokens, mine in zip(words, by_goose, strict=True)]
    by_trafilatura = [one and trafilatura.holds(tokens) for tokens, one in zip(words, meant, strict=True)]
    by_resiliparse = [one and resiliparse.holds(tokens) for tokens, one in zip(words, meant, strict=True)]
    in_posts = [element in found.posts for element in elements]
    sizes = [len(tokens) for tokens in words]
    is_thread = _share(in_posts, by_trafilatura, sizes) >= _LEAST_IN_POSTS
    if is_thread or has_code or not any(by_trafilatura):
        longest = max(trafilatura.size, resiliparse.size)
        voters = [by_goose] if any(by_goose) else []
        for ballot, votes in ((trafilatura, by_trafilatura), (resiliparse, by_resiliparse)):
            if ballot.size >= _LEAST_HELD * longest:
                voters.append(votes)
        kept = majority(voters)
    else:
        agreed = [mine and other for mine, other in zip(by_goose, by_resiliparse, strict=True)]
        kept = between(by_trafilatura, agreed, sizes)
    kept = _with_code(elements, kept, by_goose)
    keep(found.document, (element for element, one in zip(elements, kept, strict=True) if one))
    return markdown.render(found.document)


def _with_code(elements: list[HtmlElement], kept: list[bool], by_goose: list[bool]) -> list[bool]:
    """`kept`, and the code that goose3 holds or that comes right before or after what is kept: none is junk."""
    near = [any(kept[max(0, i - 1) : i + 2]) for i in range(len(kept))]
    return [
        one or (element.tag == "pre" and (mine or beside))
        for element, one, mine, beside in zip(elements, kept, by_goose, near, strict=True)
    ]


def _share(of: list[bool], within: list[bool], sizes: list[int]) -> float:
    """How much of what is marked `within` is marked `of` too, by size; 0 where nothing is marked."""
    total = sum(size for size, one in zip(sizes, within, strict=True) if one)
    both = sum(size for size, one, other in zip(sizes, within, of, strict=True) if one and other)
    return both / total if total else float(any(of))


def _resiliparse(page: str, main_content: bool) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(page, main_content=main_content, alt_texts=False, noscript=False)


def _trafilatura(page: str) -> str:
    import trafilatura

    return trafilatura.extract(page, output_format="markdown", include_comments=False) or ""
