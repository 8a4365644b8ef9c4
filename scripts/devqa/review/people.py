"""Who decides, and the token by which the page knows each. Of tokens only hashes are kept."""

import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from devqa.errors import UserError
from devqa.review.store import Store

_NAME = re.compile(r"[^\W_][\w .@+-]{0,59}")


@dataclass(frozen=True)
class Person:
    """Somebody who decides."""

    name: str
    annotates: bool
    adjudicates: bool


def admit(
    store: Store, annotators: Collection[str], adjudicators: Collection[str], renewed: Collection[str] = ()
) -> dict[str, str]:
    """Let people in: the tokens of those who are new or `renewed`, by name.

    Who is known keeps their token, and gets the roles given here if there are any. Without any people at all there are
    as many annotators as a thing needs, and an adjudicator.

    Raises:
        UserError: a name can't be one, or is not known.
    """
    known = {row["name"] for row in store.all("SELECT name FROM people")}
    if not known and not annotators and not adjudicators:
        annotators = [f"annotator-{number + 1}" for number in range(store.annotators)]
        adjudicators = ["adjudicator"]
    named = list(dict.fromkeys([*annotators, *adjudicators]))
    for name in named:
        refuse_odd(name)
    for name in renewed:
        if name not in known and name not in named:
            raise UserError(f"there is no '{name}' to get a new token; known: {', '.join(sorted(known)) or 'nobody'}")
    tokens = {}
    with store.changing() as connection:
        for name in named:
            roles = (name in annotators, name in adjudicators)
            if name in known:
                connection.execute("UPDATE people SET annotates = ?, adjudicates = ? WHERE name = ?", (*roles, name))
            else:
                tokens[name] = secrets.token_urlsafe(24)
                connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", (name, *roles, digest(tokens[name])))
        for name in set(renewed) - tokens.keys():
            tokens[name] = secrets.token_urlsafe(24)
            connection.execute("UPDATE people SET token = ? WHERE name = ?", (digest(tokens[name]), name))
    return tokens


def refuse_odd(name: str) -> None:
    """Refuse what can't be a person's name.

    Raises:
        UserError: says what a name may have.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"'{name}' can't be a person's name: letters, digits, spaces and . - _ @ +, at most 60")


def everybody(store: Store) -> list[Person]:
    """All people, by name."""
    return [_person(row) for row in store.all("SELECT * FROM people ORDER BY name")]


def holder(store: Store, token: str) -> Person | None:
    """Whose token that is."""
    row = store.one("SELECT * FROM people WHERE token = :token", token=digest(token))
    return _person(row) if row else None


def digest(text: str) -> str:
    """What is kept of a token. Tokens are random and long, so a plain hash gives nothing away."""
    return hashlib.sha256(text.encode()).hexdigest()


def _person(row) -> Person:
    return Person(row["name"], bool(row["annotates"]), bool(row["adjudicates"]))
