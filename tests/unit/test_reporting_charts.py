"""Charts: what they show, whose colours they have, and that hostile labels stay labels."""

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from devqa.reporting import plots
from devqa.reporting.placing import placed


def estimate(value, half=0.05):
    return {
        "value": value,
        "low": None if half is None else value - half,
        "high": None if half is None else value + half,
    }


def svg(chart):
    return BeautifulSoup(chart, "xml").svg


def texts(chart):
    return [text.text for text in svg(chart).find_all("text")]


ROWS = [{"label": "good", "estimate": estimate(0.7)}, {"label": "bad", "estimate": estimate(0.2, None)}]


def test_a_forest_shows_each_estimate_and_its_figure():
    chart = plots.forest(ROWS, "F-score", "Two models")
    assert {"good", "bad", "0.700", "0.200", "F-score"} <= set(texts(chart))
    assert svg(chart)["aria-label"] == svg(chart).title.text == "Two models"
    # One line for the estimate that has an interval; grid lines have another colour.
    assert len([line for line in svg(chart).find_all("line") if line["stroke"] == "var(--correct)"]) == 1
    assert len(svg(chart).find_all("path", stroke="var(--correct)")) == 2


def test_names_that_come_twice_have_a_line_each():
    chart = plots.forest([ROWS[0], ROWS[0]], "F-score", "Twice")
    assert texts(chart).count("good") == texts(chart).count("0.700") == 2


def test_undefined_estimates_are_named_but_not_drawn():
    undefined = {"value": None, "low": None, "high": None}
    chart = plots.forest([*ROWS, {"label": "none", "estimate": undefined}], "F-score", "Three")
    assert {"none", "–"} <= set(texts(chart))
    assert plots.forest([{"label": "none", "estimate": undefined}], "F-score", "None") == ""
    assert plots.forest([], "F-score", "None") == ""


def test_differences_have_signs():
    rows = [{"label": "up", "estimate": estimate(0.1)}, {"label": "down", "estimate": estimate(-0.1), "open": True}]
    chart = plots.forest(rows, "rag minus plain", "Gain", zero=True)
    assert {"+0.100", "−0.100"} <= set(texts(chart))
    fills = [dot["fill"] for dot in svg(chart).find_all("path", stroke="var(--correct)")]
    assert fills == ["var(--correct)", "var(--panel)"]


def test_the_heat_map_colours_what_can_be_told_apart():
    pairs = [("a", "b", 0.3, "a"), ("a", "c", 0.02, None), ("b", "c", -0.28, "c")]
    comparisons = [
        {"first": one, "second": other, "difference": estimate(value), "better": better}
        for one, other, value, better in pairs
    ]
    chart = plots.heat_map(["a", "c", "b"], comparisons, "Pairs")
    assert sorted(text for text in texts(chart) if text not in "abc") == sorted(
        ["+.30", "−.30", "+.02", "−.02", "+.28", "−.28"]
    )
    tiles = svg(chart).find_all("path", stroke="var(--line)")
    coloured = sorted((tile["fill"], tile["fill-opacity"]) for tile in tiles if float(tile["fill-opacity"]))
    assert [fill for fill, _ in coloured] == ["var(--correct)"] * 2 + ["var(--incorrect)"] * 2
    # Figures stay readable on the strongest colour.
    assert max(float(opacity) for _, opacity in coloured) <= 0.5
    assert plots.heat_map(["a"], [], "None") == ""


def test_the_reliability_diagram_leaves_empty_bins_out():
    empty = {
        "low": 0.0,
        "high": 0.1,
        "answers": 0,
        "confidence": None,
        "correct": dict.fromkeys(("value", "low", "high")),
    }
    full = {"low": 0.9, "high": 1.0, "answers": 7, "confidence": 0.95, "correct": estimate(0.5)}
    chart = plots.reliability([empty, full], "Reliability")
    assert len(svg(chart).find_all("path", fill="var(--correct)")) == 1
    assert plots.reliability([empty], "Reliability") == ""


def test_the_scatter_plot_names_every_point():
    points = [{"model": f"m-{n}", "score": 0.1 * n, "outside": 0.5 + 0.05 * n} for n in range(8)]
    chart = plots.scatter(points, "pass@1 <b>", "Scatter")
    assert {point["model"] for point in points} <= set(texts(chart))
    assert "pass@1 <b>" in texts(chart)
    assert len(svg(chart).find_all("path", fill="var(--correct)")) == 8
    assert plots.scatter([], "pass@1", "Scatter") == ""


def test_charts_have_the_page_s_colours_and_font_and_no_inline_style():
    chart = str(plots.forest(ROWS, "F-score", "Two models"))
    assert "style=" not in chart
    assert "font-family" not in chart
    assert not re.search(r'(?:fill|stroke)="(?!none|var\()', chart)


def test_the_same_figures_give_the_same_bytes():
    rows = [{"label": f"m{n}", "estimate": estimate(0.1 * n / 3)} for n in range(9)]
    assert plots.forest(rows, "F-score", "All") == plots.forest(rows, "F-score", "All")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\x00b\x1b[31m", "x" * 500, "'\"&amp;\\", "模型 🦉", ""]
)
def test_hostile_names_stay_names(name):
    comparison = {"first": name, "second": "b", "difference": estimate(0.1), "better": name}
    for chart in (
        plots.forest([{"label": name, "estimate": estimate(0.5)}], name, name),
        plots.heat_map([name, "b"], [comparison], name),
        plots.scatter([{"model": name, "score": 0.1, "outside": 0.5}], name, name),
    ):
        assert not svg(chart).find("script")
        assert svg(chart).find_all("text")


spots = st.tuples(st.floats(0, 400), st.floats(0, 300), st.text("abc", min_size=1, max_size=12))


@given(st.lists(spots, max_size=12))
def test_labels_are_placed_beside_their_points(points):
    places = placed(points, 400, 300)
    assert len(places) == len(points)
    assert all(abs(dx) + abs(dy) >= 9 for dx, dy, _ in places)


def test_labels_of_close_points_go_apart():
    (one, other) = placed([(200, 150, "first"), (203, 151, "second")], 400, 300)
    assert one != other
    # At the right edge there is room on the left alone.
    assert placed([(398, 150, "long label")], 400, 300)[0][2] == "right"
