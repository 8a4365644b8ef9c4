"""Which thing a person gets next. Nothing here changes anything."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from devqa.review.store import Store

Role = Literal["annotator", "adjudicator"]

# What another person has had before them for so long is not worked on any more.
_BUSY = timedelta(minutes=30)
# Annotators get what lacks decisions, adjudicators what is disputed.
_STATE = {"annotator": "open", "adjudicator": "disputed"}
# Nobody decides a thing twice, and who has seen others' decisions about it can't decide it blind any more.
_FREE = """
    FROM tasks
    WHERE kind = :kind AND gone = 0 AND state = :state
      AND NOT EXISTS (SELECT 1 FROM decisions WHERE task = tasks.id AND person = :person)
      AND (:state = 'disputed' OR NOT EXISTS (SELECT 1 FROM seen WHERE task = tasks.id AND person = :person))
"""
_NEXT = f"""
    SELECT id {_FREE}
    ORDER BY EXISTS (SELECT 1 FROM opened WHERE task = tasks.id AND person <> :person AND at > :since),
      (SELECT number FROM skipped WHERE task = tasks.id AND person = :person) NULLS FIRST,
      NOT EXISTS (SELECT 1 FROM drafts WHERE task = tasks.id AND person = :person),
      decided DESC, position
    LIMIT 1
"""  # noqa: S608 - no text from outside


def next_task(store: Store, person: str, kind: str, role: Role) -> int | None:
    """The id of the thing of `kind` that `person` decides next in that role; None where there is none.

    First comes what the person has begun, then what somebody else has decided, so that things get settled; else the
    order is that of the workflow's table. What the person has skipped comes later, what another has before them last.
    """
    since = (datetime.now(UTC) - _BUSY).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    row = store.one(_NEXT, kind=kind, state=_STATE[role], person=person, since=since)
    return row["id"] if row else None


def is_free(store: Store, task: int, person: str, kind: str, role: Role) -> bool:
    """May `person` decide `task` in that role?"""
    query = f"SELECT 1 {_FREE} AND id = :task"  # noqa: S608 - no text from outside
    return store.one(query, kind=kind, state=_STATE[role], person=person, task=task) is not None


def left(store: Store, person: str, kind: str, role: Role) -> int:
    """How many things of `kind` `person` could decide now in that role."""
    query = f"SELECT count(*) AS number {_FREE}"  # noqa: S608 - no text from outside
    return store.one(query, kind=kind, state=_STATE[role], person=person)["number"]
