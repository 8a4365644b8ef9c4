"""Aligned tables and short figures for a terminal."""

from collections.abc import Iterable, Sequence

WIDTH = 120
_BETWEEN = "  "
_DAY_S = 86_400


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 2) -> list[str]:
    """The lines of a table of at most 120 characters: the first `left` columns left-aligned, the others right-aligned.

    Where it would be wider, the first column is cut.
    """
    cells = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], max(8, WIDTH - sum(widths[1:]) - len(_BETWEEN) * (len(widths) - 1)))
    lines = []
    for first, *others in cells:
        row = [_cut(first, widths[0]), *others]
        padded = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(_BETWEEN.join(padded).rstrip())
    return lines


def size(count: float) -> str:
    """A number of bytes."""
    return f"{count:,.0f} B" if count < 1000 else f"{_short(count)}B"


def amount(count: float) -> str:
    """A large number, such as one of tokens, with three digits."""
    return f"{count:,.0f}" if count < 100_000 else _short(count).rstrip()


def age(seconds: float) -> str:
    """How long ago something was."""
    for unit, length in (("d", _DAY_S), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:,.0f} {unit}"
    return "now"


def _short(count: float) -> str:
    for unit in ("", "k", "M", "G"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.0f} T"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
