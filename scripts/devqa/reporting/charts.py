"""Small charts as inline SVG: no script, no inline style, a text alternative on each.

Colours are classes of the page's style sheet, so that light, dark and print have their own.
"""

from collections.abc import Iterable

from markupsafe import Markup

_SVG = Markup(
    '<svg class="chart {kind}" viewBox="0 0 100 {height}" preserveAspectRatio="none" role="img" aria-label="{label}">'
    "<title>{label}</title>{body}</svg>"
)
_RECT = Markup('<rect class="{part}" x="{x:.3f}" y="0" width="{width:.3f}" height="{height}"></rect>')


def stacked_bar(parts: Iterable[tuple[str, str, float]]) -> Markup:
    """One bar over the full width whose segments are proportional to the values.

    Args:
        parts: label, CSS class and value (not negative) of each segment, from left to right.
    """
    parts = list(parts)
    total = sum(value for _, _, value in parts)
    body, x = Markup(""), 0.0
    for _, part, value in parts:
        if value:
            width = 100 * value / total
            body += _RECT.format(part=part, x=x, width=width, height=10)
            x += width
    label = ", ".join(f"{name} {value / total:.1%}" for name, _, value in parts if value) or "nothing to show"
    return _SVG.format(kind="stacked", height=10, label=label, body=body)


def interval(value: float | None, low: float | None = None, high: float | None = None) -> Markup:
    """A value between 0 and 1 as a dot on its scale, with its interval, where it has one, as a whisker."""
    if value is None:
        return _SVG.format(kind="interval", height=10, label="undefined", body="")
    body = Markup('<rect class="scale" x="0" y="4.5" width="100" height="1"></rect>')
    label = f"{value:.3f}"
    if low is not None and high is not None:
        body += Markup('<rect class="whisker" x="{:.3f}" y="3" width="{:.3f}" height="4"></rect>').format(
            100 * low, 100 * (high - low)
        )
        label += f", 95 % interval {low:.3f} to {high:.3f}"
    # The drawing is stretched to the cell, so the dot is a thin bar: a circle would become an ellipse.
    body += Markup('<rect class="dot" x="{:.3f}" y="0" width="1.2" height="10"></rect>').format(
        min(98.8, max(0.0, 100 * value - 0.6))
    )
    return _SVG.format(kind="interval", height=10, label=label, body=body)
