"""Code as it is shown: whole, or its head and what changed."""

from hypothesis import given
from hypothesis import strategies as st

from devqa import tokens
from devqa.pull_requests.context.cutting import placed, shown

LINES = st.lists(st.text(st.sampled_from("ab (\u4e2d"), max_size=30), min_size=1, max_size=60)


@given(LINES, st.sets(st.integers(0, 59)), st.integers(1, 60), st.integers(0, 60))
def test_what_is_shown_fits(lines, changed, most, reach):
    text, cut = shown(lines, changed, most, reach)
    assert tokens.estimate(text) <= most
    assert cut or text == "\n".join(lines)


@given(LINES, st.sets(st.integers(0, 59)))
def test_what_is_shown_is_lines_in_their_order_with_the_gaps_counted(lines, changed):
    text, cut = shown(lines, changed, 40, 60)
    if not cut:
        return
    position = 0
    for line in text.split("\n"):
        if line.startswith("… ("):
            position += int(line.split()[1].strip("("))
        elif position < len(lines) and line == lines[position]:
            position += 1
        else:
            # Where not even one line fits, it is cut.
            assert position <= 1
            return
    assert position == len(lines)


def test_a_long_line_is_shortened():
    text, cut = shown(["x" * 10_000, "y"], set(), 1_000, 0)
    assert cut and text == f"{'x' * 500} …\ny"


def test_changed_lines_are_found_in_a_new_text():
    assert placed(["a", "b", "c", "d"], ["x", "a", "c", "y", "d"], [0, 1, 2, 3]) == {1, 2, 4}
    assert placed(["a"], ["a"], [-1, 5]) == set()
