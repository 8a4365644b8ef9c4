"""The decisions that hold."""

from collections import defaultdict
from collections.abc import Hashable, Iterable

from devqa.review import deciding
from devqa.tables import Row

Key = tuple[Hashable, ...]


def by_thing(table: str, rows: Iterable[Row]) -> dict[Key, list[Row]]:
    """The decisions about each thing, by its key (`deciding.KEYS`), sorted by key."""
    things: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        things[tuple(row[column] for column in deciding.KEYS[table])].append(row)
    return {key: things[key] for key in sorted(things)}


def settled(table: str, rows: Iterable[Row], annotators: int, rejection: str = "adjudicated") -> dict[Key, Row]:
    """The decision that holds (`deciding.state`) of each thing that is settled, by its key, sorted by key.

    Args:
        table: the table of decisions.
        annotators, rejection: as of `deciding.state`.
    """
    states = {
        key: deciding.state(decisions, table, annotators, rejection) for key, decisions in by_thing(table, rows).items()
    }
    return {key: state.final for key, state in states.items() if state.final is not None}
