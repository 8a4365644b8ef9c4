"""Tables and figures for a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from devqa.stock.layout import WIDTH, age, amount, size, table


def test_columns_are_aligned_and_no_line_ends_in_blanks():
    lines = table(("model", "step", "n"), [("a", "queries", "1,000"), ("long name", "check", "7")])
    assert lines == ["model      step         n", "a          queries  1,000", "long name  check        7"]


@given(st.lists(st.tuples(st.text("abc", max_size=200), st.text("abc", max_size=20), st.text("123", max_size=15))))
def test_a_table_is_never_wider_than_the_screen(rows):
    lines = table(("model", "step", "n"), rows)
    assert len(lines) == len(rows) + 1
    assert max(map(len, lines)) <= WIDTH


def test_figures_are_short():
    assert [size(n) for n in (0, 999, 1000, 12_345_678, 10**15)] == ["0 B", "999 B", "1 kB", "12.3 MB", "1,000 TB"]
    assert [amount(n) for n in (0, 99_999, 100_000, 2_345_678_901)] == ["0", "99,999", "100 k", "2.35 G"]
    assert [age(s) for s in (-5, 59, 60, 7200, 86_400 * 400)] == ["now", "now", "1 min", "2 h", "400 d"]
