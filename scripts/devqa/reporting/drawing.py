"""Charts in Vega-Lite (built with Altair) as inline SVG that belongs to the page it stands in.

vl-convert draws them, with neither browser nor network. What comes out has colours, fonts and random digits of its
own; here it gets the page's: colours become the style sheet's variables, so that light, dark and print have their own;
texts take the page's font; numbers are rounded, so that the same figures give the same bytes.
"""

import re
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

# Variables of style.css, each with the colour that stands for it in a chart's specification.
COLOURS = {
    name: f"#0000{number:02x}"
    for number, name in enumerate(
        ("ink", "soft", "line", "panel", "rest", "correct", "incorrect", "not-attempted", "ungraded", "link"), start=1
    )
}
_VARIABLES = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_NAMESPACE = "http://www.w3.org/2000/svg"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
# XML has no place for these, and an axis none either.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# Texts are measured in vl-convert's own font and shown in the page's, which may be wider: they are drawn smaller than
# they were measured.
_SPARE = 1.16
_SIZE = re.compile(r"([\d.]+)px")

# Charts up to this width, in pixels, may shrink on narrow screens; in wider ones texts would become too small.
_SMALL = 640

CONFIG = {
    "background": None,
    "aria": False,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": COLOURS["ink"],
        "titleColor": COLOURS["soft"],
        "gridColor": COLOURS["line"],
        "domainColor": COLOURS["soft"],
        "tickColor": COLOURS["soft"],
        "labelFontSize": 14,
        "titleFontSize": 14,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "titlePadding": 8,
    },
    "text": {"color": COLOURS["ink"], "fontSize": 14},
}


def drawn(chart: Any, label: str) -> Markup:
    """An Altair chart as inline SVG with an accessible name.

    Args:
        chart: its colours are values of `COLOURS`.
        label: what it shows, in a sentence. The figures themselves stand in a table beside it.
    """
    import vl_convert

    specification = _cleaned(chart.to_dict()) | {"config": CONFIG}
    svg = ElementTree.fromstring(vl_convert.vegalite_to_svg(specification))  # noqa: S314 - our own drawing
    _belong_to_the_page(svg)
    width, height = (round(float(svg.get(side, "0"))) for side in ("width", "height"))
    svg.attrib = {
        "class": "chart drawn" + (" small" if width <= _SMALL else ""),
        "viewBox": f"0 0 {width} {height}",
        "width": str(width),
        "height": str(height),
        "role": "img",
        "aria-label": plain(label),
    }
    title = ElementTree.Element("title")
    title.text = plain(label)
    svg.insert(0, title)
    return Markup(ElementTree.tostring(svg, encoding="unicode"))  # noqa: S704 - serialised, so escaped


def plain(text: str) -> str:
    """`text` without what a chart can't hold: control characters become a replacement mark."""
    return _CONTROL.sub("\ufffd", text)


def _cleaned(part: Any) -> Any:
    """A specification whose texts went through `plain`: vl-convert ends the whole process on some characters."""
    if isinstance(part, dict):
        return {key: _cleaned(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_cleaned(value) for value in part]
    return plain(part) if isinstance(part, str) else part


def _belong_to_the_page(svg: ElementTree.Element) -> None:
    for element in svg.iter():
        element.tag = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
        # The policy of the page allows no inline style, and vega marks parts with classes that mean nothing here.
        for name in ("class", "style", "font-family", "pointer-events", "aria-hidden", "role", "aria-roledescription"):
            element.attrib.pop(name, None)
        for name, value in element.attrib.items():
            element.set(name, _VARIABLES.get(value) or _LONG_NUMBER.sub(_rounded, value))
        if size := _SIZE.fullmatch(element.get("font-size", "")):
            element.set("font-size", f"{float(size[1]) / _SPARE:.1f}px")
        if element.get("opacity") == "1":
            del element.attrib["opacity"]
    _drop_invisible(svg)


def _drop_invisible(element: ElementTree.Element) -> None:
    """Without the empty paths and groups that vega draws around everything, and labels that it hid as too many."""
    for child in list(element):
        _drop_invisible(child)
        empty = child.tag == "g" and not len(child)
        unseen = child.get("opacity") == "0" or child.get("display") == "none"
        if empty or unseen or child.get("d") in ("", "M0,0h0v0h0Z"):
            element.remove(child)


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
