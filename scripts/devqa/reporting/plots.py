"""The reports' charts: what is drawn. How it is drawn, and whose colours it has, is in `drawing`.

`E` is an estimate: {"value", "low", "high"}, each a number or None.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from devqa.evaluation.bootstrap import LEVEL
from devqa.reporting.drawing import COLOURS, drawn, plain
from devqa.reporting.placing import placed

E = Mapping[str, float | None]

_STEP = 24
_CELL = 34
# Of a histogram; without the last one, which has all the rest.
_BARS = 30


def scores(rows: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """The F-scores of a leaderboard's `rows` (`overview.leaderboard_rows`), as a forest."""
    estimates = [{"value": row["f_score"], "low": row["f_score_low"], "high": row["f_score_high"]} for row in rows]
    named = [{"label": row["model"], "estimate": each} for row, each in zip(rows, estimates, strict=True)]
    return forest(named, "F-score, 95 % interval", label)


def gains(entries: Sequence[Mapping[str, Any]], name: str, title: str, label: str) -> Markup:
    """Differences of F-scores as a forest; a filled dot differs from 0 by the corrected test at 5 %.

    Args:
        entries: as in the statistics: `share`, `difference` (E), `p_holm`.
        name: the key of an entry that names it.
    """
    return forest(
        [
            {
                "label": each[name],
                "estimate": each["difference"],
                "open": each["p_holm"] is None or each["p_holm"] > 1 - LEVEL,
            }
            for each in entries
            if each["share"] == "f_score"
        ],
        title,
        label,
        zero=True,
    )


def forest(rows: Sequence[Mapping[str, Any]], title: str, label: str, zero: bool = False) -> Markup:
    """Estimates one below the other: a dot, its 95 % interval as a line, its figure at the right edge.

    Args:
        rows: `label` and `estimate` (E) of each, from top to bottom, and `open`: true for a hollow dot.
        title: of the axis.
        label: the chart in a sentence.
        zero: for differences: signs before the figures, and a line at 0.

    Returns nothing where no estimate has a value.
    """
    import altair as alt

    values = [_forest_row(number, row, zero) for number, row in enumerate(rows)]
    known = [row for row in values if row["value"] is not None]
    if not known:
        return Markup("")
    limits = _limits([row[key] for row in known for key in ("low", "value", "high") if row[key] is not None], zero)
    names = {row["key"]: row["label"] for row in values}
    axis = {"title": title, "scale": alt.Scale(domain=limits, nice=True, zero=False), "axis": alt.Axis(tickCount=5)}
    y = alt.Y(
        "key:N",
        sort=list(names),
        title=None,
        axis=alt.Axis(labelExpr=_renamed(names), ticks=False, domain=False, labelPadding=8),
    )
    base = alt.Chart(alt.InlineData(values=values)).encode(y=y)
    layers = [
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=3, strokeCap="round", color=COLOURS["correct"], opacity=0.5)
        .encode(x=alt.X("low:Q", **axis), x2="high:Q"),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=55, opacity=1, strokeWidth=2, stroke=COLOURS["correct"])
        .encode(x=alt.X("value:Q", **axis), fill=alt.condition("datum.open", *_fill("panel", "correct"))),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="text:N"),
    ]
    if zero:
        line = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(color=COLOURS["soft"], strokeDash=[4, 3])
        layers.insert(0, line.encode(x=alt.X("at:Q")))
    return drawn(alt.layer(*layers).properties(width=340, height=alt.Step(_STEP)), label)


def _forest_row(number: int, row: Mapping[str, Any], signed: bool) -> dict[str, Any]:
    value = row["estimate"]["value"]
    return {
        "key": str(number),
        "label": row["label"],
        "open": bool(row.get("open")),
        "text": "–" if value is None else _signed(value) if signed else f"{value:.3f}",
        **{key: row["estimate"][key] for key in ("value", "low", "high")},
    }


