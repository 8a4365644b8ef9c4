"""The store of people's work: one SQLite file, changed by one process at a time.

    with opened("review", annotators=2, rejection="adjudicated", doing="an import is under way") as store:
        store.take_in_decisions("pairs", rows)
        Exporter(store, "review").write()

Each change is a transaction. What a person does on the page is in `devqa.review.acting`.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from devqa.errors import UserError
from devqa.review.deciding import state
from devqa.review.items import KINDS, Item
from devqa.review.locking import alone
from devqa.tables import Row

FILE = "review.sqlite"
_VERSION = 1
_SCHEMA = """
CREATE TABLE people (
    name TEXT PRIMARY KEY, annotates INTEGER NOT NULL, adjudicates INTEGER NOT NULL, token TEXT NOT NULL UNIQUE);
-- `decided`: decisions of annotators; `state` as devqa.review.deciding has it; `gone`: no table has it any more.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0, decided INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL DEFAULT 'open',
    UNIQUE (kind, key));
-- What is shown of a thing: apart from it, because it is large and things are counted all the time.
CREATE TABLE payloads (task INTEGER PRIMARY KEY REFERENCES tasks, content TEXT NOT NULL);
CREATE INDEX to_do ON tasks (kind, gone, state, decided DESC, position);
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL REFERENCES tasks, kind TEXT NOT NULL,
    person TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, decided_at TEXT NOT NULL, UNIQUE (task, person));
CREATE INDEX by_person ON decisions (person, kind, number, task);
CREATE UNIQUE INDEX one_adjudication ON decisions (task) WHERE role = 'adjudicator';
-- Decisions that were taken back: a file that was written before does not bring them again.
CREATE TABLE withdrawn (
    task INTEGER NOT NULL, person TEXT NOT NULL, decided_at TEXT NOT NULL, PRIMARY KEY (task, person, decided_at));
-- The answer that a person gave before the pair's own was shown.
CREATE TABLE own_answers (
    task INTEGER NOT NULL, person TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (task, person));
CREATE TABLE drafts (task INTEGER NOT NULL, person TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (task, person));
CREATE TABLE skipped (
    number INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, person TEXT NOT NULL, UNIQUE (task, person));
-- What each person has before them now, and who has seen others' decisions about what.
CREATE TABLE opened (
    person TEXT NOT NULL, kind TEXT NOT NULL, task INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (person, kind));
