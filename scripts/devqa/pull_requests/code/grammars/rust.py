"""Rust."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text, without_arguments


def _parts(definition: Node, name: Node) -> list[str]:
    """What an impl is called after is the type: `impl<T> fmt::Display for a::Foo<T>` is ["Foo"]."""
    if definition.type != "impl_item":
        return [text(name)]
    return [without_arguments(text(name)).rsplit("::", 1)[-1].strip("&() ") or text(name)]


RUST = Grammar(
    "tree_sitter_rust",
    "language",
    """
    (function_item name: (_) @name) @function
    (struct_item name: (_) @name) @class
    (enum_item name: (_) @name) @class
    (union_item name: (_) @name) @class
    (trait_item name: (_) @name) @class
    (impl_item type: (_) @name) @class
    (mod_item name: (_) @name body: (_)) @namespace
    (macro_definition name: (_) @name) @function
    (line_comment !inner) @lead
    (block_comment !inner) @lead
    (attribute_item) @lead
    """,
    _parts,
)
