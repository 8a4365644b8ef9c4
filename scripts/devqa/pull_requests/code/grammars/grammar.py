"""What all grammars have."""

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

# Names come from hostile files.
LONGEST_NAME = 200


def text(node: Node) -> str:
    """The text of a name in one line, at most 200 characters."""
    written = node.text[: 4 * LONGEST_NAME].decode("utf-8", "replace")
    return " ".join("".join(character if character.isprintable() else " " for character in written).split())[
        :LONGEST_NAME
    ]


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
