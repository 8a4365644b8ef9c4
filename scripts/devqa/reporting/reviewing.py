"""What people have decided, and how far they agree, for the pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from devqa.review import deciding
from devqa.review.agreement import drift, summary
from devqa.review.decisions import FILES
from devqa.review.settling import by_thing
from devqa.tables import Row


def review(
    decisions: Mapping[str, Sequence[Row]], annotators: int, rejection: str, reviewed: Sequence[Row] = ()
) -> dict[str, Any]:
    """People's decisions by kind (`pairs`, `grades`, `dialogues`, `domains`); no kind about which nothing was decided.

    Args:
        decisions: rows of the table of decisions of each kind.
        annotators, rejection: as of `deciding.state`.
        reviewed: rows of table `reviewed`.

    Returns for each kind `people` (how many), `states`: how many things are `settled`, of which `adjudicated`,
    `disputed` and `open`; `criteria` and `drift` as `devqa.review.agreement` gives them; and `pairs`: how many pairs of
    `reviewed` are `accepted`, `corrected`, `rejected` and `open`. Pairs that are no longer there count nowhere.
    """
    there = {row["pair_id"] for row in reviewed}
    found = {}
    for kind, table in FILES.items():
        rows = decisions.get(kind, ())
        if kind == "pairs":
            rows = [row for row in rows if row["pair_id"] in there]
        if rows:
            found[kind] = {
                "people": len({row["annotator"] for row in rows}),
                "states": _states(table, rows, annotators, rejection),
                "criteria": summary(table, rows, annotators, rejection),
                "drift": drift(table, rows, annotators, rejection),
                "pairs": _outcomes(reviewed) if kind == "pairs" else None,
            }
    return found


def _states(table: str, rows: Sequence[Row], annotators: int, rejection: str) -> dict[str, int]:
    states = [deciding.state(each, table, annotators, rejection) for each in by_thing(table, rows).values()]
    kinds = Counter(state.kind for state in states)
    adjudicated = sum(state.adjudicated for state in states)
    return {
        "settled": kinds["settled"],
        "adjudicated": adjudicated,
        "disputed": kinds["disputed"],
        "open": kinds["open"],
    }


def _outcomes(reviewed: Sequence[Row]) -> dict[str, int]:
    became = Counter(row["decision"] for row in reviewed)
    return {**{each: became[each] for each in ("accepted", "corrected", "rejected")}, "open": became[""]}
