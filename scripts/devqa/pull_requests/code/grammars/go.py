"""Go."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text


def _parts(definition: Node, name: Node) -> list[str]:
    """A method's receiver gives its type: `func (c *Command) Run()` is ["Command", "Run"]."""
    receiver = definition.child_by_field_name("receiver")
    if receiver is None or not receiver.named_children:
        return [text(name)]
    kind = receiver.named_children[0].child_by_field_name("type")
    while kind is not None and kind.type in ("pointer_type", "parenthesized_type", "generic_type"):
        kind = next(iter(kind.named_children), None)
    return [text(kind), text(name)] if kind is not None else [text(name)]


GO = Grammar(
    "tree_sitter_go",
    "language",
    """
    (function_declaration name: (_) @name) @function
    (method_declaration name: (_) @name) @method
    (type_spec name: (_) @name) @class
    (type_alias name: (_) @name) @class
    (var_spec . name: (_) @name value: (expression_list . (func_literal) .)) @function
    (short_var_declaration
        left: (expression_list . (identifier) @name .)
        right: (expression_list . (func_literal) .)) @function
    (type_declaration "type" . (_) @inner .) @outer
    (var_declaration "var" . (_) @inner .) @outer
    (comment) @lead @aside
    (package_clause) @aside
    (import_declaration) @aside
    """,
    _parts,
)
