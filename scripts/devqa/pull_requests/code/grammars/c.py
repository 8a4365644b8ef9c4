"""C and C++."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import LONGEST_NAME, Grammar, text

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
(comment) @lead @aside
(preproc_include) @aside
["#if" "#ifdef" "#ifndef" "#elif" "#elifdef" "#elifndef" "#else" "#endif"] @directive
((preproc_directive) @directive (#not-match? @directive "error|warning"))
(struct_specifier !body) @aside
(union_specifier !body) @aside
(enum_specifier !body) @aside
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
(using_declaration) @aside
(namespace_alias_definition) @aside
(namespace_definition ["inline" "namespace"] @aside)
(namespace_definition name: (_) @aside)
(linkage_specification "extern" @aside value: (_) @aside body: (declaration_list))
(class_specifier !body) @aside
(template_declaration [(class_specifier !body) (struct_specifier !body) (union_specifier !body)]) @aside
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
    parts: list[str] = []
    while (inner := name.child_by_field_name("name")) and sum(map(len, parts)) < LONGEST_NAME:
        if scope := name.child_by_field_name("scope"):
            parts.append(_bare(scope))
        name = inner
    parts += _bare(name).split("::") if name.type == "nested_namespace_specifier" else [_bare(name)]
    return [part for part in parts if part] or [""]


def _bare(name: Node) -> str:
    """One part of a name, without arguments of a template and parameters of an `operator bool()`."""
    while inner := name.child_by_field_name("name"):
        name = inner
    written = text(name)
    return written.partition("(")[0].strip() if name.type == "operator_cast" else written


C = Grammar("tree_sitter_c", "language", _SHARED, _parts)
CPP = Grammar("tree_sitter_cpp", "language", _SHARED + _CPP, _parts)
