"""C#."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text


def _parts(definition: Node, name: Node) -> list[str]:
    match definition.type:
        case "destructor_declaration":
            return [f"~{text(name)}"]
        case "operator_declaration" | "conversion_operator_declaration":
            return [f"operator {text(name)}"]
        case "indexer_declaration":
            return ["this"]
        case "namespace_declaration" | "file_scoped_namespace_declaration":
            return text(name).split(".")
        case _:
            return [text(name)]


# Properties without code belong to their class, as fields do.
CSHARP = Grammar(
    "tree_sitter_c_sharp",
    "language",
    """
    (class_declaration name: (_) @name) @class
    (struct_declaration name: (_) @name) @class
    (interface_declaration name: (_) @name) @class
    (enum_declaration name: (_) @name) @class
    (record_declaration name: (_) @name) @class
    (delegate_declaration name: (_) @name) @class
    (method_declaration name: (_) @name) @method
    (constructor_declaration name: (_) @name) @method
    (destructor_declaration name: (_) @name) @method
    (operator_declaration operator: _ @name) @method
    (conversion_operator_declaration type: (_) @name) @method
    (indexer_declaration type: (_) @name) @method
    (property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_)))) @method
    (property_declaration name: (_) @name value: (arrow_expression_clause)) @method
    (event_declaration name: (_) @name) @method
    (local_function_statement name: (_) @name) @function
    (namespace_declaration name: (_) @name) @namespace
    (file_scoped_namespace_declaration name: (_) @name) @rest
    (comment) @lead @aside
    (using_directive) @aside
    (extern_alias_directive) @aside
    (file_scoped_namespace_declaration) @aside
    (namespace_declaration "namespace" @aside name: (_) @aside)
    ["#if" "#elif" "#else" "#endif" "#region" "#endregion" "#nullable" "#pragma" "#line"] @directive
    ["#define" "#undef" "#error" "#warning"] @directive
    """,
    _parts,
)
