"""C and C++."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text, without_arguments

_SHARED = """
(function_definition declarator: (_) @name) @function
(preproc_function_def name: (_) @name) @function
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @class
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @class
(type_definition type: (_) @inner) @outer
(comment) @lead
"""
_CPP = """
(class_specifier name: (_) @name body: (_)) @class
(concept_definition name: (_) @name) @class
(namespace_definition name: (_) @name) @namespace
(template_declaration (function_definition) @inner) @outer
(template_declaration (class_specifier) @inner) @outer
(template_declaration (struct_specifier) @inner) @outer
(template_declaration (union_specifier) @inner) @outer
(template_declaration (concept_definition) @inner) @outer
(template_declaration (template_declaration) @inner) @outer
"""
# What a function's name is wrapped in: `int *(f)(int)`.
_WRAPPERS = {
    "pointer_declarator",
    "reference_declarator",
    "function_declarator",
    "parenthesized_declarator",
    "attributed_declarator",
    "array_declarator",
}


def _parts(definition: Node, name: Node) -> list[str]:
    """The parts of a qualified name: `A<T>::b` is ["A", "b"]."""
    while name.type in _WRAPPERS:
        inner = name.child_by_field_name("declarator") or (name.named_children[0] if name.named_children else None)
        if inner is None:
            break
        name = inner
    written = text(name)
    if "operator_cast" in (name.type, *(child.type for child in name.named_children)):
        written = written.partition("(")[0]
    parts = without_arguments(written).split("::")
    return [part.strip() for part in parts if part.strip()] or [written]


C = Grammar("tree_sitter_c", "language", _SHARED, _parts)
CPP = Grammar("tree_sitter_cpp", "language", _SHARED + _CPP, _parts)