def tasks(rows: Sequence[Mapping[str, Any]], title: str, label: str) -> Markup:
    """Shares of tasks, in percent: a dot with its 95 % interval, its figure at the right edge, and the paper's as a
    diamond.

    Args:
        rows: `task`, `share` (E) and `paper` (a share, or None) of each, from top to bottom.
        title: of the axis.
        label: the chart in a sentence.

    Returns nothing where no share has a value.
    """
    import altair as alt

    values = [
        {
            "key": str(number),
            "paper": row["paper"],
            "text": "–" if row["share"]["value"] is None else f"{100 * row['share']['value']:.1f} %",
            **row["share"],
        }
        for number, row in enumerate(rows)
    ]
    known = [row[key] for row in values for key in ("value", "high", "paper") if row[key] is not None]
    if all(row["value"] is None for row in values):
        return Markup("")
    names = {value["key"]: row["task"] for value, row in zip(values, rows, strict=True)}
    x = {
        "title": title,
        "scale": alt.Scale(domain=[0, min(1.0, 1.1 * max(*known, 0.01))], nice=False),
        "axis": alt.Axis(tickCount=5, format="%"),
    }
    labels = alt.Axis(labelExpr=_renamed(names), ticks=False, domain=False, labelPadding=8)
    base = alt.Chart(alt.InlineData(values=values)).encode(y=alt.Y("key:N", sort=list(names), title=None, axis=labels))
    layers = [
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=3, strokeCap="round", color=COLOURS["correct"], opacity=0.5)
        .encode(x=alt.X("low:Q", **x), x2="high:Q"),
        base.transform_filter("isValid(datum.paper)")
        .mark_point(shape="diamond", size=90, opacity=1, strokeWidth=2, stroke=COLOURS["incorrect"])
        .encode(x=alt.X("paper:Q", **x), fill=alt.value(COLOURS["panel"])),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=55, opacity=1, strokeWidth=2, stroke=COLOURS["correct"])
        .encode(x=alt.X("value:Q", **x), fill=alt.value(COLOURS["correct"])),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="text:N"),
    ]
    return drawn(alt.layer(*layers).properties(width=340, height=alt.Step(_STEP)), label)


def heat_map(names: Sequence[str], comparisons: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """Every two models: how much more of the F-score the one of the row has than the one of the column.

    A cell is coloured where the two can be told apart by the adjusted test, the stronger the greater the difference.

    Args:
        names: of the models, best first.
        comparisons: `first`, `second`, `difference` (E), `better` (a name or None).
        label: the chart in a sentence.
    """
    import altair as alt

    cells = [cell for each in comparisons for cell in _cells(each)]
    if not cells:
        return Markup("")
    largest = max(abs(cell["difference"]) for cell in cells) or 1
    for cell in cells:
        # Never so strong that the figure on it could not be read.
        cell["strength"] = 0.12 + 0.38 * abs(cell["difference"]) / largest if cell["apart"] else 0
    order = list(names)
    bare = {"ticks": False, "domain": False, "labelPadding": 6}
    models = {"sort": order, "title": None, "scale": alt.Scale(domain=order)}
    base = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X("column:N", **models, axis=alt.Axis(**bare, orient="top", labelAngle=-55, labelAlign="left")),
        y=alt.Y("row:N", **models, axis=alt.Axis(**bare)),
    )
    tiles = base.mark_rect(stroke=COLOURS["line"]).encode(
        fill=alt.condition("datum.difference > 0", *_fill("correct", "incorrect")),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
    )
    texts = base.mark_text(fontSize=12.5).encode(
        text="text:N", color=alt.condition("datum.apart", *_fill("ink", "soft"))
    )
    return drawn(alt.layer(tiles, texts).properties(width=alt.Step(_CELL), height=alt.Step(_STEP)), label)


