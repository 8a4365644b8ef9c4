"""Groups of knowledge domains, such as syntactic and semantic knowledge (SimpleDevQA, Table 3)."""

from collections.abc import Iterable, Mapping, Sequence

from devqa.tables import Row


def grouped(benchmark: Iterable[Row], groups: Mapping[str, Sequence[str]]) -> list[Row]:
    """Rows of the benchmark with the group of their domain as `knowledge`, None where it is in none.

    Args:
        groups: group → names of domains.
    """
    group = {name: each for each, names in groups.items() for name in names}
    return [{**row, "knowledge": group.get(row["domain"])} for row in benchmark]
