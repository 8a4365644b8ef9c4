"""Text that lies loose in a page made into paragraphs, so that goose3 can count its stop words."""

from lxml import etree
from lxml.html import HtmlElement

from devqa.web.cleaning.markdown import is_gutter
from devqa.web.cleaning.markup import BLOCKS

_HIGHLIGHTING = ("a", "b", "br", "em", "font", "i", "mark", "span", "strong", "u")
_HOLDERS = ("div", "section", "article", "main", "body")


def flatten_code(document: HtmlElement) -> None:
    """Leave only text of what highlighters put into `<pre>`: spans would be taken for the page's structure."""
    for pre in document.iter("pre"):
        for numbers in [node for node in pre.iterdescendants() if is_gutter(node)]:
            numbers.drop_tree()
        for line_break in list(pre.iter("br")):
            line_break.tail = "\n" + (line_break.tail or "")
        etree.strip_tags(pre, *_HIGHLIGHTING)


def wrap_loose_text(document: HtmlElement) -> None:
    """Make a `<div>` without blocks a `<p>`, and put runs of text between blocks into `<p>`s of their own.

    Takes the place of goose3's `div_to_para`, whose time grows with the square of the number of links and which
    reads text a second time as HTML (`a &lt; b` loses what follows).
    """
    with_blocks = _ancestors_of_blocks(document)
    for holder in list(document.iter(*_HOLDERS)):
        if holder in with_blocks or any(map(_is_second_break, holder.iterchildren("br"))):
            _wrap_runs(holder, with_blocks)
        elif holder.tag == "div":
            holder.tag = "p"


def _ancestors_of_blocks(document: HtmlElement) -> set[HtmlElement]:
    found: set[HtmlElement] = set()
    for block in document.iter(*BLOCKS):
        for ancestor in block.iterancestors():
            if ancestor in found:
                break
            found.add(ancestor)
    return found


def _wrap_runs(holder: HtmlElement, with_blocks: set[HtmlElement]) -> None:
    children = list(holder)
    text, holder.text = holder.text, None
    for child in children:
        holder.remove(child)
    run = _new_run(text)
    for child in children:
        if child.tag in BLOCKS or child in with_blocks:
            _append(holder, run)
            tail, child.tail = child.tail, None
            holder.append(child)
            run = _new_run(tail)
        elif child.tag == "br" and len(run) and _is_break(run[-1]):
            # Two line breaks in a row are how pages without paragraphs set them apart.
            run.remove(run[-1])
            _append(holder, run)
            run = _new_run(child.tail)
        else:
            run.append(child)
    _append(holder, run)


def _is_break(element: HtmlElement | None) -> bool:
    return element is not None and element.tag == "br" and not (element.tail or "").strip()


def _is_second_break(line_break: HtmlElement) -> bool:
    return _is_break(line_break.getprevious())


def _new_run(text: str | None) -> HtmlElement:
    run = HtmlElement()
    run.tag = "p"
    run.text = text
    return run


def _append(holder: HtmlElement, run: HtmlElement) -> None:
    if len(run) or (run.text or "").strip():
        holder.append(run)
