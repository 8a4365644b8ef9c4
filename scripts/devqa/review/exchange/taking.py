"""Taking in decisions from elsewhere: all of a file, or nothing."""

from collections.abc import Sequence
from pathlib import Path

from devqa import tables
from devqa.config.review import Review
from devqa.errors import UserError
from devqa.review.decisions import checked, decisions
from devqa.review.exporting import path
from devqa.review.items import Kind
from devqa.review.locking import alone
from devqa.review.store import FILE, opened
from devqa.tables import Row

_DOING = "an import of decisions is under way"


def take_in(kind: Kind, found: Sequence[tuple[str, Row]], things: Path, review: Review) -> Path:
    """Add decisions about things of `kind` to those that are there; the file that holds them all.

    Where the page has a store, they go into it, too.

    Args:
        found: rows of the kind's table of decisions, each with the file that it is from.
        things: the workflow's table of what is to be decided.

    Raises:
        UserError: a row says what can't be, is about a thing that is not there, or is there already; or somebody has
            the page open. Nothing is changed then.
    """
    checked(found, kind.decisions)
    _refuse_unknown(kind, found, things)
    file = path(review.folder, kind.name)
    if not Path(review.folder, FILE).exists():
        with alone(review.folder, _DOING):
            tables.write(_all(kind, _there(kind, file), found, file), kind.decisions, file)
        return file
    with opened(review.folder, review.annotators, review.rejection, _DOING) as store:
        store.take_in_decisions(kind.name, _there(kind, file))
        _all(kind, store.rows(kind.name), found, file)
        store.take_in_decisions(kind.name, [row for _, row in found])
        tables.write(store.rows(kind.name), kind.decisions, file)
    return file


def things(kind: Kind, table: Path) -> list[Row]:
    """The things of `kind` that are to be decided, in their order.

    Raises:
        UserError: the table is not there, or is none.
    """
    if not table.exists():
        raise UserError(f"there is no {table}: let the workflow make it (snakemake --cores 1 {table})")
    return tables.read(table, kind.table)


def _refuse_unknown(kind: Kind, found: Sequence[tuple[str, Row]], table: Path) -> None:
    known = set(map(kind.key, things(kind, table)))
    strangers = [(file, key) for file, row in found if (key := kind.key(row)) not in known]
    if strangers:
        file, key = strangers[0]
        raise UserError(
            f"{file}: {len(strangers):,} of {len(found):,} decisions are about what {table} does not have, such as "
            f"{key}: leave them out, or import into the project that they are from; nothing was changed"
        )


def _there(kind: Kind, file: Path) -> list[Row]:
    return decisions(str(file), kind.decisions) if file.exists() else []


def _all(kind: Kind, before: Sequence[Row], found: Sequence[tuple[str, Row]], file: Path) -> list[Row]:
    """The decisions that are there and those that come; refused where they can't stand beside each other."""
    return checked([*((str(file), row) for row in before), *found], kind.decisions)
