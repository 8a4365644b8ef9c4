"""Rust."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text

# The field of a type that has its name: `&mut a::Foo<T>`.
_NAMED_BY = {"reference_type": "type", "pointer_type": "type", "generic_type": "type", "scoped_type_identifier": "name"}


def _parts(definition: Node, name: Node) -> list[str]:
    """What an impl is called after is the type: `impl<T> fmt::Display for a::Foo<T>` is ["Foo"]."""
    while name.type in _NAMED_BY and (inner := name.child_by_field_name(_NAMED_BY[name.type])):
        name = inner
    return [text(name)]


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
    (line_comment) @aside
    (block_comment) @aside
    (attribute_item) @lead @aside
    (inner_attribute_item) @aside
    (use_declaration) @aside
    (extern_crate_declaration) @aside
    (mod_item !body) @aside
    (mod_item "mod" @aside name: (_) @aside body: (_))
    (mod_item (visibility_modifier) @aside body: (_))
    """,
    _parts,
)
