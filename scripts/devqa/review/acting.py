"""What a person does on the page. Each function is one transaction of the store."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devqa.review.assigning import Role, is_free, left, next_task
from devqa.review.people import Person
from devqa.review.store import Store, now
from devqa.tables import Row

_PAYLOAD = "SELECT content FROM payloads JOIN tasks ON id = task WHERE id = :task AND kind = :kind"
_DECIDED_BY = """
    SELECT count(*) AS number FROM decisions WHERE person = :person AND kind = :kind
      AND task NOT IN (SELECT id FROM tasks WHERE kind = :kind AND gone = 1)
"""
# What one person has of one thing.
_DRAFT = "SELECT content FROM drafts WHERE task = :task AND person = :person"
_OWN_ANSWER = "SELECT answer FROM own_answers WHERE task = :task AND person = :person"
_KEEP_DRAFT = """
    INSERT OR REPLACE INTO drafts (task, person, content) SELECT :task, :person, :content
    WHERE EXISTS (SELECT 1 FROM tasks WHERE id = :task)
      AND NOT EXISTS (SELECT 1 FROM decisions WHERE task = :task AND person = :person)
"""
_NO_DRAFT = "DELETE FROM drafts WHERE task = :task AND person = :person"
_NOT_SKIPPED = "DELETE FROM skipped WHERE task = :task AND person = :person"
_NOT_OPENED = "DELETE FROM opened WHERE task = :task AND person = :person"
_STILL_OPENED = "UPDATE opened SET at = :at WHERE task = :task AND person = :person"
_OPENED = "INSERT OR REPLACE INTO opened (person, kind, task, at) VALUES (:person, :kind, :task, :at)"


class TooLate(Exception):
    """What a person wants to do is not possible any more: the message, for the page, says why."""


@dataclass(frozen=True)
class Task:
    """A thing as a person has it before them.

    Attributes:
        payload: the columns of it that are shown.
        draft: what the person has filled in so far, or None.
        own_answer: what they answered before they saw the pair's answer, or None.
        others: the decisions that an adjudicator sees, without names, in the order in which they were taken.
    """

    id: int
    kind: str
    role: Role
    payload: Row
    draft: Row | None
    own_answer: str | None
    others: list[Row]


@dataclass(frozen=True)
class Progress:
    """How far a kind is: `mine` decided by the person, who has `left` to decide; `settled` and `disputed` of `all`."""

    mine: int
    left: int
    settled: int
    disputed: int
    all: int

    @property
    def complete(self) -> int:
        """How many have all decisions that annotators owe them, whatever these come to."""
        return self.settled + self.disputed


def current(store: Store, person: Person, kind: str) -> Task | None:
    """What `person` decides now: what they have before them already, or the next thing; None where nothing is left."""
    roles: list[Role] = ["adjudicator"] * person.adjudicates + ["annotator"] * person.annotates
    before = store.one("SELECT task FROM opened WHERE person = :person AND kind = :kind", person=person.name, kind=kind)
    for role in roles:
        if before and is_free(store, before["task"], person.name, kind, role):
            return _open(store, person, kind, before["task"], role)
    for role in roles:
        task = next_task(store, person.name, kind, role)
        if task is not None:
            return _open(store, person, kind, task, role)
    return None


def shown(store: Store, person: Person, kind: str, task: int, role: Role) -> Task | None:
    """The thing with id `task` as `person` has it before them; None where there is no such thing of `kind`, or role."""
    row = store.one(_PAYLOAD, task=task, kind=kind)
    allowed = person.adjudicates if role == "adjudicator" else role == "annotator" and person.annotates
    if not allowed or not row:
        return None
    about = {"task": task, "person": person.name}
    draft = store.one(_DRAFT, **about)
    own = store.one(_OWN_ANSWER, **about)
    others = (
        store.all("SELECT content FROM decisions WHERE task = :task ORDER BY number", task=task)
        if role == "adjudicator"
        else []
    )
    return Task(
        task,
        kind,
        role,
        json.loads(row["content"]),
        json.loads(draft["content"]) if draft else None,
        own["answer"] if own else None,
        [json.loads(other["content"]) for other in others],
    )


def keep_draft(store: Store, person: Person, task: int, content: Mapping[str, Any]) -> None:
    """Keep what is filled in so far; of a thing that the person has decided there is nothing to keep."""
    with store.changing(durable=False) as connection:
        _keep_draft(connection, person.name, task, content)
        # Who types is at it, however long it takes.
        connection.execute(_STILL_OPENED, {"task": task, "person": person.name, "at": now()})


def answer_first(store: Store, person: Person, task: int, answer: str, draft: Mapping[str, Any]) -> None:
    """The person's own answer, after which the pair's is shown: the first one stays.

    Args:
        draft: how the form for the decision begins.
    """
    about = {"task": task, "person": person.name, "answer": answer}
    with store.changing() as connection:
        new = connection.execute(
            "INSERT INTO own_answers VALUES (:task, :person, :answer) ON CONFLICT DO NOTHING", about
        ).rowcount
        if new:
            _keep_draft(connection, person.name, task, draft)


def decide(store: Store, person: Person, task: Task, content: Mapping[str, Any]) -> None:
    """A person's decision about `task`, as the columns that its table has for it.

    Raises:
        TooLate: they have decided it already, or another adjudicator has settled it.
    """
    about = {"task": task.id, "person": person.name}
    try:
        with store.changing() as connection:
            if task.role == "adjudicator":
                row = connection.execute("SELECT state FROM tasks WHERE id = :task", about).fetchone()
                if row["state"] != "disputed":
                    raise TooLate("This is settled by now: your decision about it was not needed any more.")
            connection.execute(
                "INSERT INTO decisions (task, kind, person, role, content, decided_at) "
                "VALUES (:task, :kind, :person, :role, :content, :at)",
                {
                    **about,
                    "kind": task.kind,
                    "role": task.role,
                    "content": json.dumps(content, ensure_ascii=False),
                    "at": now(),
                },
            )
            connection.execute(_NO_DRAFT, about)
            connection.execute(_NOT_SKIPPED, about)
            connection.execute(_NOT_OPENED, about)
            store.settle(connection, task.id)
    except sqlite3.IntegrityError:
        raise TooLate("You have decided this one already; Undo takes your last decision back.") from None


def undo(store: Store, person: Person, kind: str) -> None:
    """Take back the person's last decision of `kind`, and have the thing before them again, filled in as it was.

    Raises:
        TooLate: there is none, or an adjudicator has settled the matter since.
    """
    with store.changing() as connection:
        last = connection.execute(
            "SELECT number, task, content, role, decided_at FROM decisions JOIN tasks ON tasks.id = task "
            "WHERE person = :person AND decisions.kind = :kind AND gone = 0 ORDER BY number DESC LIMIT 1",
            {"person": person.name, "kind": kind},
        ).fetchone()
        if not last:
            raise TooLate("You have decided nothing here yet.")
        about = {"task": last["task"], "person": person.name, "kind": kind, "at": last["decided_at"]}
        adjudicated = connection.execute(
            "SELECT 1 FROM decisions WHERE task = :task AND role = 'adjudicator' AND person <> :person", about
        ).fetchone()
        if adjudicated:
            raise TooLate("An adjudicator has settled your last one since: it can't be taken back any more.")
        connection.execute("DELETE FROM decisions WHERE number = ?", (last["number"],))
        connection.execute("INSERT OR IGNORE INTO withdrawn VALUES (:task, :person, :at)", about)
        _keep_draft(connection, person.name, last["task"], json.loads(last["content"]))
        connection.execute(_OPENED, about | {"at": now()})
        store.settle(connection, last["task"])


def skip(store: Store, person: Person, task: int) -> None:
    """Leave `task` for later, after all that was skipped before it."""
    about = {"task": task, "person": person.name}
    with store.changing() as connection:
        connection.execute(_NOT_SKIPPED, about)
        connection.execute("INSERT INTO skipped (task, person) VALUES (:task, :person)", about)
        connection.execute(_NOT_OPENED, about)


def progress(store: Store, person: Person, kind: str) -> Progress:
    """How far the things of `kind` are that are still there."""
    states = {
        row["state"]: row["number"]
        for row in store.all(
            "SELECT state, count(*) AS number FROM tasks WHERE kind = :kind AND gone = 0 GROUP BY state", kind=kind
        )
    }
    mine = store.one(_DECIDED_BY, person=person.name, kind=kind)
    to_do = person.annotates and left(store, person.name, kind, "annotator")
    to_do += person.adjudicates and left(store, person.name, kind, "adjudicator")
    settled, disputed = states.get("settled", 0), states.get("disputed", 0)
    return Progress(mine["number"], to_do, settled, disputed, sum(states.values()))


def _open(store: Store, person: Person, kind: str, task: int, role: Role) -> Task:
    about = {"person": person.name, "kind": kind, "task": task, "at": now()}
    with store.changing(durable=False) as connection:
        connection.execute(_OPENED, about)
        if role == "adjudicator":
            connection.execute("INSERT OR IGNORE INTO seen VALUES (:task, :person)", about)
    return shown(store, person, kind, task, role)


def _keep_draft(connection: sqlite3.Connection, person: str, task: int, content: Mapping[str, Any]) -> None:
    values = {"task": task, "person": person, "content": json.dumps(content, ensure_ascii=False)}
    connection.execute(_KEEP_DRAFT, values)
