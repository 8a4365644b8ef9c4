"""Java."""

from devqa.pull_requests.code.grammars.grammar import Grammar

JAVA = Grammar(
    "tree_sitter_java",
    "language",
    """
    (class_declaration name: (_) @name) @class
    (interface_declaration name: (_) @name) @class
    (enum_declaration name: (_) @name) @class
    (record_declaration name: (_) @name) @class
    (annotation_type_declaration name: (_) @name) @class
    (enum_constant name: (_) @name body: (_)) @class
    (method_declaration name: (_) @name) @method
    (constructor_declaration name: (_) @name) @method
    (compact_constructor_declaration name: (_) @name) @method
    (variable_declarator name: (identifier) @name value: (object_creation_expression (class_body))) @class
    (field_declaration declarator: (variable_declarator) @inner) @outer
    (local_variable_declaration declarator: (variable_declarator) @inner) @outer
    (line_comment) @lead @aside
    (block_comment) @lead @aside
    (package_declaration) @aside
    (import_declaration) @aside
    """,
)
