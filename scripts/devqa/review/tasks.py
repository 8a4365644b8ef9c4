"""What people are asked to decide: pairs (SimpleDevQA, section 4.3), and graded answers (6.2)."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from devqa.allotting import allotted
from devqa.tables import SCHEMAS, Row, picked

# The verdicts of `devqa.steps.verify` that call for people, those that are looked at first in front.
UNSUPPORTED = ("contradicted", "not enough evidence")
_RUN = ("id", "setting", "model", "repeat")


def unsupported(verified: Iterable[Row]) -> list[Row]:
    """The rows of `verified` that the evidence did not support; not those that failed."""
    return [row for row in verified if row["status"] == "rejected" and row["verdict"] in UNSUPPORTED]


def pairs_to_review(merged: Sequence[Row], verified: Sequence[Row], checked: Sequence[Row]) -> list[Row]:
    """Rows of table `review`, in the order in which people look at them.

    First the pairs that the evidence contradicts, then those for which there was not enough of it, then those that may
    become the benchmark; each part sorted by pair. A pair that people have brought back from the first two parts stays
    there, with the answer that they were asked about.

    Args:
        merged: the pairs that are kept, status `ok`.
        verified: all rows, of every status.
        checked: rows with status `ok`.
    """
    criteria = {row["pair_id"]: row["criteria"] for row in checked}
    seen = {row["pair_id"]: row for row in verified}
    first = sorted(unsupported(verified), key=lambda row: (UNSUPPORTED.index(row["verdict"]), row["pair_id"]))
    left_out = {row["pair_id"] for row in first}
    then = sorted((row for row in merged if row["pair_id"] not in left_out), key=lambda row: row["pair_id"])
    rows = [*first, *({**picked(seen[row["pair_id"]], "review"), **row} for row in then)]
    return [{**picked(row, "review"), "criteria": criteria.get(row["pair_id"])} for row in rows]


def grades_to_review(
    questions: Sequence[Row], answers: Sequence[Row], grades: Sequence[Row], size: int, seed: int
) -> list[Row]:
    """Rows of table `review_grades`: `size` graded answers (all of them, where there are no more), sorted by key.

    The strata are model, setting and the judge's grade; each gives a part of the sample in proportion to its answers,
    and at least one where `size` allows it. Within a stratum the order is that of a seeded hash of each answer's key,
    so more answers push few out of the sample.

    Args:
        questions: rows of the benchmark.
        answers, grades: rows with status `ok`.
    """
    asked = {row["id"]: row for row in questions}
    said = {_key(row): row["answer"] for row in answers}
    strata: dict[str, list[Row]] = defaultdict(list)
    for row in grades:
        if row["grade"] is not None and row["id"] in asked and _key(row) in said:
            strata[" / ".join((row["model"], row["setting"], row["grade"]))].append(row)
    parts = allotted({name: len(rows) for name, rows in strata.items()}, size)
    drawn = [
        (name, row)
        for name, rows in strata.items()
        for row in sorted(rows, key=lambda row: _place(row, seed))[: parts[name]]
    ]
    return sorted((_graded(row, asked[row["id"]], said[_key(row)], name) for name, row in drawn), key=_key)


def _graded(row: Row, question: Row, prediction: str, stratum: str) -> Row:
    known = {name: question[name] for name in ("question", "answer", "language")}
    own = {name: row[name] for name in SCHEMAS["review_grades"].names if name in row}
    return {**own, **known, "prediction": prediction, "stratum": stratum}


def _key(row: Mapping) -> tuple:
    return tuple(row[name] for name in _RUN)


def _place(row: Mapping, seed: int) -> bytes:
    return hashlib.sha256(repr((seed, *_key(row))).encode()).digest()
