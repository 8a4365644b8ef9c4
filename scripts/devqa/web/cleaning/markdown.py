"""A tree of HTML as Markdown: headings, lists, tables and code stay what they are."""

import re
from collections.abc import Iterator
from textwrap import indent

from lxml.html import HtmlElement

from devqa.web.cleaning.markup import BLOCKS

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_CODE = frozenset(("code", "tt", "kbd", "samp"))
_NOT_TEXT = frozenset(("head", "title", "button", "select", "option", "input", "textarea", "label"))
_SPACES = re.compile(r"[ \t\r\n\f\u00a0\u200b]+")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|highlight\s+|brush:\s*)([A-Za-z0-9+#_-]{1,20})"
)
_NO_LANGUAGES = frozenset(("default", "none", "text", "plaintext", "source", "hljs", "notranslate", "line-numbers"))
_GUTTER = re.compile(r"(?:^|[\s_-])(?:gutter|linenos?|line-?numbers?|lineno)(?:$|[\s_-])", re.IGNORECASE)
_BREAK = "\x00"


def render(node: HtmlElement) -> str:
    """`node` and all below it as Markdown, "" where it holds no text. Links and images leave only their text.

    Raises:
        RecursionError: elements are nested deeper than about 400.
    """
    return "\n\n".join(_blocks(node))


def code_blocks(node: HtmlElement) -> list[str]:
    """The text of every `<pre>` at or below `node`, as `render` writes it; one without a letter is line numbers."""
    return [text for pre in node.iter("pre") if any(map(str.isalpha, text := _code_text(pre)))]


def _blocks(node: HtmlElement) -> list[str]:
    """The blocks that `node` holds; runs of text and inline elements between them are paragraphs."""
    if node.tag in _RENDERERS:
        return _RENDERERS[node.tag](node)
    found: list[str] = []
    inline = [node.text or ""]
    for child in node:
        if _is_text(child) and (child.tag in BLOCKS or _holds_block(child)):
            found += _paragraph(inline)
            found += _blocks(child)
            inline = []
        else:
            inline.append(_inline(child))
        inline.append(child.tail or "")
    return found + _paragraph(inline)


def _is_text(node: HtmlElement) -> bool:
    return isinstance(node.tag, str) and node.tag not in _NOT_TEXT


def _holds_block(node: HtmlElement) -> bool:
    return any(child.tag in BLOCKS for child in node.iterdescendants())


def _paragraph(parts: list[str]) -> list[str]:
    lines = (_collapse(line) for line in "".join(parts).split(_BREAK))
    text = "\n".join(line for line in lines if line)
    return [text] if text else []


def _collapse(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _inline(node: HtmlElement) -> str:
    """An inline element's text with `code` marked."""
    if not _is_text(node):
        return ""
    if node.tag == "br":
        return _BREAK
    if node.tag == "math":
        return _formula(node)
    if node.tag in _CODE:
        return _inline_code(_collapse("".join(node.itertext())))
    return (node.text or "") + "".join(_inline(child) + (child.tail or "") for child in node)


def _formula(node: HtmlElement) -> str:
    """A formula as the TeX that it was made from, where that is noted beside it; else its letters and signs."""
    for note in node.iter("annotation"):
        if note.get("encoding", "").lower() in ("application/x-tex", "tex") and note.text:
            return f"${_collapse(note.text)}$"
    return _collapse("".join(node.itertext()))


def _inline_code(text: str) -> str:
    if not text:
        return ""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _heading(node: HtmlElement) -> list[str]:
    text = _collapse(_text(node))
    return [f"{_HEADINGS[node.tag]} {text}"] if text else []


def _text(node: HtmlElement) -> str:
    """All text of `node` as of one inline element."""
    parts = [node.text or ""]
    for child in node:
        parts += [_inline(child), " " if child.tag in BLOCKS else "", child.tail or ""]
    return "".join(parts).replace(_BREAK, " ")


def _code(node: HtmlElement) -> list[str]:
    text = _code_text(node)
    if not text:
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{_code_language(node)}\n{text}\n{fence}"]


def _code_text(pre: HtmlElement) -> str:
    """The code as it looks on the page: white space kept, line numbers left out."""
    return "".join(_code_parts(pre)).replace("\u00a0", " ").strip("\n").rstrip()


def _code_parts(node: HtmlElement) -> Iterator[str]:
    yield node.text or ""
    for child in node:
        if child.tag == "br":
            yield "\n"
        elif _is_text(child) and not is_gutter(child):
            line = "".join(_code_parts(child))
            # Some highlighters make an element of every line, which breaks it without a line end.
            yield line if child.tag not in BLOCKS or line.endswith("\n") else f"{line}\n"
        yield child.tail or ""


def is_gutter(node: HtmlElement) -> bool:
    """Does `node` hold the line numbers beside code? What numbers its lines may bear such a name too."""
    return bool(_GUTTER.search(node.get("class", ""))) and not any(map(str.isalpha, node.text_content()))


def _code_language(pre: HtmlElement) -> str:
    """The language that the class of the `<pre>`, its `<code>` or one of two parents names, "" if none."""
    parents = list(pre.iterancestors())[:2]
    for node in [*pre.iter("code"), pre, *parents]:
        named = node.get("data-lang") or node.get("data-language") or ""
        for name in [named, *_LANGUAGE.findall(node.get("class", ""))]:
            if re.fullmatch(r"[A-Za-z0-9+#_-]{1,20}", name) and name.lower() not in _NO_LANGUAGES:
                return name.lower()
    return ""


def _list(node: HtmlElement) -> list[str]:
    items = []
    number = 0
    for item in node:
        if not _is_text(item):
            continue
        number += 1
        sign = f"{number}. " if node.tag == "ol" else "- "
        blocks = _blocks(item)
        if blocks:
            tight = all(block.startswith(("- ", "1. ")) for block in blocks[1:])
            body = ("\n" if tight else "\n\n").join(blocks)
            items.append(sign + indent(body, " " * len(sign)).lstrip())
    return ["\n".join(items)] if items else []


def _quote(node: HtmlElement) -> list[str]:
    text = "\n\n".join(_children(node))
    return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []


def _children(node: HtmlElement) -> list[str]:
    """The blocks of a node that has a renderer of its own, as if it had none."""
    found = _paragraph([node.text or ""])
    for child in node:
        if _is_text(child):
            found += _blocks(child)
        found += _paragraph([child.tail or ""])
    return found


def _table(node: HtmlElement) -> list[str]:
    """A table of data as a Markdown table; one that only lays out a page or code cell by cell."""
    rows = [[cell for cell in row if cell.tag in ("td", "th") and not is_gutter(cell)] for row in node.iter("tr")]
    rows = [row for row in rows if row]
    if not _is_data(node, rows):
        return [block for row in rows for cell in row for block in _blocks(cell)]
    lines = [[_collapse(_text(cell)).replace("|", r"\|") for cell in row] for row in rows]
    width = max(map(len, lines))
    lines = [line + [""] * (width - len(line)) for line in lines]
    lines.insert(1, ["---"] * width)
    caption = [text for child in node.iter("caption") for text in _paragraph([_text(child)])]
    return [*caption, "\n".join(f"| {' | '.join(line)} |" for line in lines)]


def _is_data(table: HtmlElement, rows: list[list[HtmlElement]]) -> bool:
    has_columns = any(len(row) > 1 for row in rows)
    return has_columns and not any(child.tag in ("table", "pre", "h1", "h2", "h3") for child in table.iterdescendants())


def _nothing(node: HtmlElement) -> list[str]:
    return []


_RENDERERS = {
    **dict.fromkeys(_HEADINGS, _heading),
    "pre": _code,
    "ul": _list,
    "ol": _list,
    "blockquote": _quote,
    "table": _table,
    "hr": _nothing,
}
