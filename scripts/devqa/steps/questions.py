"""Which rows of the benchmark are asked."""

from collections.abc import Collection, Iterable

from devqa.tables import Row


def asked(benchmark: Iterable[Row], difficulties: Collection[str]) -> list[Row]:
    """The rows whose difficulty is one of `difficulties` (`evaluation.difficulties` in the configuration).

    A row without a difficulty, as a benchmark from elsewhere may have, is always asked.
    """
    return [row for row in benchmark if not row["difficulty"] or row["difficulty"] in difficulties]
