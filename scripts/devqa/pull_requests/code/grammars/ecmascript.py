"""JavaScript and TypeScript, with and without elements (JSX, TSX)."""

from tree_sitter import Node

from devqa.pull_requests.code.grammars.grammar import Grammar, text

_FUNCTION = "[(arrow_function) (function_expression) (generator_function)]"
# `const create = wrap(() => {})`: what it is called with is the body.
_WRAPPED = f"(call_expression arguments: (arguments {_FUNCTION}))"
_VALUE = "(variable_declarator name: (identifier) @name value:"
_REQUIRED = "(call_expression function: (identifier) @_required)"
# Also `require("x").y` and `require("x")(y)`.
_IMPORTED = f"[{_REQUIRED} (member_expression object: {_REQUIRED}) (call_expression function: {_REQUIRED})]"
_SHARED = f"""
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
{_VALUE} {_FUNCTION}) @function
{_VALUE} (class)) @class
{_VALUE} (object)) @scope
(assignment_expression left: [(identifier) (member_expression)] @name right: {_FUNCTION}) @function
(assignment_expression left: [(identifier) (member_expression)] @name right: (class)) @class
(assignment_expression left: [(identifier) (member_expression)] @name right: (object)) @scope
(pair key: (_) @name value: {_FUNCTION}) @method
(pair key: (_) @name value: (object)) @scope
(program (lexical_declaration {_VALUE} {_WRAPPED}) @function))
(program (variable_declaration {_VALUE} {_WRAPPED}) @function))
(program (export_statement (lexical_declaration {_VALUE} {_WRAPPED}) @function)))
(export_statement "default" value: {_FUNCTION} @name) @function
(export_statement "default" value: (class) @name) @class
(export_statement declaration: (_) @inner) @outer
(lexical_declaration . (variable_declarator) @inner .) @outer
(variable_declaration . (variable_declarator) @inner .) @outer
(expression_statement . (assignment_expression) @inner .) @outer
(comment) @lead @aside
(decorator) @lead
(hash_bang_line) @aside
(import_statement) @aside
(export_statement source: (_)) @aside
(export_statement (export_clause)) @aside
(expression_statement . (string) .) @aside
((lexical_declaration . _ @aside (variable_declarator value: {_IMPORTED}) @aside) (#eq? @_required "require"))
((variable_declaration . _ @aside (variable_declarator value: {_IMPORTED}) @aside) (#eq? @_required "require"))
"""
_JAVASCRIPT = f"""
(field_definition property: (_) @name value: {_FUNCTION}) @method
"""
_TYPESCRIPT = f"""
(public_field_definition name: (_) @name value: {_FUNCTION}) @method
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @namespace
(ambient_declaration (_) @inner) @outer
(ambient_declaration "global" @name (statement_block)) @namespace
(expression_statement . (internal_module) @inner .) @outer
(function_signature name: (_) @of) @signature
(export_statement declaration: (function_signature name: (_) @of)) @signature
(class_body (method_signature name: (_) @of) @signature)
(import_alias) @aside
(internal_module . _ @aside name: (_) @aside)
(module . _ @aside name: (_) @aside)
(ambient_declaration . _ @aside [(module) (internal_module)])
(ambient_declaration "declare" @aside "global" @aside)
(export_statement "export" @aside declaration: [(internal_module) (import_alias)])
"""
_PREFIXES = ("module.exports.", "exports.", "this.")


def _parts(definition: Node, name: Node) -> list[str]:
    if definition.type == "export_statement":
        return ["default"]
    written = text(name).replace(".prototype.", ".")
    if name.type == "string":
        written = written.strip("'\"`")
    for prefix in _PREFIXES:
        written = written.removeprefix(prefix)
    return [written]


JAVASCRIPT = Grammar("tree_sitter_javascript", "language", _SHARED + _JAVASCRIPT, _parts)
TYPESCRIPT = Grammar("tree_sitter_typescript", "language_typescript", _SHARED + _TYPESCRIPT, _parts)
TSX = Grammar("tree_sitter_typescript", "language_tsx", _SHARED + _TYPESCRIPT, _parts)
