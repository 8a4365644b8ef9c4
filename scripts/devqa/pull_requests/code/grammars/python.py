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
    (comment) @lead
    """,
)
