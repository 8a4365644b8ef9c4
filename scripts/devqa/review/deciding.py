"""What several people's decisions about one thing come to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from devqa.tables import Row
from devqa.text import literal

# What is compared of two decisions, by the table that holds them.
LABELS = {
    "grade_decisions": ("grade",),
    "dialogue_decisions": ("task", "code_centred", "single_answer", "timeless", "evidenced"),
    "domain_decisions": ("domain",),
}
# What tells the things apart that are decided.
KEYS = {
    "pair_decisions": ("pair_id",),
    "grade_decisions": ("id", "setting", "model", "repeat"),
    "dialogue_decisions": ("dialogue_id",),
    "domain_decisions": ("id",),
}


@dataclass(frozen=True)
class State:
    """Where one thing stands: `open` (decisions are lacking), `disputed` (a third is needed) or `settled`.

    `final` is the decision that holds: of two that agree the first, or the third one.
    """

    kind: Literal["open", "disputed", "settled"]
    final: Row | None = None
    adjudicated: bool = False


def state(decisions: Sequence[Row], table: str, annotators: int, rejection: str = "adjudicated") -> State:
    """Where a thing of `table` stands after `decisions`, which are all about it, one per person.

    Args:
        annotators: how many people decide before it is settled, or a third is asked.
        rejection: of pairs, `final`: a pair that one rejects is rejected.
    """
    thirds = [row for row in decisions if row["role"] == "adjudicator"]
    own = sorted((row for row in decisions if row["role"] == "annotator"), key=_age)
    if thirds:
        return State("settled", min(thirds, key=_age), adjudicated=True)
    if table == "pair_decisions" and rejection == "final":
        rejecting = [row for row in own[:annotators] if row["decision"] == "reject"]
        if rejecting:
            return State("settled", rejecting[0])
    if len(own) < annotators:
        return State("open")
    own = own[:annotators]
    if all(agreeing(table)(own[0], other) for other in own[1:]):
        return State("settled", own[0])
    return State("disputed")


def agreeing(table: str) -> Callable[[Mapping, Mapping], bool]:
    """Whether two decisions of `table` say the same: the same labels, and of pairs the same answer in the end."""
    if table == "pair_decisions":
        return lambda one, other: _verdict(one) == _verdict(other)
    return lambda one, other: all(one[label] == other[label] for label in LABELS[table])


def _verdict(row: Mapping) -> tuple[str, str]:
    """Accept and reject stand for themselves; corrections agree where they correct to the same answer."""
    corrected = row["decision"] == "correct"
    return row["decision"], literal(row["answer"] or "").casefold() if corrected else ""


def _age(row: Mapping) -> tuple[str, str]:
    return row["decided_at"], row["annotator"]
