"""People's grades, whether they come from a file of one's own or from the page of review."""

from collections.abc import Sequence
from typing import Any

from devqa.imports.human import human_grades
from devqa.review import deciding
from devqa.review.decisions import decisions
from devqa.review.settling import by_thing
from devqa.tables import Row

_TABLE = "grade_decisions"


def people_grades(files: str | Sequence[str], section: dict[str, Any]) -> list[Row]:
    """The grades that people gave, as `human_grades` gives them.

    Args:
        section: `evaluation.human_grades` of the configuration as plain values; with `annotators`, `files` are those of
            decisions about grades, of which each answer takes so many.

    Of decisions an answer has the grade that is settled. As long as none is, the one that was given so far counts; one
    that is disputed has none until a third has decided.

    Raises:
        UserError: as of `human_grades` and of `devqa.review.decisions.decisions`.
    """
    if "annotators" not in section:
        return human_grades(files, section)
    things = by_thing(_TABLE, decisions(files, _TABLE))
    held = filter(None, (_held(rows, section["annotators"]) for rows in things.values()))
    told = ("id", "model", "setting", "repeat", "grade")
    return [
        {"file": section["path"], "row": number, **{key: row[key] for key in told}, "reason": ""}
        for number, row in enumerate(held, start=1)
    ]


def _held(rows: Sequence[Row], annotators: int) -> Row | None:
    state = deciding.state(rows, _TABLE, annotators)
    return rows[0] if state.kind == "open" else state.final
