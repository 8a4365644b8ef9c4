"""Python."""

from devqa.pull_requests.code.grammars.grammar import Grammar

PYTHON = Grammar(
    "tree_sitter_python",
    "language",
    """
    (function_definition name: (identifier) @name) @function
    (class_definition name: (identifier) @name) @class
    (decorated_definition definition: (_) @inner) @outer
    ((decorated_definition (decorator) @_decorator definition: (function_definition name: (_) @of)) @signature
        (#match? @_decorator "^@(.*[.])?overload$"))
    (comment) @lead @aside
    (import_statement) @aside
    (import_from_statement) @aside
    (future_import_statement) @aside
    (expression_statement . [(string) (concatenated_string)] .) @aside
    ((expression_statement (_ left: (identifier) @_left)) @aside (#eq? @_left "__all__"))
    """,
)
