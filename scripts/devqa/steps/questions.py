"""Which rows of the benchmark are asked."""

from collections.abc import Collection, Iterable

from devqa.tables import Row


def asked(benchmark: Iterable[Row], difficulties: Collection[str]) -> list[Row]:
    """The rows whose difficulty is one of `difficulties` (`evaluation.difficulties` in the configuration)."""
    return [row for row in benchmark if row["difficulty"] in difficulties]