def _cells(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    difference = comparison["difference"]["value"]
    if difference is None:
        return []
    pair = comparison["first"], comparison["second"]
    return [
        {
            "row": row,
            "column": column,
            "difference": value,
            "apart": comparison["better"] is not None,
            "text": _signed(value, 2).replace("0.", "."),
        }
        for (row, column), value in ((pair, difference), (pair[::-1], -difference))
    ]


def histogram(counts: Mapping[str, int], title: str, label: str) -> Markup:
    """How many questions have each number of something, as bars.

    Args:
        counts: number → questions, ascending, none left out; those from `_BARS` on share a bar.
        title: of the axis of numbers.
        label: the chart in a sentence.
    """
    import altair as alt

    if not counts:
        return Markup("")
    numbers = list(counts)
    shown = {number: counts[number] for number in numbers[:_BARS]}
    if rest := sum(counts[number] for number in numbers[_BARS:]):
        shown[f"{numbers[_BARS]}+"] = rest
    values = [{"number": number, "questions": questions} for number, questions in shown.items()]
    # Of many bars the first number and every fifth, but none so near to the last bar that its label hides it.
    named = [number for place, number in enumerate(shown) if not place or int(number.rstrip("+")) % 5 == 0]
    named = [number for number in named if number not in numbers[_BARS - 2 : _BARS]] + list(shown)[_BARS:]
    labels = f"indexof({json.dumps(named if len(shown) > 12 else list(shown))}, datum.value) < 0 ? '' : datum.label"
    axis = alt.Axis(labelAngle=0, labelExpr=labels, ticks=False)
    room = alt.Scale(domain=[0, 1.08 * max(shown.values())], nice=False)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("number:N", sort=list(shown), title=title, axis=axis, scale=alt.Scale(paddingInner=0.15)),
        y=alt.Y("questions:Q", title="questions", scale=room, axis=alt.Axis(tickCount=4, tickMinStep=1)),
    )
    bars = base.mark_bar(color=COLOURS["correct"])
    return drawn(bars.properties(width=alt.Step(max(9, min(30, 300 // len(values)))), height=150), label)


def reliability(bins: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """Reliability diagram: for each bin of stated confidence the share that is correct, with its 95 % interval.

    Points on the dashed line keep their word; below it confidence is too high. A point's area grows with the bin's
    answers.

    Args:
        bins: `low`, `high`, `answers`, `confidence` (0 to 1, or None), `correct` (E).
    """
    import altair as alt

    filled = [
        {"confidence": each["confidence"], "answers": each["answers"], **each["correct"]}
        for each in bins
        if each["answers"] and each["confidence"] is not None and each["correct"]["value"] is not None
    ]
    if not filled:
        return Markup("")
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    x = alt.X("confidence:Q", title="stated confidence", scale=scale, axis=axis)
    y = alt.Y("value:Q", title="share correct", scale=scale, axis=axis)
    diagonal = alt.Chart(alt.InlineData(values=[{"at": 0}, {"at": 1}])).mark_line(
        color=COLOURS["soft"], strokeDash=[4, 3], strokeWidth=1.5
    )
    base = alt.Chart(alt.InlineData(values=filled))
    most = max(each["answers"] for each in filled)
    whiskers = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        strokeWidth=2, color=COLOURS["correct"], opacity=0.6
    )
    points = base.mark_circle(color=COLOURS["correct"], opacity=0.85).encode(
        x=x, y=y, size=alt.Size("answers:Q", scale=alt.Scale(domain=[0, most], range=[12, 320]), legend=None)
    )
    layers = [
        diagonal.encode(x=alt.X("at:Q"), y=alt.Y("at:Q")),
        whiskers.encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_line(color=COLOURS["correct"], strokeWidth=1.5, opacity=0.6).encode(x=x, y=y),
        points,
    ]
    return drawn(alt.layer(*layers).properties(width=300, height=300), label)


def scatter(points: Sequence[Mapping[str, Any]], name: str, label: str, score: str = "F-score, plain") -> Markup:
    """One labelled point for each model: its F-score, and its figure of another benchmark.

    Args:
        points: `model`, `score`, `outside`.
        name: of the other benchmark's figure.
        score: what the score is called.
    """
    import altair as alt

    points = [each for each in points if each["score"] is not None and each["outside"] is not None]
    if not points:
        return Markup("")
    width, height = 460, 360
    across = _limits([each["outside"] for each in points])
    up = _limits([each["score"] for each in points])
    places = placed(
        [
            (_along(each["outside"], across) * width, (1 - _along(each["score"], up)) * height, each["model"][:40])
            for each in points
        ],
        width,
        height,
    )
    dots = [{"outside": each["outside"], "score": each["score"], "model": each["model"][:40]} for each in points]
    ticks = alt.Axis(tickCount=6)
    x = alt.X("outside:Q", title=name, scale=alt.Scale(domain=across, nice=False, zero=False), axis=ticks)
    y = alt.Y("score:Q", title=score, scale=alt.Scale(domain=up, nice=False, zero=False), axis=ticks)
    layers = [
        alt.Chart(alt.InlineData(values=dots))
        .mark_circle(size=70, color=COLOURS["correct"], opacity=0.9)
        .encode(x=x, y=y)
    ]
    for dot, (dx, dy, align) in zip(dots, places, strict=True):
        mark = alt.Chart(alt.InlineData(values=[dot])).mark_text(
            dx=dx, dy=dy, align=align, baseline="middle", fontSize=12.5
        )
        layers.append(mark.encode(x=x, y=y, text="model:N"))
    return drawn(alt.layer(*layers).properties(width=width, height=height), label)


def _fill(this: str, other: str) -> tuple[Any, Any]:
    """Two colours of the page, for what a condition holds of and for all else."""
    import altair as alt

    return alt.value(COLOURS[this]), alt.value(COLOURS[other])


def _along(value: float, limits: Sequence[float]) -> float:
    return (value - limits[0]) / (limits[1] - limits[0])


def _limits(values: Sequence[float], zero: bool = False) -> list[float]:
    """The ends of an axis on which all `values` stand with some room."""
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0), max(high, 0)
    room = 0.08 * (high - low) or 0.05
    return [low - room, high + room]


def _renamed(names: Mapping[str, str]) -> str:
    """A Vega expression that shows the name for the key: names may come twice, keys don't."""
    return f"({json.dumps({key: plain(name) for key, name in names.items()})})[datum.value]"


def _signed(value: float, digits: int = 3) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("+" if value > 0 else "−") + text