CREATE TABLE seen (task INTEGER NOT NULL, person TEXT NOT NULL, PRIMARY KEY (task, person));
"""


def now() -> str:
    """This moment, as decisions have it: ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """The store in one file, for several threads of one process.

    Args:
        annotators, rejection: what makes a thing settled, as `review` in the configuration says.

    Raises:
        UserError: the file is no such store, or can't be written.
    """

    def __init__(self, path: Path, annotators: int, rejection: str):
        self.annotators, self.rejection = annotators, rejection
        self._lock = threading.RLock()
        self.path = path
        # SQLite's own word for it.
        self.durable = "FULL"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{path} can't be used ({error}): mend its permissions; or, if it is damaged, move it away and start "
                "again: the decisions in the Parquet files beside it are taken in"
            ) from error

    def close(self) -> None:
        """Nothing can be done with it afterwards."""
        with self._lock:
            self._connection.close()

    def all(self, query: str, **values: object) -> list[sqlite3.Row]:
        """The rows that `query` gives."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def one(self, query: str, **values: object) -> sqlite3.Row | None:
        """The first row that `query` gives."""
        with self._lock:
            return self._connection.execute(query, values).fetchone()

    @contextmanager
    def changing(self, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: all that the block changes is kept, or nothing.

        Args:
            durable: even if the machine loses its power a moment later, which may take the disk a while. What is not
                durable outlives the process all the same.
        """
        with self._lock:
            self._connection.execute(f"PRAGMA synchronous = {self.durable if durable else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def take_in(self, kind: str, items: Iterable[Item]) -> None:
        """Make `items` the things of `kind` that are to be decided, in their order.

        Those that are there already keep their decisions; others are gone, and keep theirs.
        """
        with self.changing() as connection:
            connection.execute("UPDATE tasks SET gone = 1 WHERE kind = ?", (kind,))
            for position, item in enumerate(items):
                connection.execute(
                    "INSERT INTO tasks (kind, key, position) VALUES (?, ?, ?) "
                    "ON CONFLICT (kind, key) DO UPDATE SET position = excluded.position, gone = 0",
                    (kind, item.key, position),
                )
                connection.execute(
                    "INSERT OR REPLACE INTO payloads SELECT id, ? FROM tasks WHERE kind = ? AND key = ?",
                    (item.payload, kind, item.key),
                )

    def take_in_decisions(self, kind: str, rows: Sequence[Row]) -> int:
        """Decisions from a file of table `<kind>_decisions`: how many were new.

        Of two about the same thing by the same person the later one holds, and none that was taken back comes again.
        What they are about need not be known.

        Raises:
            UserError: two people settle the same thing; nothing is taken in then.
        """
        with self.changing() as connection:
            return sum(self._take_in_decision(connection, kind, row) for row in rows)

    def rows(self, kind: str) -> list[Row]:
        """All decisions of `kind` as rows of its table, sorted by what they are about, then by person."""
        found = self.all(
            "SELECT key, person, role, content, decided_at FROM decisions JOIN tasks ON tasks.id = task "
            "WHERE decisions.kind = :kind",
            kind=kind,
        )
        rows = [
            {
                **KINDS[kind].key_columns(row["key"]),
                "annotator": row["person"],
                "role": row["role"],
                **json.loads(row["content"]),
                "decided_at": row["decided_at"],
            }
            for row in found
        ]
        keys = list(KINDS[kind].key_columns(found[0]["key"])) if found else []
        return sorted(rows, key=lambda row: ([row[column] for column in keys], row["annotator"]))

    def settle(self, connection: sqlite3.Connection, task: int) -> None:
        """Note where `task` stands after a change of its decisions."""
        found = connection.execute(
            "SELECT kind, person, role, content, decided_at FROM decisions WHERE task = ?", (task,)
        ).fetchall()
        rows = [
            {
                "annotator": row["person"],
                "role": row["role"],
                "decided_at": row["decided_at"],
                **json.loads(row["content"]),
            }
            for row in found
        ]
        kind = state(rows, KINDS[found[0]["kind"]].decisions, self.annotators, self.rejection).kind if found else "open"
        decided = sum(row["role"] == "annotator" for row in rows)
        connection.execute("UPDATE tasks SET decided = ?, state = ? WHERE id = ?", (decided, kind, task))

    def _prepare(self) -> None:
        connection = self._connection
        # No other process has it open: so WAL needs no shared memory, which file systems over the network lack.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            connection.execute("PRAGMA journal_mode = DELETE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise UserError(f"{self.path} was made by another version of DevQA (format {version}): use that one")
        if not version:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        with self.changing():
            # The rules by which a thing is settled may be others now.
            for row in connection.execute("SELECT DISTINCT task FROM decisions").fetchall():
                self.settle(connection, row["task"])

    def _take_in_decision(self, connection: sqlite3.Connection, kind: str, row: Row) -> bool:
        key = KINDS[kind].key(row)
        connection.execute(
            "INSERT INTO tasks (kind, key, position, gone) VALUES (?, ?, 0, 1) ON CONFLICT DO NOTHING", (kind, key)
        )
        task = connection.execute("SELECT id FROM tasks WHERE kind = ? AND key = ?", (kind, key)).fetchone()["id"]
        about = {"task": task, "person": row["annotator"], "decided_at": row["decided_at"]}
        known = connection.execute(
            "SELECT 1 FROM decisions WHERE task = :task AND person = :person AND decided_at >= :decided_at "
            "UNION SELECT 1 FROM withdrawn WHERE task = :task AND person = :person AND decided_at = :decided_at",
            about,
        ).fetchone()
        if known:
            return False
        content = json.dumps({label: row[label] for label in KINDS[kind].labels}, ensure_ascii=False)
        try:
            connection.execute(
                "INSERT INTO decisions (task, kind, person, role, content, decided_at) "
                "VALUES (:task, :kind, :person, :role, :content, :decided_at) ON CONFLICT (task, person) DO UPDATE "
                "SET role = excluded.role, content = excluded.content, decided_at = excluded.decided_at",
                {**about, "kind": kind, "role": row["role"], "content": content},
            )
        except sqlite3.IntegrityError as error:
            raise UserError(f"{kind}: {row['annotator']} settles {key}, which another person has settled") from error
        self.settle(connection, task)
        return True


@contextmanager
def opened(folder: str, annotators: int, rejection: str, doing: str) -> Iterator[Store]:
    """The store in `folder`, while no other process has it; it is made where there is none.

    Args:
        doing: what others are told who want it meanwhile, such as "an import is under way".

    Raises:
        UserError: another process has it, such as the page; or the file is no such store.
    """
    with alone(folder, doing), closing(Store(Path(folder) / FILE, annotators, rejection)) as store:
        yield store
