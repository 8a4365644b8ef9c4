"""Where the labels of a scatter plot stand, so that they hide neither each other nor a point."""

from collections.abc import Sequence

# What a label takes, in pixels, at the size of type of the charts.
_CHARACTER = 6.2
_LINE = 13
_DOT = 5

Box = tuple[float, float, float, float]


def placed(points: Sequence[tuple[float, float, str]], width: float, height: float) -> list[tuple[float, float, str]]:
    """For each point with its label the label's offset in pixels (x, y), and how it is aligned there.

    One after the other, each label takes the place around its point where it overlaps least with points, with the
    labels before it and with the edge; of equally good ones the first: right, left, above, below, the corners.

    Args:
        points: x and y in pixels (y downwards) and the text of each.
        width, height: of the plot.
    """
    taken: list[Box] = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y, _ in points]
    found = []
    for x, y, text in points:
        boxes = {place: _box(x, y, text, *place) for place in _PLACES}
        place = min(_PLACES, key=lambda place: _lost(boxes[place], taken, width, height))
        taken.append(boxes[place])
        found.append(place)
    return found


_PLACES = (
    (9, 0, "left"),
    (-9, 0, "right"),
    (0, -13, "center"),
    (0, 14, "center"),
    (8, -11, "left"),
    (8, 12, "left"),
    (-8, -11, "right"),
    (-8, 12, "right"),
    (12, -24, "left"),
    (12, 25, "left"),
    (-12, -24, "right"),
    (-12, 25, "right"),
)


def _box(x: float, y: float, text: str, dx: float, dy: float, align: str) -> Box:
    length = _CHARACTER * len(text)
    left = x + dx - {"left": 0, "center": length / 2, "right": length}[align]
    return left, y + dy - _LINE / 2, left + length, y + dy + _LINE / 2


def _lost(box: Box, taken: Sequence[Box], width: float, height: float) -> float:
    """How much of a label can't be read there, as an area: what others cover, and what is outside the plot."""
    covered = sum(_shared(box, other) for other in taken)
    return covered + _area(box) - _shared(box, (0, 0, width, height))


def _shared(one: Box, other: Box) -> float:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across * down if across > 0 and down > 0 else 0.0


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
