"""Who has decided, and when, as other tools say it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from devqa.errors import UserError
from devqa.review.people import refuse_odd


@dataclass(frozen=True)
class People:
    """The people of another tool: their names here by what they are called there, and who of them adjudicates."""

    names: Mapping[str, str] = field(default_factory=dict)
    adjudicators: Collection[str] = ()

    def name(self, account: Any, where: str) -> str:
        """The name of who is called `account`: as it is, where nothing else is said.

        Raises:
            UserError: nobody is named, or by what can't be a name.
        """
        called = str(account).strip() if isinstance(account, str | int) else ""
        if not called:
            raise UserError(f"{where}: it is not said who has decided")
        name = self.names.get(called, called)
        refuse_odd(name)
        return name

    def role(self, name: str) -> str:
        """What somebody of that name decides as."""
        return "adjudicator" if name in self.adjudicators else "annotator"


def utc(text: Any, where: str) -> str:
    """A time in ISO 8601, with its zone, as decisions have it.

    Raises:
        UserError: it is none.
    """
    try:
        when = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise UserError(f"{where}: {text!r} is no time in ISO 8601") from None
    if when.tzinfo is None:
        raise UserError(f"{where}: the time {text!r} has no zone: add Z, or +02:00")
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
