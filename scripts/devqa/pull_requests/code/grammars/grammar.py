"""What all grammars have."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

# Names come from hostile files.
_LONGEST_NAME = 200
_ANGLES = re.compile(r"<[^<>]*>")


def text(node: Node) -> str:
    """The text of a name in one line, at most 200 characters."""
    written = node.text[: 4 * _LONGEST_NAME].decode("utf-8", "replace")
    return " ".join("".join(character if character.isprintable() else " " for character in written).split())[
        :_LONGEST_NAME
    ]


def without_arguments(name: str) -> str:
    """`name` without arguments of templates and generic types: `A<B<C>>::d<E>` is `A::d`."""
    # Operators have angles of their own.
    head, operator, rest = name.partition("operator")
    before = None
    while before != head:
        before, head = head, _ANGLES.sub("", head)
    return head + operator + rest


def plain(definition: Node, name: Node) -> list[str]:
    """The parts of most names: one."""
    return [text(name)]


@dataclass(frozen=True)
class Grammar:
    """A language: the package of its parser and its function there, the query, and how a name is read.

    `parts` gets the nodes of a definition and of its name, and gives the name's parts, such as ["A", "b"] for `A::b`.
    """

    package: str
    function: str
    query: str
    parts: Callable[[Node, Node], list[str]] = plain
